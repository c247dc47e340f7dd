//! Cells of a protocol's table as lessons name them, by the parts of its file: `cache N read` (an L1), `inner E store`
//! (a node with children), `directory read`, `merge N E`, `uncached cache load` (what may not be kept).

use std::fmt;

use crate::diagnostic::{Complaint, Diagnostic, Result};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, DirectoryRule, Next, Probe, Step, Table, When};
use crate::query::Text;

/// The name of a part of a protocol's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellName {
    /// What a cache in a state does with an action: an L1, or a node with children if only those know the state.
    Cache(State, Action),
    /// What a node with children does.
    Inner(State, Action),
    /// What a directory does for a request.
    Directory(MessageKind),
    /// What becomes of a parent in the second state when dirty bytes of a child in the first arrive.
    Merge(State, State),
    /// What a node, with children or without, does about a block that it may not keep.
    Uncached { has_children: bool, action: Action },
}

const REQUESTS: [MessageKind; 3] = [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write];

impl CellName {
    /// Reads a name and checks that the table has it.
    ///
    /// # Errors
    /// If it is not of one of these forms, or the table leaves the cell empty.
    pub fn read(text: &Text, table: &Table) -> Result<Self> {
        let words: Vec<&str> = text.as_str().split_whitespace().collect();
        let states = || table.rows.iter().map(|row| row.state.to_string()).collect::<Vec<_>>();
        let wrong = |message: String, expected: String| Box::new(text.complaint(message).expected(expected));
        let of_states = |error: Diagnostic| Box::new(error.complaining(Complaint::State));
        let slip = |word: &str, message: String, known: &[&'static str]| {
            let error = text.complaint(message).expected(known.join(", "));
            Box::new(error.nearest(word, known.iter().copied()))
        };
        let state = |word: &str| {
            State::parse(word).filter(|state| table.row(*state).is_some()).ok_or_else(|| {
                let expected = format!("a state of {}: {}", table.name, states().join(" "));
                of_states(*wrong(format!("{word} is not a state"), expected))
            })
        };
        let action = |column: &str| {
            let names = Action::ALL.map(Action::name);
            let found = Action::ALL.into_iter().find(|action| action.name() == column);
            found.ok_or_else(|| slip(column, format!("the table has no column {column}"), &names))
        };
        let name = match words[..] {
            ["cache", row, column] => {
                let action = action(column)?;
                Self::Cache(state(row)?, action)
            }
            ["inner", row, column] => {
                let action = action(column)?;
                Self::Inner(state(row)?, action)
            }
            ["uncached", part @ ("cache" | "inner"), column] => {
                Self::Uncached { has_children: part == "inner", action: action(column)? }
            }
            ["directory", request] => {
                let names = REQUESTS.map(MessageKind::name);
                let found = REQUESTS.into_iter().find(|kind| kind.name() == request);
                let error = || slip(request, format!("a directory gets no {request}"), &names);
                Self::Directory(found.ok_or_else(error)?)
            }
            ["merge", child, own] => Self::Merge(state(child)?, state(own)?),
            _ => {
                let expected = "\"cache STATE ACTION\", \"inner STATE ACTION\", \"directory REQUEST\", \"merge STATE STATE\" or \
                                \"uncached cache ACTION\"";
                return Err(wrong("this names no cell of the table".into(), expected.into()));
            }
        };
        if name.answer(table).is_none() {
            let expected = format!("a cell that {} fills in", table.name);
            return Err(of_states(*wrong(format!("\"{name}\" cannot happen"), expected)));
        }
        Ok(name)
    }

    /// The row of a block that it is about, of a cache's table.
    fn row(self) -> Option<State> {
        match self {
            Self::Cache(state, _) | Self::Inner(state, _) => Some(state),
            Self::Uncached { .. } => Some(State::I),
            Self::Directory(_) | Self::Merge(..) => None,
        }
    }

    /// What the table says there, in words; `None` if nothing.
    #[must_use]
    pub fn answer(&self, table: &Table) -> Option<String> {
        match self.row() {
            Some(own) => self.answer_in(table, own),
            None => self.answer_of_rules(table),
        }
    }

    /// The same, as if it were said of a block in a state.
    fn answer_in(self, table: &Table, asked: State) -> Option<String> {
        let (own, cell) = match self {
            Self::Cache(state, action) => {
                (state, table.cell(state, action, false).or_else(|| table.cell(state, action, true))?)
            }
            Self::Inner(state, action) => (state, table.cell(state, action, true)?),
            Self::Uncached { has_children, action } => (State::I, table.uncached_cell(action, has_children)?),
            Self::Directory(_) | Self::Merge(..) => return None,
        };
        let next = if cell.next == Next::Same && own != asked { Next::To(own) } else { cell.next };
        let is_clean = matches!(self, Self::Uncached { .. }) || is_clean(table, asked);
        Some(words(Cell { next, ..cell }, asked, is_clean))
    }

    fn answer_of_rules(self, table: &Table) -> Option<String> {
        match self {
            Self::Cache(..) | Self::Inner(..) | Self::Uncached { .. } => None,
            Self::Directory(request) => {
                let rules = table.directory(request);
                (!rules.is_empty())
                    .then(|| rules.iter().map(|rule| rule_words(*rule)).collect::<Vec<_>>().join("; else "))
            }
            Self::Merge(child, own) => table
                .merge
                .iter()
                .any(|(from, before, _)| *from == child && *before == own)
                .then(|| format!("becomes {}", table.merged(child, own))),
        }
    }
}

/// Most answers to choose from.
const CHOICES: usize = 4;

impl CellName {
    /// Answers to choose from when this cell is asked for, the right one among them: what the table says elsewhere to
    /// the same, as if it were said here. No two say the same in other words. In an order that tells nothing.
    #[must_use]
    pub fn choices(&self, table: &Table) -> Vec<String> {
        let Some(right) = self.answer(table) else { return Vec::new() };
        let mut choices = vec![right];
        for other in self.neighbours(table) {
            let answer = match self.row() {
                Some(asked) => other.answer_in(table, asked),
                None => other.answer_of_rules(table),
            };
            if let Some(answer) = answer
                && !choices.iter().any(|choice| plain(choice) == plain(&answer))
                && choices.len() < CHOICES
            {
                choices.push(answer);
            }
        }
        // Where the table merges nothing else, any state might be meant.
        if let Self::Merge(..) = self {
            let states = table.rows.iter().map(|row| format!("becomes {}", row.state));
            let others: Vec<String> = states.filter(|state| !choices.contains(state)).collect();
            choices.extend(others.into_iter().take(CHOICES.saturating_sub(choices.len())));
        }
        choices.sort_unstable();
        choices
    }

    /// Cells that one might take for this one, the likeliest first.
    fn neighbours(self, table: &Table) -> Vec<Self> {
        let states = || table.rows.iter().map(|row| row.state);
        match self {
            Self::Cache(row, action) => {
                let column = states().map(|state| Self::Cache(state, action));
                column.chain(Action::ALL.map(|other| Self::Cache(row, other))).collect()
            }
            Self::Inner(row, action) => {
                let column = states().map(|state| Self::Inner(state, action));
                column.chain(Action::ALL.map(|other| Self::Inner(row, other))).collect()
            }
            Self::Uncached { has_children, action } => {
                let kept = |state| {
                    if has_children { Self::Inner(state, action) } else { Self::Cache(state, action) }
                };
                let others = Action::ALL.map(|action| Self::Uncached { has_children, action });
                [kept(State::I)].into_iter().chain(states().map(kept)).chain(others).collect()
            }
            Self::Directory(_) => REQUESTS.map(Self::Directory).to_vec(),
            Self::Merge(child, own) => {
                let row = states().map(|state| Self::Merge(child, state));
                row.chain(states().map(|state| Self::Merge(state, own))).collect()
            }
        }
    }
}

/// Whether a copy in a state has nothing that was stored there: every store leads out of it.
fn is_clean(table: &Table, state: State) -> bool {
    let stores = [Action::Store, Action::NStore].map(|action| table.cell(state, action, false));
    let leads_out = |cell: &Cell| matches!(cell.next, Next::To(next) if next != state);
    stores.iter().flatten().next().is_some() && stores.iter().flatten().all(leads_out)
}

/// Why no data are given, where that is said.
const CLEAN: &str = ", as nothing in it is dirty";

/// What an answer comes to, without the reason.
fn plain(answer: &str) -> String {
    answer.replace(CLEAN, "")
}

/// A cell of a cache's row as a sentence. Who is asked for data sends what is dirty: of a clean copy, nothing.
fn words(cell: Cell, state: State, is_clean: bool) -> String {
    let step = match cell.step {
        Step::Hit => "performs it here".to_string(),
        Step::Ask(MessageKind::Write) => "asks its parent to write".into(),
        Step::Ask(MessageKind::ReadNc) => "asks its parent for a copy that it will not own".into(),
        Step::Ask(_) => "asks its parent to read".into(),
        Step::Fetch => "fetches the bytes".into(),
        Step::Forward => "has its parent perform it".into(),
        Step::Allocate => "takes a place and performs it there".into(),
        Step::Flush => "sends its dirty bytes down first".into(),
        Step::Relay => "has its parent perform it, and answers at once".into(),
        Step::Both => "performs it, and has its parent perform it too".into(),
        Step::Data if is_clean => format!("answers without data{CLEAN}"),
        Step::Data => "gives its dirty bytes".into(),
        Step::Ack => "answers without data".into(),
        Step::Writeback => "writes its dirty bytes back".into(),
        Step::Notify => "tells its parent".into(),
        Step::Silent => "tells nobody".into(),
    };
    let next = match cell.next {
        Next::Same => format!("stays {state}"),
        Next::To(next) if next == state => format!("stays {state}"),
        Next::To(next) => format!("becomes {next}"),
        Next::Granted => "takes the state granted".into(),
    };
    format!("{step}, {next}")
}

/// A directory's rule as a sentence.
fn rule_words(rule: DirectoryRule) -> String {
    let when = match rule.when {
        When::Always => "",
        When::OwnedByAnother => "if another child owns the block, ",
        When::NoOtherSharers => "if no other child has the block, ",
    };
    let probe = match rule.probe {
        Probe::Nobody => "",
        Probe::ReadOwner => "tells the owner that somebody reads, then ",
        Probe::WriteOthers => "takes the block from all others, then ",
    };
    format!("{when}{probe}grants {}", rule.grant)
}

impl fmt::Display for CellName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache(state, action) => write!(f, "cache {state} {}", action.name()),
            Self::Inner(state, action) => write!(f, "inner {state} {}", action.name()),
            Self::Directory(request) => write!(f, "directory {}", request.name()),
            Self::Merge(child, own) => write!(f, "merge {child} {own}"),
            Self::Uncached { has_children, action } => {
                write!(f, "uncached {} {}", if *has_children { "inner" } else { "cache" }, action.name())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::sample::table;

    fn read(text: &str) -> Result<CellName> {
        CellName::read(&Text::new("because", text), &table())
    }

    #[test]
    fn a_cell_answers() {
        let answer = |text: &str| read(text).unwrap().answer(&table()).unwrap();
        assert_eq!(answer("cache N read"), "answers without data, stays N");
        assert_eq!(answer("directory read"), "tells the owner that somebody reads, then grants S");
        assert_eq!(answer("merge N E"), "becomes M");
    }

    #[test]
    fn the_choices_hold_the_answer_and_others_of_its_kind() {
        let table = crate::config::load_protocol("nmoesi", None).unwrap();
        for text in [
            "cache N read",
            "cache E read",
            "cache E write",
            "cache S write",
            "inner I n-store",
            "directory read",
            "merge N E",
            "cache S n-store",
            "cache N n-store",
            "cache O read",
        ] {
            let name = CellName::read(&Text::new("because", text), &table).unwrap();
            let choices = name.choices(&table);
            assert!(choices.contains(&name.answer(&table).unwrap()), "{text}");
            assert!((2..=CHOICES).contains(&choices.len()) && choices.is_sorted(), "{text}: {choices:?}");
            let plain: std::collections::BTreeSet<_> = choices.iter().map(|choice| plain(choice)).collect();
            assert_eq!(plain.len(), choices.len(), "{text}: {choices:?}");
            // Of a block in a state none says that it becomes that, or stays another one.
            let Some(row) = name.row() else { continue };
            let wrong = |choice: &String| {
                choice.ends_with(&format!("becomes {row}"))
                    || choice.contains("stays ") && !choice.ends_with(&format!("stays {row}"))
            };
            assert!(!choices.iter().any(wrong), "{text}: {choices:?}");
            // What is clean gives no dirty bytes, whichever the table's word for both is.
            let gives = choices.iter().any(|choice| choice.starts_with("gives its dirty bytes"));
            assert!(!(gives && is_clean(&table, row)), "{text}: {choices:?}");
        }
    }

    #[test]
    fn an_l1_and_a_node_with_children_may_answer_differently() {
        let table = crate::config::load_protocol("nmoesi", None).unwrap();
        let answer =
            |text: &str| CellName::read(&Text::new("because", text), &table).unwrap().answer(&table).unwrap();
        assert_eq!(answer("cache I n-store"), "asks its parent for a copy that it will not own, becomes N");
        assert_eq!(answer("inner I n-store"), "asks its parent to read, takes the state granted");
        assert_eq!(answer("cache O read"), "gives its dirty bytes, stays O");
        assert_eq!(answer("cache E read"), "answers without data, as nothing in it is dirty, becomes S");
        let rules = "if another child owns the block, tells the owner that somebody reads, then grants S; \
                     else if no other child has the block, grants E; else grants S";
        assert_eq!(answer("directory read"), rules);
    }

    #[test]
    fn a_merge_that_is_the_only_one_of_its_table_has_other_states_beside_it() {
        let table = crate::config::load_protocol("mesi", None).unwrap();
        let name = CellName::read(&Text::new("because", "merge M E"), &table).unwrap();
        let choices = name.choices(&table);
        assert!(choices.len() > 2 && choices.contains(&name.answer(&table).unwrap()), "{choices:?}");
    }

    #[test]
    fn what_may_not_be_kept_has_cells_of_its_own() {
        let table = crate::config::load_protocol("selective-l1-l2", None).unwrap();
        let name = CellName::read(&Text::new("because", "uncached cache load"), &table).unwrap();
        assert_eq!(name.answer(&table).unwrap(), "fetches the bytes, stays I");
        assert_eq!(name.to_string(), "uncached cache load");
        assert!(name.choices(&table).contains(&"fetches the bytes, becomes V".to_owned()));
        assert!(read("uncached cache load").is_err(), "NMOESI keeps everything");
    }

    #[test]
    fn a_cell_that_is_not_there_is_refused() {
        for (text, message) in [
            ("cache N write", "\"cache N write\" cannot happen"),
            ("cache Q read", "Q is not a state"),
            ("cache N raed", "the table has no column raed"),
            ("directory raed", "a directory gets no raed"),
            ("directory write", "\"directory write\" cannot happen"),
            ("N read", "this names no cell of the table"),
        ] {
            assert_eq!(read(text).unwrap_err().message, message, "{text}");
        }
    }
}
