//! What a session is opened on: a scenario, or a machine alone.

use super::lesson::Lesson;
use super::subject::Subject;
use crate::config::machine::{MachineSpec, NetworkKind};
use crate::query::Context;
use crate::scenario::{Break, Prepared, Scenario};

/// A machine at its first position, and what belongs to it.
#[derive(Debug)]
pub struct Origin {
    /// The name to open it by (`umh/fig5-b1`).
    pub name: String,
    pub title: String,
    /// Paper and section.
    pub source: String,
    /// One line about the machine.
    pub about: String,
    pub machine: Box<dyn Subject>,
    /// The names that queries may use; those of the machine if it is not given.
    pub context: Option<Context>,
    pub breaks: Vec<Break>,
    pub lesson: Option<Lesson>,
}

impl Origin {
    /// A scenario that has been prepared.
    #[must_use]
    pub fn scenario(name: &str, scenario: &Scenario, prepared: Prepared) -> Self {
        Self {
            name: name.to_owned(),
            title: scenario.title().to_owned(),
            source: scenario.file().source.clone().unwrap_or_default(),
            about: in_one_line(&prepared.blueprint.spec),
            machine: Box::new(prepared.machine),
            context: Some(prepared.context),
            breaks: prepared.breaks,
            lesson: Lesson::new(prepared.narrator, prepared.checker),
        }
    }
}

/// `2 GPUs, 1 core, PCIe 16 GB/s`
#[must_use]
pub fn in_one_line(spec: &MachineSpec) -> String {
    let count =
        |count: u32, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut parts = Vec::new();
    parts.extend(spec.gpu.as_ref().map(|gpu| count(gpu.count, "GPU", "GPUs")));
    parts.push(count(spec.host.cores, "core", "cores"));
    let network = match spec.network.kind {
        NetworkKind::Pcie => "PCIe",
        NetworkKind::Nvlink => "NVLink",
    };
    parts.push(format!("{network} {}", spec.network.bandwidth));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::interrupt::Interrupt;
    use super::super::session::Session;
    use super::super::work::Outcome;
    use super::*;
    use crate::scenario::Options;

    fn execute(session: &mut Session, text: &str) -> Outcome {
        session.execute(text, &Interrupt::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    const LESSON: &str = r#"
title = "A second GPU writes the same line without coherence"
machine = "tiny/umh-2gpu"
[[do]]
id = "first"
by = "gpu0.cu0"
n-store = { address = 0x1000, bytes = "07" }
[[do]]
id = "second"
after = "first"
by = "gpu1.cu1"
n-store = { address = 0x1004, bytes = "09" }
[[say]]
on = "message type read from gpu1.smd0"
text = "The HMD knows who has this block, and asks."
ask = { text = "Must GPU 0 give up its data?", answer = "no", choices = ["yes", "no"] }
[[expect]]
after = "second"
that = ["state of gpu0.cu0.l1 block 0x1000 is N"]
"#;

    /// A session on [`LESSON`], which `reload` opens anew.
    fn lesson() -> Session {
        let load = || {
            let source = crate::diagnostic::Source::new("lesson", LESSON);
            let scenario = Scenario::parse(source, None)?;
            let prepared = scenario.prepare(&Options::default())?;
            Ok(Origin::scenario("lesson", &scenario, prepared))
        };
        Session::open(load().unwrap(), Some(Box::new(load)))
    }

    #[test]
    fn a_lesson_walks_in_both_directions_over_the_real_machine() {
        let mut session = lesson();
        execute(&mut session, "set stop-at-narration on");
        let told = execute(&mut session, "continue").lines.remove(0);
        assert!(told.starts_with("lesson: The HMD knows"), "{told}");
        let asked = session.event();
        execute(&mut session, "predict No");
        let lines = execute(&mut session, "info lesson").lines.join("\n");
        assert!(lines.contains("You said: No") && !lines.contains("Right"), "{lines}");
        execute(&mut session, "step");
        let lines = execute(&mut session, "info lesson").lines.join("\n");
        assert!(lines.contains("Right: no"), "{lines}");
        execute(&mut session, "end");
        let last = execute(&mut session, "info position").lines;
        let lines = execute(&mut session, "info lesson").lines.join("\n");
        assert!(lines.contains("\nholds ") && !lines.contains("FAILED"), "{lines}");
        execute(&mut session, "reverse-continue");
        assert_eq!(session.event(), asked);
        let lines = execute(&mut session, "info lesson").lines.join("\n");
        assert!(lines.contains("\nopen ") && !lines.contains("\nholds "), "{lines}");
        for verb in ["transition 3", "reverse-cycle 2", "finish", "reverse-transition 2", "start", "end"] {
            execute(&mut session, verb);
        }
        assert_eq!(execute(&mut session, "info position").lines, last);
        execute(&mut session, "reload");
        assert_eq!(execute(&mut session, "info position").lines, last);
    }

    #[test]
    fn a_watch_on_the_real_machine_stops_both_ways() {
        let mut session = lesson();
        execute(&mut session, "watch state of gpu1.cu1.l1 block 0x1000");
        let there = execute(&mut session, "continue").stop.unwrap();
        assert!(there.reasons[0].sentence().contains("watchpoint 1"), "{there:?}");
        execute(&mut session, "end");
        let mut back = Vec::new();
        while session.event() > there.event {
            execute(&mut session, "reverse-continue");
            back.push(session.event());
        }
        assert_eq!(back.last(), Some(&there.event));
    }
}
