//! What `help` says, from the command table.

use super::{Command, Group};
use crate::model::record::KindInfo;

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

/// A kind of record with its fields.
pub fn record(kind: &KindInfo) -> Vec<String> {
    let first = format!("{}, a kind of record: {}.", kind.name, kind.about);
    std::iter::once(first).chain(kind.lines()).collect()
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use crate::debug::command::ALL;

    #[test]
    fn a_kind_of_record_is_explained_with_its_fields() {
        let mut session = crate::debug::session::tests::session(8);
        let mut told = |line: &str| {
            session.execute(line, &crate::debug::interrupt::Interrupt::default()).unwrap().lines.join("\n")
        };
        let kind = told("help way-sample");
        assert!(kind.starts_with("way-sample, a kind of record: ") && kind.contains("moved "), "{kind}");
        // A command and a record.
        let both = told("help transition");
        assert!(both.starts_with("transition [COUNT]"), "{both}");
        assert!(both.contains("transition, a kind of record"), "{both}");
    }

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
