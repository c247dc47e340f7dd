//! JSON of runs and records: stable `snake_case` keys, `null` for what is unknown, digests as 16 hexadecimal digits.

use serde_json::{Map, Value, json};

use super::{Run, diagnosis};
use crate::debug::describe;
use crate::debug::latency::{Place, Sum, Waits};
use crate::model::component::{ComponentId, Components};
use crate::model::record::{Field, KINDS, Record};
use crate::model::resource::ResourceView;
use crate::model::text::digits;
use crate::model::text::{hex, key_word};
use crate::model::time::TimeBase;
use crate::scenario::{Ended, Failure};

/// A run as one document.
#[must_use]
pub fn run(run: &Run) -> Value {
    let report = &run.report;
    json!({
        "scenario": run.scenario,
        "machine": run.machine,
        "set": run.set.iter().map(|(key, value)| (key.clone(), json!(value))).collect::<Map<_, _>>(),
        "seed": run.seed,
        "cycles": report.cycles,
        "events": report.events,
        "accesses": report.accesses,
        "digest": digits(report.digest),
        "wall_seconds": run.wall_seconds,
        "prepare_seconds": run.prepare_seconds,
        "events_per_second": run.events_per_second(),
        "peak_memory_bytes": run.peak_memory_bytes,
        "passed": passed(run),
        "ended": run.ended(),
        "expectations": report.expectations,
        "failures": failures(&report.failures),
        "diagnosis": run.diagnosis.as_ref().map(diagnosis::json),
        "blame": run.blame,
        "stopped_at": run.stopped_at.as_ref().and_then(|stopped| stopped.json.clone()),
        "waits": run.waits.as_ref().map(waits),
        "resources": run.resources.iter().map(resource).collect::<Value>(),
        "tasks": run.tasks.iter().map(|(id, work)| (id.to_string(), json!(work.to_string()))).collect::<Map<_, _>>(),
        "stats": statistics(&run.statistics),
    })
}

/// What accesses waited for.
fn waits(waits: &Waits) -> Value {
    let place = |place: &Place| json!({ "at": place.at, "cycles": place.cycles, "accesses": place.accesses });
    let sum = |sum: &Sum| {
        json!({
            "for": sum.sort.name(),
            "cycles": sum.cycles,
            "share": sum.share,
            "accesses": sum.accesses,
            "places": sum.places.iter().map(place).collect::<Value>(),
        })
    };
    json!({
        "accesses": waits.accesses,
        "cycles": waits.cycles,
        "max_cycles": waits.longest,
        "sums": waits.sums.iter().map(sum).collect::<Value>(),
    })
}

/// What accesses competed for.
fn resource(view: &ResourceView) -> Value {
    json!({
        "name": view.name(),
        "count": view.count,
        "utilisation": view.mean,
        "busiest": view.busiest,
        "busiest_at": view.at,
        "queued_mean_cycles": view.wait,
    })
}

/// Whether all held; unknown of a run that was broken off before anything failed.
fn passed(run: &Run) -> Option<bool> {
    let is_cut_short = run.report.ended == Ended::Interrupted && run.stopped_at.is_none();
    (!is_cut_short || !run.report.passed).then_some(run.report.passed)
}

/// What failed, in the order in which it did.
#[must_use]
pub fn failures(failures: &[Failure]) -> Value {
    let failure = |failure: &Failure| {
        json!({
            "message": failure.message,
            "cycle": failure.cycle,
            "event": failure.event,
            "line": failure.line,
            "expectation": failure.expectation,
        })
    };
    failures.iter().map(failure).collect()
}

/// Statistics as one object of flat dotted keys; whole numbers are written as such.
#[must_use]
pub fn statistics(statistics: &[(String, f64)]) -> Value {
    let entries = statistics.iter().map(|(key, value)| (key.clone(), number(*value)));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// A number without a decimal point if it needs none; what is no number is `null`.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT { json!(value as i64) } else { json!(value) }
}

/// A record: its name, time and place, its own fields, and how the log tells it.
#[must_use]
pub fn record(record: &Record, components: &Components, time: TimeBase) -> Value {
    let info = KINDS.iter().find(|info| info.name == record.kind());
    let names = info.map_or(&[][..], |info| info.fields).iter().map(|field| field.name);
    let fields = names.map(|name| {
        let value = record.field(name).map_or(Value::Null, |value| field(&value, components));
        (key_word(name), value)
    });
    json!({
        "event": record.id.event,
        "ordinal": record.id.ordinal,
        "cycle": record.cycle,
        "nanoseconds": time.nanoseconds(record.tick),
        "kind": record.kind(),
        "at": components.path(record.at),
        "because": record.because,
        "transaction": record.txn.map(|txn| txn.0),
        "address": record.range.map(|range| range.start.to_string()),
        "length": record.range.map(|range| range.len),
        "fields": fields.collect::<Map<_, _>>(),
        "text": describe::record(record, components),
    })
}

fn field(value: &Field, components: &Components) -> Value {
    let path = |id: &ComponentId| components.path(*id).to_owned();
    match value {
        Field::Component(id) => json!(path(id)),
        Field::Components(ids) => ids.iter().map(path).collect(),
        Field::State(state) => json!(state.letter().to_string()),
        Field::Words(words) => json!(words.first()),
        Field::Word(word) => json!(word),
        Field::Text(text) => json!(&**text),
        Field::Number(number) => json!(number),
        Field::Bytes(bytes) => json!(hex(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_whole_where_they_can_be_and_null_where_they_are_unknown() {
        let list = [("a.b".to_owned(), 3.0), ("c".to_owned(), 0.5), ("d".to_owned(), f64::NAN)];
        assert_eq!(statistics(&list).to_string(), r#"{"a.b":3,"c":0.5,"d":null}"#);
    }
}
