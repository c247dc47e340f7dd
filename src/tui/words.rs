//! What the debugger says with the words of commands, as the screen says it: with its keys.

use crate::debug::command::GO_ON;
use crate::debug::stop::{DEADLOCK_TELLS, WHY_TELLS};

use super::action::Action;
use super::keymap::Keymap;

/// The command behind the key that tells why nothing can move.
pub const DEADLOCK: &str = "deadlock";

/// The command that goes on to the next stop.
pub const CONTINUE: &str = "continue";

/// How it is said that a command comes later, before the command.
pub const PUT_OFF: &str = "After this ";

/// The same text with keys in place of commands, where there are any.
#[must_use]
pub fn with_keys(text: &str, keymap: &Keymap) -> String {
    let tells = keymap.key_of_command(DEADLOCK).map(|key| format!("{key} tells why"));
    let reveals = keymap.key_of(Action::Predict).map(|key| format!("go on to see, or {key} to be told"));
    let leads = keymap.key_of(Action::Why).map(|key| format!("{key} tells what led to it"));
    let told = [(DEADLOCK_TELLS, tells), (WHY_TELLS, leads), (GO_ON, reveals)];
    let said = |text: String, (words, keys): (&str, Option<String>)| match keys {
        Some(keys) => text.replace(words, &keys),
        None => text,
    };
    told.into_iter().fold(text.to_owned(), said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_give_way_to_keys() {
        let keymap = Keymap::embedded().unwrap();
        let told = with_keys(&format!("nothing can move ({DEADLOCK_TELLS}); {GO_ON}"), &keymap);
        assert_eq!(told, "nothing can move (D tells why); go on to see, or p to be told");
    }
}
