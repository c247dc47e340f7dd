//! What the program says about itself.

use super::call;

/// Every subcommand, and none.
const COMMANDS: &[&str] = &[
    "",
    "debug",
    "run",
    "replay",
    "diff",
    "shrink",
    "test",
    "log",
    "frame",
    "export",
    "explore",
    "mutants",
    "sweep",
    "figures",
    "stress",
    "list",
    "check",
    "schema",
    "completions",
    "man",
];

#[test]
fn every_help_text_is_as_it_was_approved() {
    for &command in COMMANDS {
        let arguments = if command.is_empty() { vec!["--help"] } else { vec!["help", command] };
        let outcome = call(&arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        let name = if command.is_empty() { "help".to_owned() } else { format!("help_{command}") };
        insta::assert_snapshot!(name, outcome.stdout);
    }
}

#[test]
fn no_command_is_left_out() {
    let commands = call(&["--help"]).stdout;
    let (_, list) = commands.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names: Vec<_> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..names.len() - 1], COMMANDS[1..]);
}

#[test]
fn lists_manuals_and_completions_are_there() {
    for (arguments, needle) in [
        (&["list"][..], "tiny/umh-2gpu "),
        (&["list", "kernels"], "vector-add"),
        (&["man"], ".TH umscope"),
        (&["man", "run"], "max\\-cycles"),
        (&["completions", "bash"], "--trace-format"),
        (&["completions", "fish"], "no-tui"),
    ] {
        let outcome = call(arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(outcome.stdout.contains(needle), "{arguments:?}: {}", outcome.stdout);
    }
}

/// A scenario of each system, and of each part that has statistics of its own.
const SYSTEMS: &[&str] = &[
    "umh/fig5-b1",
    "numa/lanes-turn",
    "numa/local-phase",
    "paging/hot-set",
    "selective/client-cache",
    "selective/read-only-write",
    "scalegpu/burst",
    "baselines/redundant-copies",
];

#[test]
fn the_help_of_run_explains_every_statistic() {
    let help = call(&["help", "run"]).stdout;
    let words: Vec<&str> = help.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    for scenario in SYSTEMS {
        let outcome = call(&["run", scenario, "--format", "json"]);
        let result: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        for key in result["stats"].as_object().unwrap().keys() {
            // Messages are told by their type, whatever types there are.
            let last = key.rsplit('.').next().unwrap_or(key);
            assert!(words.contains(&last), "{scenario} has {key}, which the help does not explain");
        }
    }
}
