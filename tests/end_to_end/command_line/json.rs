//! The JSON that scripts read.

use serde_json::Value;

use super::{call, document};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_run_is_one_document_with_stable_keys() {
    let run = document(&["run", "umh/fig5-b1", "--format", "json"]);
    let expected = "accesses blame cycles diagnosis digest ended events events_per_second expectations failures machine passed \
                    peak_memory_bytes prepare_seconds resources scenario seed set stats stopped_at tasks waits wall_seconds";
    assert_eq!(keys(&run).join(" "), expected);
    assert_eq!(
        (run["scenario"].as_str(), run["machine"].as_str()),
        (Some("umh/fig5-b1"), Some("tiny/umh-2gpu"))
    );
    let digest = run["digest"].as_str().unwrap();
    assert!(digest.len() == 16 && digest.chars().all(|digit| digit.is_ascii_hexdigit()), "{digest}");
    assert_eq!(run["stats"]["accesses"], run["accesses"]);
    assert!(run["stats"].as_object().unwrap().values().all(|value| value.is_number() || value.is_null()));
    assert_eq!((&run["stopped_at"], &run["set"]), (&Value::Null, &serde_json::json!({})));
    let busiest = &run["resources"][0];
    let expected = "busiest busiest_at count name queued_mean_cycles utilisation";
    assert_eq!(keys(busiest).join(" "), expected);
    let link = run["stats"][format!("{}.utilisation", busiest["busiest_at"].as_str().unwrap())].clone();
    assert_eq!(
        (&busiest["name"], &busiest["count"], &busiest["busiest"]),
        (&"links".into(), &2.into(), &link)
    );
}

#[test]
fn what_accesses_waited_for_is_all_of_their_time_and_asking_changes_nothing() {
    for scenario in ["kernels/matrix-multiplication", "paging/two-warps-one-page", "scalegpu/burst"] {
        let run = document(&["run", scenario, "--waits", "--format", "json"]);
        let waits = &run["waits"];
        let number = |value: &Value| value.as_u64().unwrap();
        let sums = waits["sums"].as_array().unwrap();
        let cycles: u64 = sums.iter().map(|sum| number(&sum["cycles"])).sum();
        assert_eq!(cycles, number(&waits["cycles"]), "{scenario}");
        for sum in sums {
            let places = sum["places"].as_array().unwrap();
            let cycles: u64 = places.iter().map(|place| number(&place["cycles"])).sum();
            assert_eq!(cycles, number(&sum["cycles"]), "{scenario}: {sum}");
        }
        assert!(number(&waits["accesses"]) > 0 && waits["accesses"].as_u64() <= run["accesses"].as_u64());
        let plain = document(&["run", scenario, "--format", "json"]);
        assert_eq!((&plain["digest"], &plain["waits"]), (&run["digest"], &Value::Null), "{scenario}");
    }
    let text = call(&["run", "umh/fig5-b1", "--waits"]).stdout;
    assert!(text.contains("\nwaited for  of latency ") && text.contains("\n  on links "), "{text}");
}

#[test]
fn each_miss_that_joins_no_other_sends_a_request() {
    // Blocks are asked for while they are on their way out.
    let text = "machine = 'tiny/umh-2gpu-mask4'\n[[kernel]]\nid = 'k'\nname = 'stream'\nwith = { blocks = 8, warps = 2, times = 12 }\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    let run = document(&["run", path.to_str().unwrap(), "--set", "gpu.cu.outstanding=2", "--format", "json"]);
    let count = |key: &str| run["stats"][key].as_u64().unwrap();
    let of =
        |what: &str| ["gpu0", "gpu1"].map(|gpu| count(&format!("{gpu}.smd0.{what}"))).iter().sum::<u64>();
    assert!(of("recalls") > 20 && of("merges") > 20);
    assert_eq!(of("misses") - of("merges"), count("link.host.in.messages.read.count"));
}

#[test]
fn a_translation_counts_once_however_often_its_access_is_turned_away() {
    let text =
        "machine = 'tiny/paged-1gpu'\n[[kernel]]\nid = 'k'\nname = 'vector-add'\nwith = { scale = 64 }\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    let set = [
        "--set",
        "gpu.paging.page='64 KiB'",
        "--set",
        "gpu.memory.size='256 KiB'",
        "--set",
        "gpu.l1.mshrs=4",
    ];
    let run = document(&[&["run", path.to_str().unwrap(), "--format", "json"], &set[..]].concat());
    let stats = &run["stats"];
    assert!(stats["levels.gpu_l1.mshr_full"].as_u64().unwrap() > 20);
    let others = ["misses", "merges"].map(|what| stats[format!("paging.tlb.{what}")].as_u64().unwrap());
    let accesses = run["accesses"].as_u64().unwrap() as f64;
    let rate = 1.0 - others.iter().sum::<u64>() as f64 / accesses;
    assert!((stats["paging.tlb.hit_rate"].as_f64().unwrap() - rate).abs() < 1e-9, "{stats}");
}

#[test]
fn a_run_tells_what_was_set_by_its_scenario_and_on_the_command_line() {
    let set = ["--set", "gpu.l1.mshrs=3", "--set", "gpu.paging.service='2 us'"];
    let run = document(&[&["run", "paging/blocking", "--format", "json"], &set[..]].concat());
    let expected = serde_json::json!({
        "gpu.l1.mshrs": 3, "gpu.paging.faults": "block", "gpu.paging.service": "2 us",
    });
    assert_eq!(run["set"], expected);
    let text = call(&[&["run", "paging/blocking"], &set[..2]].concat()).stdout;
    assert!(text.contains("\nset       gpu.l1.mshrs = 3, gpu.paging.faults = \"block\"\n"), "{text}");
}

#[test]
fn a_list_is_narrowed_by_what_is_in_names() {
    for (kind, part, expected) in
        [("kernels", "SORT", "radix-sort"), ("machines", "fig5", ""), ("protocols", "nmo", "nmoesi")]
    {
        let outcome = call(&["list", kind, part, "--format", "json"]);
        if expected.is_empty() {
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
            assert!(outcome.stderr.contains("none of machines has \"fig5\" in its name"), "{outcome:?}");
            continue;
        }
        let listed: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let names: Vec<_> =
            listed[kind].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert!(names.contains(&expected) && names.len() < 10, "{names:?}");
        let text = call(&["list", kind, part]).stdout;
        assert!(text.lines().next().unwrap().starts_with(names[0]), "{text}");
    }
}

#[test]
fn every_workload_of_the_papers_runs_by_its_name() {
    let listed = document(&["list", "workloads", "--format", "json"]);
    let workloads = listed["workloads"].as_array().unwrap();
    assert!(workloads.len() > 70, "{}", workloads.len());
    for folder in ["umh", "selective", "numa", "paged", "scalegpu"] {
        let of_folder =
            |workload: &&Value| workload["name"].as_str().unwrap().split('/').nth(1) == Some(folder);
        let first = workloads.iter().find(of_folder).unwrap();
        let (name, machine) = (first["name"].as_str().unwrap(), first["machine"].as_str());
        let run = call(&["run", name, "--scale", "64", "--break", "cycle >= 3000", "--format", "json"]);
        let run: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run["machine"].as_str(), run["scenario"].as_str()), (machine, Some(name)));
        assert!(run["events"].as_u64().unwrap() > 100, "{name}: {run}");
    }
}

#[test]
fn statistics_have_one_kind_of_key_and_are_null_where_nothing_is_known() {
    let run = document(&["run", "kernels/transpose-4gpu", "--format", "json"]);
    let stats = run["stats"].as_object().unwrap();
    let plain =
        |key: &&String| key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c));
    // Tasks are called as their scenario calls them.
    let odd: Vec<_> = stats.keys().filter(|key| !key.starts_with("tasks.") && !plain(key)).collect();
    assert!(odd.is_empty(), "{odd:?}");
    assert_eq!(stats["access.atomic.mean_cycles"], Value::Null);
    assert_eq!(stats["host.warp_share.memory"], Value::Null);
    let number = |key: &str| stats.get(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {key}"));
    let levels =
        ["l1", "joined", "l2", "llc", "smd", "hmd"].map(|level| number(&format!("access.{level}.count")));
    assert_eq!(levels.iter().sum::<f64>() as u64, run["accesses"].as_u64().unwrap());
    assert!(number("sync.flush_bytes") > 0.0 && number("levels.smd.mshr_mean") > 0.0);
}

#[test]
fn a_summary_shows_what_there_was_and_all_statistics_if_asked() {
    let plain = call(&["run", "kernels/transpose-4gpu"]).stdout;
    for table in
        ["warp time", "served by", "accesses", "caches", "memory", "links", "messages", "synchronisation"]
    {
        assert!(plain.lines().any(|line| line.starts_with(table)), "{table} in {plain}");
    }
    assert!(!plain.contains("warp_share.memory"));
    let all = call(&["run", "kernels/transpose-4gpu", "--stats"]).stdout;
    assert!(all.lines().any(|line| line.starts_with("gpu3.warp_share.memory ")), "{all}");
    assert!(all.lines().any(|line| line.starts_with("access.atomic.mean_cycles ") && line.ends_with(" -")));
}

#[test]
fn a_test_tells_what_was_never_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lesson.toml").display().to_string();
    let text = "machine = \"tiny/umh-1gpu\"\nchecks = false\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000 }\n\
                [[say]]\ntext = \"at the start\"\n[[say]]\non = \"complete\"\ntext = \"this comes\"\n\
                [[say]]\non = \"complete\"\nnth = 2\ntext = \"this does not\"\n\
                [[say]]\ntext = \"and this\"\nask = { text = \"?\", answer = \"x\", until = \"complete\" }\n\
                [[say]]\ntext = \"waits\"\nask = { text = \"?\", answer = \"x\", until = \"far-fault\" }\n";
    std::fs::write(&path, text).unwrap();
    let test = document(&["test", &path, "--format", "json"]);
    let tested = &test["scenarios"][0];
    assert!(tested["passed"] == true && tested["unsaid"] == serde_json::json!([11]), "{tested}");
    assert_eq!(tested["unsettled"], serde_json::json!([18]));
    let told = "line 11: the moment of this [[say]] never came";
    let open = "line 18: what the question of this [[say]] stays open for (until) never came";
    assert!(call(&["test", &path]).stdout.contains(&format!("\n       note: {told}\n       note: {open}\n")));
    // Of one that fails, too.
    let failing = folder.path().join("failing.toml").display().to_string();
    std::fs::write(&failing, format!("{text}[[expect]]\nthat = \"cycle is 1\"\n")).unwrap();
    let failed = call(&["test", &failing]);
    assert!(failed.code == Some(1) && failed.stdout.contains(told), "{failed:?}");
    // What its breakpoints carry out must be commands, as for the debugger.
    std::fs::write(&failing, format!("{text}[[break]]\non = \"complete\"\ncommands = [\"prnt x\"]\n"))
        .unwrap();
    let refused = call(&["test", &failing]);
    assert!(
        refused.code == Some(2) && refused.stderr.contains("there is no command \"prnt\""),
        "{refused:?}"
    );
    let suite = call(&["test", &path, "--format", "junit"]).stdout;
    assert!(suite.contains(&format!("<system-out>{told}\n{open}</system-out>")), "{suite}");
}

#[test]
fn nothing_is_said_of_values_that_a_machine_does_not_keep() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, format!("machine = \"tiny/umh-2gpu\"\n{text}")).unwrap();
        path
    };
    let load =
        "[[program]]\nid = \"p\"\nby = \"gpu0.cu0\"\ndo = [\"store 0x1000 07\", \"load x 0x1000 1\"]\n";
    let result = write("result.toml", &format!("{load}[[expect]]\nthat = \"result of x is 0\"\n"));
    let tested = call(&["test", &result, "--set", "values=false"]);
    let why = "result of x is not kept, since the machine has `values = false`";
    assert!(tested.code == Some(1) && tested.stdout.contains(why), "{tested:?}");
    let never = write("never.toml", &format!("{load}[[expect]]\nnever = \"complete kind load value 7\"\n"));
    assert_eq!(call(&["test", &never]).code, Some(1));
    let vacuous = document(&["test", &never, "--set", "values=false", "--format", "json"]);
    assert_eq!(vacuous["scenarios"][0]["vacuous"][0]["line"], 6, "{vacuous}");
    let spins = "[[program]]\nid = \"p\"\nby = \"gpu0.cu0\"\ndo = [\"spin 0x1000 01\"]\n\
                 [[program]]\nby = \"host.cpu0\"\ndo = [\"store 0x1000 01\"]\n";
    let spins = write("spins.toml", spins);
    assert_eq!(call(&["run", &spins]).code, Some(0));
    let refused = call(&["check", &spins, "--set", "values=false"]);
    assert!(
        refused.code == Some(2)
            && refused.stderr.contains("p spins until it reads a value, and this machine keeps none"),
        "{refused:?}"
    );
}

#[test]
fn a_test_tells_every_scenario_and_why_it_failed() {
    let test = document(&["test", "umh/fig5-b1", "tests/data/fails.toml", "--format", "json"]);
    assert_eq!((&test["passed"], &test["failed"]), (&Value::from(1), &Value::from(1)));
    let scenarios = test["scenarios"].as_array().unwrap();
    assert_eq!(
        keys(&scenarios[0]).join(" "),
        "blame cycles diagnosis digest ended events expectations failures left_out name passed path unsaid unsettled vacuous"
    );
    assert_eq!(scenarios[0]["path"], "umh/fig5-b1");
    assert_eq!(scenarios[1]["name"], "An expectation that does not hold");
    let failure = &scenarios[1]["failures"][0];
    assert_eq!(keys(failure).join(" "), "cycle event expectation line message");
    assert!(
        failure["expectation"]
            .as_str()
            .is_some_and(|text| text == "after load: state of gpu0.cu0.l1 block 0x1000 is M"),
        "{failure}"
    );
    assert_eq!(failure["line"], 11);
    assert!(failure["event"].as_u64() <= scenarios[1]["events"].as_u64());
}

#[test]
fn a_scenario_that_cannot_be_read_does_not_keep_the_others_from_being_tested() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.toml"), "machine = 7\n[[do]]\n").unwrap();
    std::fs::copy("tests/data/fails.toml", folder.path().join("b.toml")).unwrap();
    let outcome = call(&["test", "umhh", folder.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let test: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&test["failed"], &test["scenarios"][1]["cycles"]), (&Value::from(3), &Value::Null));
    assert!(outcome.stderr.contains("a.toml:"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("did you mean umh?"), "{}", outcome.stderr);
}

#[test]
fn a_log_is_one_record_a_line() {
    let outcome = call(&["log", "umh/fig5-b1", "--where", "message type read", "--format", "json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let records: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!records.is_empty());
    for record in &records {
        assert_eq!(
            (record["kind"].as_str(), record["fields"]["type"].as_str()),
            (Some("message"), Some("read"))
        );
        assert_eq!(record["address"], "0x1000");
    }
    let text = call(&["log", "umh/fig5-b1", "--where", "message type read"]).stdout;
    assert_eq!(text.lines().count(), records.len());
}

#[test]
fn messages_are_found_by_the_link_that_they_go_over() {
    let senders = |link: &str| {
        let log =
            call(&["log", "umh/fig5-b1", "--where", &format!("message link {link}"), "--format", "json"]);
        let records = log.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|record| record["at"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (out, into) = (senders("link.host.out"), senders("link.host.in"));
    assert!(!out.is_empty() && out.iter().all(|at| at.starts_with("host.")), "{out:?}");
    assert!(!into.is_empty() && into.iter().all(|at| at.starts_with("gpu")), "{into:?}");
}

#[test]
fn a_workload_runs_on_another_machine_and_a_lesson_does_not() {
    let moved = document(&[
        "run",
        "workloads/umh/mt",
        "--machine",
        "tiny/umh-2gpu",
        "--scale",
        "64",
        "--break",
        "cycle >= 3000",
        "--format",
        "json",
    ]);
    assert_eq!(moved["machine"].as_str(), Some("tiny/umh-2gpu"));
    let refused = call(&["run", "umh/fig5-b1", "--machine", "tiny/umh-4gpu"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
}

#[test]
fn junit_and_lists_and_schemas_are_well_formed() {
    let junit = call(&["test", "tests/data/fails.toml", "--format", "junit"]);
    assert!(junit.code == Some(1) && junit.stdout.contains("<failure message="), "{junit:?}");
    let list = document(&["list", "--format", "json"]);
    assert_eq!(
        keys(&list).join(" "),
        "faults kernels machines protocols records rules scenarios sweeps trace_formats workloads"
    );
    for kind in ["machine", "protocol", "scenario", "sweep"] {
        assert_eq!(document(&["schema", kind])["type"], "object", "{kind}");
        let first = if kind == "scenario" {
            "umh/fig5-b1".to_owned()
        } else {
            list[format!("{kind}s")][0]["name"].as_str().unwrap().to_owned()
        };
        assert_eq!(document(&["check", &first, "--format", "json"])["kind"], kind);
    }
}
