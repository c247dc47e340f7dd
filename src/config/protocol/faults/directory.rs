//! Faults of the directory's rules.

use super::reach::{Level, REQUESTS};
use super::{Study, named};
use crate::config::protocol_file::RuleFile;
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{DirectoryRule, Next, Probe, Step, When};

impl Study<'_> {
    pub(super) fn directory(&mut self) {
        let rules = &self.file.directory;
        for request in [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write] {
            let files = rules.rules(request).iter();
            let rules: Vec<_> = files.zip(self.table.directory(request).iter().copied()).collect();
            self.out_of_reach(request, &rules);
            // What no cell asks may be for children of another table, of which nothing is known here.
            if !self.is_requested(request) {
                continue;
            }
            if request == MessageKind::Write {
                self.writes(&rules);
            } else {
                self.reads(request, &rules);
                self.not_exclusive(request, &rules);
            }
        }
    }

    /// Whether some cell sends a request.
    pub(super) fn is_requested(&self, request: MessageKind) -> bool {
        self.levels().iter().any(|level| level.uses(self.table, |step, _| step == Step::Ask(request)))
    }

    /// The states that the cells which send a request name themselves.
    fn entered_by(&self, request: MessageKind) -> Vec<State> {
        let states = |level: &Level| {
            let cells = level.reachable.iter().flat_map(|state| {
                REQUESTS.into_iter().filter_map(|action| level.cell(self.table, *state, action))
            });
            let named =
                cells.filter(|cell| cell.step == Step::Ask(request)).filter_map(|cell| match cell.next {
                    Next::To(state) => Some(state),
                    _ => None,
                });
            named.collect::<Vec<_>>()
        };
        self.levels().iter().flat_map(states).collect()
    }

    fn writes(&mut self, rules: &[(&RuleFile, DirectoryRule)]) {
        // What is granted matters only where a cell takes it.
        let is_taken = self.takes_grant(MessageKind::Write);
        for (file, rule) in rules {
            let stores = self.table.leaf_cell(rule.grant, Action::Store).filter(|_| is_taken);
            if stores.is_some_and(|(_, cell)| matches!(cell.step, Step::Ask(_))) {
                let message = format!("this grants a writer {}, in which it has to ask to store", rule.grant);
                self.error(&file.grant.span, message, "a state in which a store hits");
            }
            let entered = self.entered_by(MessageKind::Write);
            if let Some(state) = entered.first().filter(|_| !is_taken && !entered.contains(&rule.grant)) {
                let message = format!(
                    "this grants {}, and no cell takes what is granted: who asks to write is in {state} then",
                    rule.grant
                );
                self.warn(
                    &file.grant.span,
                    &message,
                    &format!("\"{state}\", or `> granted` in the cells that ask"),
                );
            }
            if rule.when != When::NoOtherSharers && rule.probe != Probe::WriteOthers {
                let message = "this lets a child write while others may hold the block".to_owned();
                self.error(&file.grant.span, message, "probe = \"write others\", or when = \"no sharers\"");
            }
        }
    }

    /// Whether a cell that sends a request enters the state that is granted.
    fn takes_grant(&self, request: MessageKind) -> bool {
        let takes = |level: &Level, state: State| {
            REQUESTS
                .into_iter()
                .filter_map(|action| level.cell(self.table, state, action))
                .any(|cell| cell.step == Step::Ask(request) && cell.next == Next::Granted)
        };
        self.levels().iter().any(|level| level.reachable.iter().any(|state| takes(level, *state)))
    }

    /// A state in which a node is an owner after a read probe, and the line of that, as words. A line of a secondary block is asked for
    /// though another of its lines is what is owned.
    fn staying_owner(&self) -> Option<(State, String)> {
        self.levels().into_iter().find_map(|level| {
            let is_owner = |state: &State| {
                let after = level.after(self.table, *state, Action::Read);
                after.iter().any(|next| self.table.is_owner(*next))
            };
            let state = level.tracked.iter().copied().find(is_owner)?;
            Some((state, self.in_line(&level, state, Action::Read)))
        })
    }

    fn reads(&mut self, request: MessageKind, rules: &[(&RuleFile, DirectoryRule)]) {
        let mut owned = false;
        for (file, rule) in rules {
            let place = &file.grant.span;
            let alone = rule.when == When::NoOtherSharers || rule.probe == Probe::WriteOthers;
            if self.table.is_exclusive(rule.grant) && !alone {
                let message = format!(
                    "this grants a reader the exclusive {} while others may hold the block",
                    rule.grant
                );
                self.error(place, message, "when = \"no sharers\", or a state that others may share");
            } else if self.table.is_exclusive(rule.grant) && !self.table.is_owner(rule.grant) {
                self.no_owner(file, *rule);
            }
            if rule.probe == Probe::ReadOwner
                && request == MessageKind::Read
                && self.table.is_owner(rule.grant)
                && let Some((owner, line)) = self.staying_owner()
            {
                let message = format!(
                    "this grants the owner {} to a reader, and who was asked for the data is one after it, too, from {owner}",
                    rule.grant
                );
                let expected =
                    format!("a state that is no owner, or one in the cell of the read probe{line}");
                self.error(place, message, &expected);
            }
            let meets_owner = !owned && rule.when != When::NoOtherSharers;
            if meets_owner && rule.probe == Probe::Nobody && self.has_owners() {
                let message =
                    format!("the rules for {} do not ask another owner for its data", request.name());
                let expected = if rule.when == When::OwnedByAnother {
                    "probe = \"read owner\" in this rule"
                } else {
                    "before this, { when = \"owned by another\", probe = \"read owner\", ... }"
                };
                self.error(place, message, expected);
            }
            owned |= rule.when == When::OwnedByAnother || meets_owner;
        }
    }

    /// A node that shares a block with others answers a reader, too.
    fn not_exclusive(&mut self, request: MessageKind, rules: &[(&RuleFile, DirectoryRule)]) {
        let always = rules.iter().rfind(|(_, rule)| rule.when == When::Always);
        let Some((last, rule)) = always else { return };
        if rules.iter().any(|(_, rule)| self.ends(request, *rule)) {
            return;
        }
        let action = if request == MessageKind::ReadNc { Action::NStore } else { Action::Load };
        let serves = |state: &State| {
            let here = self.inner.cell(self.table, *state, action).map(|cell| cell.step) == Some(Step::Hit);
            here && *state != State::I && !self.table.is_exclusive(*state)
        };
        let Some(state) = self.inner.reachable.iter().copied().find(serves) else { return };
        let message = format!(
            "no rule answers a {} at a node in {state}: who is not exclusive cannot grant {}",
            request.name(),
            rule.grant
        );
        self.error(
            &last.grant.span,
            message,
            "a last rule without a `when` that grants a state that others may share",
        );
    }

    /// Whether a rule always applies. An exclusive state is not always granted to a reader: the next rule may have its turn.
    fn ends(&self, request: MessageKind, rule: DirectoryRule) -> bool {
        rule.when == When::Always && (request == MessageKind::Write || !self.table.is_exclusive(rule.grant))
    }

    /// Whether a child can change a block without telling, and have data that home has not.
    fn has_owners(&self) -> bool {
        let tracked = self.leaf.tracked.iter().chain(&self.inner.tracked);
        let writes = self.leaf.uses(self.table, |step, _| matches!(step, Step::Ask(MessageKind::Write)));
        writes || tracked.into_iter().any(|state| self.table.is_owner(*state))
    }

    fn no_owner(&mut self, file: &RuleFile, rule: DirectoryRule) {
        let state = rule.grant;
        let given = named(&self.file.state, state).map(|(_, words)| words.span.clone());
        let place = given.unwrap_or_else(|| file.grant.span.clone());
        let message =
            format!("{state} may be written without asking, but the directory will not ask it for its data");
        self.error(&place, message, "\"exclusive owner\"");
    }

    fn out_of_reach(&mut self, request: MessageKind, rules: &[(&RuleFile, DirectoryRule)]) {
        // What is exclusive is not always granted to a reader: then the next rule may have its turn.
        let is_final =
            |rule: DirectoryRule| request == MessageKind::Write || !self.table.is_exclusive(rule.grant);
        let again: Vec<_> = rules
            .iter()
            .enumerate()
            .filter(|(place, (_, rule))| {
                let same =
                    |(_, other): &(&RuleFile, DirectoryRule)| other.when == rule.when && is_final(*other);
                rule.when != When::Always && rules.iter().take(*place).any(same)
            })
            .map(|(_, (file, _))| file.grant.span.clone())
            .collect();
        for place in again {
            let message = format!("a rule for {} before this one has the same `when`", request.name());
            self.warn(&place, &message, "one of them");
        }
        let Some(last) = rules.iter().position(|(_, rule)| self.ends(request, *rule)) else { return };
        for (file, _) in rules.iter().skip(last + 1) {
            let message = format!("a rule for {} before this one always applies", request.name());
            self.warn(&file.grant.span, &message, "the rules with a `when` first");
        }
    }
}
