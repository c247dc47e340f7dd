//! What `help` says, from the command table.

use super::{Command, Group};

/// All commands by their groups.
pub fn overview(all: &[Command]) -> Vec<String> {
    let mut lines = Vec::new();
    for group in Group::ALL {
        lines.push(format!("{}:", group.title()));
        for command in all.iter().filter(|command| command.group == group) {
            let short = command.aliases.iter().min_by_key(|alias| alias.len());
            // A word is no shorthand.
            let short = short.filter(|alias| alias.len() < 6).map_or("", |alias| alias);
            lines.push(format!("  {:<20} {:<6} {}", command.name, short, command.about));
        }
    }
    lines.push("A unique prefix of a name is enough. An empty line repeats the last command.".to_owned());
    lines
}

/// One command in full.
pub fn explain(command: &Command) -> Vec<String> {
    let mut lines = vec![command.usage.to_owned(), format!("{}.", sentence(command.about))];
    lines.extend(command.details.lines().map(ToOwned::to_owned));
    if !command.aliases.is_empty() {
        lines.push(format!("Also: {}.", command.aliases.join(", ")));
    }
    lines
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use crate::debug::command::ALL;

    #[test]
    fn examples_stand_out_from_what_is_said_about_them() {
        for command in ALL {
            for line in command.details.lines() {
                let is_example = line.trim_start().starts_with(&format!("{} ", command.name));
                assert_eq!(line.starts_with("    "), is_example, "{}: {line}", command.name);
            }
        }
    }
}
