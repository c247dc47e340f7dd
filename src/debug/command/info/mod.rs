//! `info`: what there is to know, by topic.

mod blocks;
mod filter;
mod hardware;
mod latency;
mod lesson;
mod pages;
mod settings;
mod table;
mod tags;

pub(super) use hardware::link_lines;
pub(super) use latency::of_ended as latency_of_ended;

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::diagnostic::Result;

/// A topic: its name, what it shows, and how.
struct Topic {
    name: &'static str,
    usage: &'static str,
    takes: Takes,
    about: &'static str,
    show: fn(&mut Session, &Arguments) -> Result<Vec<String>>,
}

const fn topic(
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    show: fn(&mut Session, &Arguments) -> Result<Vec<String>>,
) -> Topic {
    Topic { name, usage, takes: Takes::Nothing, about, show }
}

impl Topic {
    /// One that may be about something.
    const fn taking(self, takes: Takes) -> Self {
        Self { takes, ..self }
    }
}

const TOPICS: &[Topic] = &[
    topic("position", "position", "event, cycle and digest", settings::position),
    topic("stop", "stop", "why it stopped here", settings::stop),
    topic("breakpoints", "breakpoints", "breakpoints and watchpoints", settings::breakpoints),
    topic(
        "blocks",
        "blocks",
        "every block that is held or asked for somewhere, with its states",
        blocks::all,
    ),
    topic("block", "block [ADDRESS]", "one block at every node: state, directory, dirty bytes", blocks::one)
        .taking(Takes::Block),
    topic(
        "mshr",
        "mshr [COMPONENT]",
        "miss status holding registers and what they wait for",
        hardware::mshrs,
    )
    .taking(Takes::Component),
    topic("links", "links [COMPONENT]", "links: lanes, load, queues, messages in flight", hardware::links)
        .taking(Takes::Component),
    topic(
        "buffers",
        "buffers [COMPONENT]",
        "what is in the buffers into nodes, on the chip too, and what waits to come there",
        hardware::buffers,
    )
    .taking(Takes::Component),
    topic("warps", "warps [COMPONENT]", "what each warp and core does", hardware::warps)
        .taking(Takes::Component),
    topic("caches", "caches [COMPONENT]", "caches: places taken, hits and misses", hardware::caches)
        .taking(Takes::Component),
    topic(
        "pages",
        "pages [NUMBER]",
        "pages: of paged GPU memory with far-faults and the driver, or which memory they live in; or one of them",
        pages::pages,
    ),
    topic(
        "tlbs",
        "tlbs",
        "TLBs: entries, faults that they were told of, and translations that are missing",
        pages::tlbs,
    ),
    topic("memory", "memory [COMPONENT]", "memory controllers: what waits, open rows", hardware::memory)
        .taking(Takes::Component),
    topic(
        "resources",
        "resources",
        "what accesses compete for, the busiest first: what bounds the run so far; then MSHRs",
        hardware::resources,
    ),
    topic(
        "branches",
        "branches",
        "the runs that were forked, as branches lists them",
        |session, arguments| {
            arguments.none()?;
            Ok(super::fork::list(session))
        },
    ),
    topic("tags", "tags", "tags in DRAM: hits and misses, pending queues, scoreboards", tags::tags),
    topic(
        "filter",
        "filter [ADDRESS]",
        "remote directories, which are cuckoo filters: how full they are, and where they look for a line",
        filter::filter,
    )
    .taking(Takes::Block),
    topic("transactions", "transactions", "transactions in flight, oldest first", hardware::transactions),
    topic(
        "latency",
        "latency [txn N | slowest | all]",
        "where the cycles of an access that has ended went: what it waited for last; of all, sums",
        latency::latency,
    ),
    topic(
        "machine",
        "machine [KEY]",
        "every key of the machine file with its value here, or those with KEY in them",
        settings::machine,
    )
    .taking(Takes::Key),
    topic("components", "components [COMPONENT]", "every component of the machine", hardware::components),
    topic("statistics", "statistics [PREFIX]", "counters", settings::statistics),
    topic("bookmarks", "bookmarks", "named positions", settings::bookmarks),
    topic("display", "display", "values shown at every stop", settings::displays),
    topic("tasks", "tasks", "the tasks and labelled accesses of the workload", settings::tasks),
    topic(
        "table",
        "table",
        "the protocol table, with how often each cell was used, by what waited for a line, too",
        table::table,
    ),
    topic(
        "lesson",
        "lesson",
        "what the lesson said and asked up to here, and the expectations",
        lesson::lesson,
    ),
    topic("checkpoints", "checkpoints", "where going back starts from", settings::checkpoints),
];

/// The topic that a word names, with or without the s at its end.
pub(super) fn topic_like(word: &str) -> Option<&'static str> {
    let bare = |name: &str| name.trim_end_matches('s').to_owned();
    TOPICS.iter().map(|topic| topic.name).find(|name| bare(name) == bare(word))
}

const NAMES: [&str; TOPICS.len()] = {
    let mut names = [""; TOPICS.len()];
    let mut index = 0;
    while index < TOPICS.len() {
        names[index] = TOPICS[index].name;
        index += 1;
    }
    names
};

const SUBJECTS: [(&str, Takes); TOPICS.len()] = {
    let mut subjects = [("", Takes::Nothing); TOPICS.len()];
    let mut index = 0;
    while index < TOPICS.len() {
        subjects[index] = (TOPICS[index].name, TOPICS[index].takes);
        index += 1;
    }
    subjects
};

pub const INFO: Command = Command {
    name: "info",
    aliases: &["i"],
    usage: "info TOPIC",
    group: Group::Looking,
    about: "show what is known about a topic",
    details: "Alone, lists the topics. A unique prefix of a topic is enough.",
    completes: Completes::Subject(&SUBJECTS),
    run: info,
};

fn info(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let (word, rest) = arguments.split_first();
    if word.is_empty() {
        return Ok(Effect::Said(
            TOPICS.iter().map(|topic| format!("  {:<22} {}", topic.usage, topic.about)).collect(),
        ));
    }
    let exact = TOPICS.iter().find(|topic| topic.name == word);
    let mut starting = TOPICS.iter().filter(|topic| topic.name.starts_with(word));
    let found = match (exact, starting.next(), starting.next()) {
        (Some(topic), ..) | (None, Some(topic), None) => Some(topic),
        _ => None,
    };
    let Some(topic) = found else {
        let span = arguments.words().first().map_or(0..0, |first| first.span.clone());
        let starting: Vec<&str> = NAMES.into_iter().filter(|name| name.starts_with(word)).collect();
        let error = if starting.is_empty() {
            let error = arguments.error(span, format!("there is no topic \"{word}\""));
            error.expected(NAMES.join(", ")).nearest(word, NAMES)
        } else {
            let error = arguments.error(span, format!("\"{word}\" could mean several topics"));
            error.expected(starting.join(", "))
        };
        return Err(Box::new(error));
    };
    (topic.show)(session, &rest).map(Effect::Said)
}

/// Cuts a list to the number of lines that is set, and says what is missing.
fn cut(session: &Session, mut lines: Vec<String>, what: &str) -> Vec<String> {
    let most = session.settings.lines;
    let more = lines.len().saturating_sub(most);
    if lines.is_empty() {
        lines.push(format!("no {what}"));
    } else if more > 0 {
        lines.truncate(most);
        lines.push(format!("... and {more} more {what}; set lines N shows more"));
    }
    lines
}
