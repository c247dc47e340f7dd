//! Remote directories as what they are: cuckoo filters of fingerprints.

use super::cut;
use crate::debug::command::Arguments;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::address::Address;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::selective::{RemoteDirectoryView, RemoteLookView};
use crate::model::text::plural;

/// Lines that look like another one, told at most.
const MOST_ALIKE: usize = 8;

/// How full each filter is; and of the address that is named, or selected, where it is looked for.
pub(super) fn filter(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let words = arguments.words();
    if let Some(second) = words.get(1) {
        return Err(arguments.error(second.span.clone(), "nothing is expected after the address"));
    }
    let address = match words.first() {
        Some(word) => Some(Address(arguments.number(word, "an address such as 0x1000")?)),
        None => session.selection().block,
    };
    let machine = session.machine();
    let nodes = machine.components().iter().map(|(node, _)| node);
    let all: Vec<(ComponentId, RemoteDirectoryView)> =
        nodes.filter_map(|node| Some((node, machine.cache(node, 0)?.remote_directory?))).collect();
    if all.is_empty() {
        return Ok(vec!["no memory of this machine has a remote directory".to_owned()]);
    }
    let mut lines = Vec::new();
    for (node, view) in all {
        // It stands with the memory behind the slice, where its records are.
        let names = machine.components();
        let behind = names.get(node).and_then(|slice| {
            let is_memory =
                |id: &&ComponentId| names.get(**id).is_some_and(|one| one.kind == ComponentKind::Memory);
            slice.parents.iter().find(is_memory).copied()
        });
        let path = names.path(behind.unwrap_or(node));
        lines.push(format!(
            "{path}  {} of {} lines, {} put in, for which {} moved; flushed: {}; {}, {} found, {}, {} of them false",
            view.lines,
            view.capacity,
            view.inserted,
            plural(view.moved, "fingerprint"),
            view.flushes,
            plural(view.looks, "look"),
            view.found,
            plural(view.nacks, "NACK"),
            view.false_positives
        ));
        let look = address.and_then(|address| Some((address, machine.remote_look(node, address)?)));
        lines.extend(look.into_iter().flat_map(|(address, look)| looked_for(address, &look)));
    }
    Ok(cut(session, lines, "filters"))
}

/// `    0x1000 has fingerprint 0x3f: bucket 2 [3f . . .], bucket 5 [. . . .]`
fn looked_for(address: Address, look: &RemoteLookView) -> Vec<String> {
    let place = |print: &u16| if *print == 0 { ".".to_owned() } else { format!("{print:x}") };
    let bucket = |(number, places): &(u32, Vec<u16>)| {
        format!("bucket {number} [{}]", places.iter().map(place).collect::<Vec<_>>().join(" "))
    };
    let [first, second] = &look.buckets;
    let second = if first.0 == second.0 { String::new() } else { format!(", {}", bucket(second)) };
    let claim = match (look.is_claimed(), look.was_inserted) {
        (true, true) => "the CPU may have it: it has asked for it".to_owned(),
        (true, false) => {
            let alike: Vec<_> = look.alike.iter().take(MOST_ALIKE).map(Address::to_string).collect();
            format!("a false positive: it looks like {}", alike.join(", "))
        }
        (false, _) => "the CPU never had it".to_owned(),
    };
    let print = look.fingerprint;
    vec![format!("    {address} has fingerprint {print:x}: {}{second}; {claim}", bucket(first))]
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    fn told(scenario: &str, lines: &[&str]) -> String {
        let mut session = Session::open(Origin::of_text("t", scenario).unwrap(), None);
        let mut last = String::new();
        for line in lines {
            last = session.execute(line, &Interrupt::default()).unwrap().lines.join("\n");
        }
        last
    }

    #[test]
    fn a_false_positive_is_told_by_the_line_that_it_looks_like() {
        let text = crate::config::load_scenario("selective/false-positive").unwrap().text.to_string();
        let at_nack = told(
            &text,
            &["set stop-at-narration off", "break nack false-positive 1", "c", "info filter 0x180"],
        );
        assert!(at_nack.contains("a false positive: it looks like 0x"), "{at_nack}");
        assert!(at_nack.contains("1 found, 1 NACK, 1 of them false"), "{at_nack}");
    }

    #[test]
    fn a_machine_without_filters_says_so() {
        let text = "machine = 'tiny/umh-2gpu'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";
        assert_eq!(told(text, &["info filter 0x1000"]), "no memory of this machine has a remote directory");
    }
}
