//! The help: generated from the keymap and the command table.

use crate::debug::frame::session::CommandInfo;

use super::keymap::{Binding, Keymap};
use super::theme::Role;
use super::view::canvas::wrap;

/// Groups of keys and their titles, in order.
const GROUPS: [(&str, &str); 4] = [
    ("time", "Time: lower case forward, upper case back; digits before a key are a count"),
    ("ask", "Ask, break, mark"),
    ("screen", "Screen"),
    ("move", "Move"),
];

/// What the signs on the screen mean.
const LETTERS: [&str; 4] = [
    "[I>S] asks for S   [S*] changed just now   S… busy serving others   ▸ the last event happened here",
    "Dirty bytes: # all that a sign stands for, + some, - none; in values they stand in brackets",
    "{gpu0! gpu1}: who holds the block, ! the owner   3m: three warps wait for memory",
    "q 1/0/2: queued on a link, requests/probes/replies   b: used/size of the receivers' buffers",
];

/// All lines of the help.
#[must_use]
pub fn lines(keymap: &Keymap, commands: &[CommandInfo], width: u16) -> Vec<Vec<(String, Role)>> {
    let signs = LETTERS.iter().flat_map(|line| wrap(line, width));
    let mut lines: Vec<_> = signs.map(|line| vec![(line, Role::Text)]).collect();
    for (group, title) in GROUPS {
        let bindings: Vec<&Binding> = keymap
            .bindings
            .iter()
            .filter(|binding| binding.pane.is_none() && binding.group == group)
            .collect();
        section(&mut lines, title, &bindings, width);
    }
    let others: Vec<&Binding> = keymap
        .bindings
        .iter()
        .filter(|binding| binding.pane.is_some() || !GROUPS.iter().any(|(group, _)| *group == binding.group))
        .collect();
    section(&mut lines, "In one pane only", &others, width);
    if !commands.is_empty() {
        lines.push(Vec::new());
        lines.push(vec![("Commands, after a colon".to_owned(), Role::Title)]);
    }
    for command in commands {
        lines.push(vec![(command.usage.clone(), Role::Key)]);
        let aliases = if command.aliases.is_empty() {
            String::new()
        } else {
            format!(" (also {})", command.aliases.join(", "))
        };
        for line in wrap(&format!("{}{aliases}", command.about), width.saturating_sub(4)) {
            lines.push(vec![(format!("    {line}"), Role::Text)]);
        }
    }
    lines
}

/// One line a meaning: keys that do the same share it.
fn section(lines: &mut Vec<Vec<(String, Role)>>, title: &str, bindings: &[&Binding], width: u16) {
    if bindings.is_empty() {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![(title.to_owned(), Role::Title)]);
    for (nth, binding) in bindings.iter().enumerate() {
        let same = |other: &&&Binding| other.does == binding.does && other.pane == binding.pane;
        if bindings.iter().take(nth).any(|other| same(&other)) {
            continue;
        }
        let keys: Vec<&str> = bindings.iter().filter(same).map(|other| other.name.as_str()).collect();
        let place = binding.pane.map_or(String::new(), |pane| format!("{}: ", pane.name()));
        let about = wrap(&format!("{place}{}", binding.about), width.saturating_sub(16));
        for (row, about) in about.into_iter().enumerate() {
            let keys = if row == 0 { keys.join("  ") } else { String::new() };
            lines.push(vec![(format!("  {keys:<14}"), Role::Key), (about, Role::Text)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_key_and_command() {
        let keymap = Keymap::embedded().unwrap();
        let command =
            CommandInfo { usage: "break QUERY".into(), about: "stop there".into(), ..Default::default() };
        let lines = lines(&keymap, &[command], 100);
        let text = lines.iter().flatten().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n");
        for binding in &keymap.bindings {
            assert!(text.contains(&binding.name), "{} is missing", binding.name);
        }
        assert!(text.contains("break QUERY"));
    }
}
