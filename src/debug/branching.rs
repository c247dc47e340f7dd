//! What if: a session leaves a run for another branch of it, and comes back.

use std::sync::Arc;

use super::bookmark::Bookmark;
use super::branch::{Branch, Branches};
use super::compare::Comparison;
use super::session::Session;
use super::timeline::{Budget, Timeline};
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::{Machine, Planned};
use crate::model::inspect::Inspect;
use crate::model::record::Records;
use crate::model::time::EventNumber;
use crate::query::Context;
use crate::recording::Input;
use crate::scenario::Options;

/// Most branches.
const MOST: usize = 32;

/// Checkpoints that a branch keeps while the cursor is on another.
const PARKED: Budget = Budget { count: 16, bytes: 32 << 20 };

impl Session {
    #[must_use]
    pub fn branches(&self) -> &Branches {
        &self.branches
    }

    /// Each branch with its timeline.
    pub(in crate::debug) fn timelines(&self) -> impl Iterator<Item = (&Branch, &Timeline)> {
        let timeline = |branch: &Branch| branch.parked.is_none().then_some(&self.timeline);
        self.branches
            .list
            .iter()
            .filter_map(move |branch| Some((branch, branch.parked.as_ref().or_else(|| timeline(branch))?)))
    }

    /// What is done to the machine of this branch, in all.
    #[must_use]
    pub fn inputs(&self) -> &[(EventNumber, Input)] {
        self.branches.here().map_or(&[], |branch| &branch.inputs)
    }

    /// Leaves the present branch here for a new one, in which `input` comes next. Returns its number.
    ///
    /// # Errors
    /// If the input makes no sense, the machine cannot go on so, or there are too many branches.
    pub fn fork(&mut self, input: Input) -> Result<u32> {
        let (Some(maker), Some(machine)) = (&self.maker, self.timeline.machine().machine()) else {
            return Err(Self::complaint(
                "this machine cannot be forked: it is not known what it was made of",
            ));
        };
        if self.branches.list.len() >= MOST {
            return Err(Self::complaint(format!("there are {MOST} branches already")));
        }
        if matches!(input, Input::Hold(_)) && !machine.has_due() {
            return Err(Self::complaint("nothing comes next here that could be held back"));
        }
        let event = self.timeline.event();
        let earlier = self.inputs().iter().filter(|(at, _)| *at < event).cloned();
        let inputs: Vec<_> = earlier.chain([(event, input)]).collect();
        let options = Options { inputs: inputs.clone(), ..maker.options.clone() };
        let plan = maker.scenario.plan(&options, machine)?;
        possible(machine, &plan)?;
        let timeline = self.timeline.branch(&plan);
        let from = Some((self.branches.current(), event));
        let number = self.branches.list.iter().map(|branch| branch.number).max().unwrap_or(0) + 1;
        self.branches.list.push(Branch { number, from, inputs, parked: Some(timeline) });
        self.switch(number)?;
        Ok(number)
    }

    /// Puts the cursor on another branch, at the position where it was there last.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn switch(&mut self, number: u32) -> Result<()> {
        let to = self.branches.position(number)?;
        let current = self.branches.current;
        let Some(timeline) = self.branches.list.get_mut(to).and_then(|branch| branch.parked.take()) else {
            return Ok(());
        };
        let left = std::mem::replace(&mut self.timeline, timeline);
        self.timeline.set_budget(self.settings.budget);
        if let Some(branch) = self.branches.list.get_mut(current) {
            branch.parked = Some(left).map(|mut left| {
                left.set_budget(PARKED);
                left
            });
        }
        self.branches.current = to;
        self.recall.clear();
        self.hits.clear();
        (self.began, self.doomed, self.stop) = (None, None, None);
        self.name_works();
        Ok(())
    }

    /// Names the position of the cursor.
    pub(super) fn mark(&mut self, name: String) {
        let bookmark = Bookmark { event: self.event(), branch: self.branches.current() };
        self.bookmarks.insert(name, bookmark);
    }

    /// Changes to a branch that passes through `bookmark`, if this one does not.
    ///
    /// # Errors
    /// If its branch is gone.
    pub(super) fn reach(&mut self, bookmark: Bookmark) -> Result<()> {
        if bookmark.is_here(&self.branches) { Ok(()) } else { self.switch(bookmark.branch) }
    }

    /// Queries may ask for what was added by hand.
    fn name_works(&mut self) {
        let works = self.inputs().iter().filter(|(_, input)| matches!(input, Input::Access(_))).count();
        let mut ids = self.context.ids.clone();
        ids.retain(|id| !id.starts_with("by-hand-"));
        ids.extend((1..=works).map(|number| format!("by-hand-{number}")));
        self.context = Arc::new(Context { ids, ..(*self.context).clone() });
    }

    /// Compares two branches from where they have the same inputs.
    ///
    /// # Errors
    /// If there is none of one of the numbers.
    pub(super) fn compare(&self, a: u32, b: u32, ignore_time: bool) -> Result<Comparison> {
        let (a, b) = (self.branches.position(a)?, self.branches.position(b)?);
        let inputs = |at: usize| self.branches.list.get(at).map_or(&[][..], |branch| &branch.inputs);
        let alike = inputs(a).iter().zip(inputs(b)).take_while(|(one, other)| one == other).count();
        let next = |at: usize| inputs(at).get(alike).map(|(event, _)| *event);
        let common = next(a).into_iter().chain(next(b)).min().unwrap_or(EventNumber::MAX);
        let run = |at: usize| {
            let parked = self.branches.list.get(at).and_then(|branch| branch.parked.as_ref());
            parked.unwrap_or(&self.timeline).copy_before(common)
        };
        Ok(Comparison::new(run(a), run(b), ignore_time).alike_until(common))
    }

    /// The branch that another one left; of the first, the one that left it last.
    pub(super) fn relative(&self, number: u32) -> Option<u32> {
        let list = &self.branches.list;
        let from = list.iter().find(|branch| branch.number == number).and_then(|branch| branch.from);
        let left = list.iter().rev().find(|branch| branch.from.is_some_and(|(from, _)| from == number));
        from.map(|(from, _)| from).or(left.map(|branch| branch.number))
    }
}

/// Choices named in a complaint, at most.
const NAMED: usize = 8;

/// That the change which `plan` makes next can be made: a choice may name what cannot happen now.
fn possible(machine: &Machine, plan: &Arc<[Planned]>) -> Result<()> {
    let mut trial = machine.clone();
    trial.plan(plan.clone());
    trial.step(&mut Records::silent());
    let known = machine.violations().len();
    let Some(wrong) = trial.violations().iter().skip(known).find(|violation| violation.rule == "choice")
    else {
        return Ok(());
    };
    let choices = machine.choices();
    let names: Vec<_> =
        choices.iter().take(NAMED).map(|choice| choice.text(machine.components()).to_string()).collect();
    let expected =
        if names.is_empty() { "a message that is on its way".to_owned() } else { names.join(", ") };
    Err(Box::new(Diagnostic::new(wrong.text.to_string()).expected(expected)))
}

#[cfg(test)]
mod tests {
    use super::super::interrupt::Interrupt;
    use super::super::origin::Origin;
    use super::*;
    use crate::debug::frame::wish::Wish;

    const TEXT: &str = r#"
machine = "tiny/umh-2gpu"
[[do]]
id = "a"
by = "gpu0.cu0"
store = { address = 0x1000, bytes = "07" }
[[do]]
after = "a"
by = "gpu1.cu0"
load = { address = 0x1000 }
[[say]]
on = "transition at gpu0.cu0.l1 to M"
text = "It may write."
[[expect]]
that = "value at 0x1000 in gpu1.cu0.l1 is 7"
"#;

    fn session() -> Session {
        Session::open(Origin::of_text("t", TEXT).unwrap(), None)
    }

    fn execute(session: &mut Session, text: &str) -> Vec<String> {
        session.execute(text, &Interrupt::default()).unwrap_or_else(|error| panic!("{text}: {error}")).lines
    }

    fn position(session: &mut Session) -> String {
        execute(session, "info position").remove(0)
    }

    #[test]
    fn both_runs_stay_and_each_can_be_walked_both_ways() {
        let mut session = session();
        execute(&mut session, "end");
        let end = position(&mut session);
        execute(&mut session, "goto 12");
        let here = position(&mut session);
        execute(&mut session, "fork set network.latency=\"2 us\"");
        assert_eq!((session.event(), session.branches().current()), (13, 2), "the change is an event");
        assert!(session.last_records()[0].kind() == "input");
        execute(&mut session, "reverse-step");
        assert_eq!(position(&mut session), here, "what came before is the same");
        execute(&mut session, "start");
        execute(&mut session, "end");
        let other = position(&mut session);
        assert_ne!(other, end);
        execute(&mut session, "reverse-step 3");
        execute(&mut session, "step 3");
        assert_eq!(position(&mut session), other);
        execute(&mut session, "branch 1");
        assert_eq!(position(&mut session), here);
        execute(&mut session, "end");
        assert_eq!(position(&mut session), end);
        execute(&mut session, "branch 2");
        assert_eq!(position(&mut session), other);
        let listed = execute(&mut session, "branches");
        assert_eq!(listed[0], "  1  as it was opened");
        assert_eq!(listed[1], "* 2  set network.latency=\"2 us\"  (from 1 at event 12)");
    }

    #[test]
    fn a_complaint_names_the_input_that_was_typed() {
        let mut session = session();
        for (line, head) in [
            ("fork set gpu.l2.latency=foo", ":fork:1:25: wrong type"),
            ("fork set xx=1", ":fork:1:10: unknown key"),
            ("fork set gpu.count=4", ":fork:1:10: this cannot change under way"),
            ("fork hold x", ":fork:1:11: "),
        ] {
            let error = session.execute(line, &Interrupt::default()).unwrap_err().to_string();
            assert!(error.starts_with(head), "{error}");
        }
    }

    #[test]
    fn changes_add_up_and_are_told_apart() {
        let mut session = session();
        execute(&mut session, "goto 10");
        execute(&mut session, "fork access gpu0.cu1 store 0x1000 09");
        execute(&mut session, "fork access gpu0.cu1 store 0x1004 0a");
        assert_eq!(session.branches().current(), 3);
        assert_eq!(session.inputs().len(), 2);
        execute(&mut session, "end");
        let done = execute(&mut session, "print result of by-hand-2");
        assert!(!done.is_empty());
        let told = execute(&mut session, "diff").join("\n");
        assert!(told.contains("then they part") && told.contains("- branch 2: event"), "{told}");
        assert!(
            told.contains("branch 3 12.0") && told.contains("changed: access gpu0.cu1 store 0x1004 0a"),
            "{told}"
        );
        let same = execute(&mut session, "diff 3 3").join("\n");
        assert!(same.starts_with("the same: "), "{same}");
        // Going back before both and forking there forgets both.
        execute(&mut session, "goto 2");
        execute(&mut session, "fork fault lose-message message=grant");
        assert_eq!(session.inputs().len(), 1);
        let stop = session.execute("end", &Interrupt::default()).unwrap().stop.unwrap();
        assert!(stop.reasons[0].sentence().contains("nothing can move"), "{stop:?}");
    }

    #[test]
    fn a_run_that_is_over_can_go_on_in_another_branch() {
        let mut session = session();
        execute(&mut session, "end");
        let end = session.event();
        execute(&mut session, "fork access host.cpu0 load 0x1000 1");
        execute(&mut session, "end");
        assert!(session.event() > end + 3, "{} {end}", session.event());
        assert_eq!(execute(&mut session, "print result of by-hand-1"), ["07 (7)"]);
    }

    #[test]
    fn a_lesson_has_nothing_to_say_about_another_run() {
        let mut session = session();
        execute(&mut session, "end");
        let said = execute(&mut session, "info lesson").join("\n");
        assert!(said.contains("It may write.") && said.contains("holds"), "{said}");
        execute(&mut session, "start");
        execute(&mut session, "fork access gpu0.cu1 load 0x1000 1");
        execute(&mut session, "end");
        let said = execute(&mut session, "info lesson").join("\n");
        assert!(!said.contains("It may write.") && !said.contains("holds"), "{said}");
    }

    #[test]
    fn what_makes_no_sense_changes_nothing() {
        let mut session = session();
        execute(&mut session, "goto 7");
        for (text, wanted) in [
            ("fork", "what shall come next?"),
            ("fork sett x=1", "did you mean set?"),
            ("fork set", "something is missing here"),
            ("fork set gpu.count=4", "other components"),
            ("fork set gpu.l1.latencyy=4", "did you mean latency?"),
            ("fork access gpu0.cu9 load 0x0", "gpu0.cu9"),
            ("fork choose deliver gpu0.cu0.l1 > gpu0.cu0.l1 request", "is not possible here"),
            ("branch 2", "there is no branch 2"),
            ("branch x", "\"x\" is not a number"),
            ("diff", "there is one branch only"),
            ("diff 1", "there is one branch only"),
            ("diff 1 7", "there is no branch 7"),
        ] {
            let error = session.execute(text, &Interrupt::default()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
            assert_eq!((session.event(), session.branches().list().len()), (7, 1), "{text}");
        }
        execute(&mut session, "end");
        let error = session.execute("fork hold 64", &Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains("nothing comes next here"), "{error}");
    }

    #[test]
    fn the_next_delivery_can_be_chosen() {
        let mut session = session();
        execute(&mut session, "goto 4");
        let machine = session.machine().machine().unwrap();
        let choice = machine.choices().first().unwrap().text(machine.components()).to_string();
        let here = position(&mut session);
        execute(&mut session, &format!("fork choose {choice}"));
        assert!(session.last_records().iter().any(|record| record.kind() == "delivery"));
        execute(&mut session, "start");
        execute(&mut session, "goto 4");
        assert_eq!(position(&mut session), here, "what came before is the same");
        execute(&mut session, "end");
    }

    #[test]
    fn the_screen_knows_on_which_branch_it_is() {
        let mut session = session();
        let info = Arc::new(session.info());
        assert_eq!(session.frame(&info, &Wish::default()).branch, None);
        execute(&mut session, "goto 9");
        execute(&mut session, "fork set gpu.l2.latency=30");
        let branch = session.frame(&info, &Wish::default()).branch.unwrap();
        assert_eq!((branch.number, branch.event), (2, 9));
    }
}
