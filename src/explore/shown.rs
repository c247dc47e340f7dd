//! Where each fault breaks something: the command that shows what its rule is for.

use crate::model::fault::{Fault, LOSE_MESSAGE};

/// How a fault is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ground {
    /// By random accesses on this machine.
    Stress(&'static str),
    /// By this command.
    Other(&'static str),
}

/// Where the fault of a name is noticed; nothing if there is none.
fn ground(name: &str) -> Option<Ground> {
    Some(match name {
        // Somebody who waits for a long time breaks no rule.
        "unfair-arbiter" => Ground::Other("explore explore/three-l1 --fair"),
        "no-launch-flush" => Ground::Other("run umh/next-kernel"),
        "keep-overtaken" => Ground::Other("explore explore/selective"),
        "keep-host-lines" => Ground::Other("explore explore/selective-host"),
        "trust-filter" => Ground::Other("explore explore/selective-lines"),
        "cold-write-only-here" => Ground::Other("explore explore/replaced-rows --hold 1"),
        "drop-replay" | "lose-page" => Ground::Stress("tiny/paged-1gpu"),
        "forget-newer" | "peer-grants-exclusive" | "ack-before-data" | "no-supply" => {
            Ground::Stress("tiny/umh-2gpu-nvlink")
        }
        LOSE_MESSAGE | "drop-wake-up" => Ground::Stress("tiny/umh-2gpu"),
        name => match Fault::plain(name)? {
            fault if fault.is_of_pages() => Ground::Stress("tiny/paged-1gpu"),
            fault if fault.is_of_tags() => Ground::Stress("tiny/scalegpu"),
            fault if fault.is_of_selective_caching() => Ground::Stress("tiny/selective"),
            _ => Ground::Stress("tiny/umh-2gpu"),
        },
    })
}

/// The command that shows the fault of a name; empty if there is none.
#[must_use]
pub fn shown_by(name: &str) -> String {
    let command = match ground(name) {
        Some(Ground::Stress(machine)) => format!("stress {machine}"),
        Some(Ground::Other(command)) => command.to_owned(),
        None => return String::new(),
    };
    let fault = match name {
        LOSE_MESSAGE => "'lose-message message=grant nth=3'".to_owned(),
        "drop-wake-up" | "drop-replay" | "lose-page" => format!("'{name} nth=3'"),
        plain => plain.to_owned(),
    };
    format!("umscope {command} --fault {fault}")
}

/// What may be needed for faults to show that have broken nothing, and where they do.
#[must_use]
pub fn elsewhere(faults: &[String], needed: &str) -> String {
    let commands = faults.iter().map(|fault| shown_by(fault.split(' ').next().unwrap_or(fault)));
    let commands: Vec<_> = commands.filter(|command| !command.is_empty()).collect();
    match commands.as_slice() {
        [] => format!("{needed} may be needed for it to show"),
        commands => format!("{needed} may be needed for it to show, as in {}", commands.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::explore::stress::{Plan, ROUND};
    use crate::scenario::{Options, Scenario};

    #[test]
    fn every_fault_is_noticed_where_it_is_said_to_be() {
        assert_eq!(shown_by("no-grant-ack"), "umscope stress tiny/umh-2gpu --fault no-grant-ack");
        assert_eq!(shown_by("none"), "");
        let told = |faults: &[&str]| {
            elsewhere(&faults.iter().map(|&fault| fault.to_owned()).collect::<Vec<_>>(), "time")
        };
        let replay = "time may be needed for it to show, as in umscope stress tiny/paged-1gpu --fault 'drop-replay nth=3'";
        assert_eq!(told(&["drop-replay nth=9"]), replay);
        assert_eq!(told(&["none"]), "time may be needed for it to show");
        for name in Fault::NAMES {
            // The others are run as commands, in the tests of the binary.
            let Ground::Stress(machine) = ground(name).unwrap() else { continue };
            let command = shown_by(name);
            let fault = command.split("--fault ").nth(1).unwrap().trim_matches('\'');
            let words: Vec<&str> = fault.split(' ').collect();
            let mut text = format!("machine = \"{machine}\"\n[[fault]]\nname = \"{}\"\n", words[0]);
            for (key, value) in words[1..].iter().filter_map(|word| word.split_once('=')) {
                let value = if key == "nth" { value.to_owned() } else { format!("\"{value}\"") };
                text.push_str(&format!("{key} = {value}\n"));
            }
            let scenario = Scenario::parse(Source::new("shown", text), None).unwrap();
            let mut blueprint = scenario.blueprint(&Options::default()).unwrap();
            blueprint.max_cycles = u64::MAX;
            let plan = Plan { blueprint, accesses: ROUND, seed: 1 };
            assert!(plan.round(0, &|| false).unwrap().failure.is_some(), "{command}");
        }
    }
}
