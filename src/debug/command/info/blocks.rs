//! Blocks and where they are.

use std::fmt::Write as _;

use super::cut;
use crate::debug::command::Arguments;
use crate::debug::describe::{names, optional};
use crate::debug::frame::focus::Focus;
use crate::debug::frame::text::remote_claim;
use crate::debug::session::Session;
use crate::debug::subject::Subject;
use crate::diagnostic::Result;
use crate::model::address::Address;
use crate::model::inspect::BlockView;
use crate::model::text::plural;

/// Blocks looked at, at most.
const LISTED: usize = 1 << 14;

/// Every block with the nodes that hold it: a line each.
pub(super) fn all(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let machine = session.machine();
    let mut lines = Vec::new();
    for address in machine.blocks(LISTED) {
        // A line of a coarse block that only coarse nodes hold is told with the first one.
        if !views(machine, address).any(|view| view.range.start == address) {
            continue;
        }
        let held: Vec<_> = views(machine, address)
            .filter(|view| !view.displaced)
            .map(|view| format!("{} {}", machine.components().path(view.node), state(&view)))
            .collect();
        lines.push(format!("{address}  {}", held.join("  ")));
    }
    Ok(cut(session, lines, "blocks"))
}

/// One block at every node.
pub(super) fn one(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let words = arguments.words();
    if let Some(second) = words.get(1) {
        return Err(arguments.error(second.span.clone(), "nothing is expected after the address"));
    }
    let address = match (words.first(), session.selection().block) {
        (Some(word), _) => Address(arguments.number(word, "an address such as 0x1000")?),
        (None, Some(address)) => address,
        (None, None) => return Err(arguments.missing("an address, since no block is selected")),
    };
    let machine = session.machine();
    let lines = views(machine, address).flat_map(|view| describe(machine, &view)).collect();
    Ok(cut(session, lines, &format!("holders of {address}")))
}

fn views(machine: &dyn Subject, address: Address) -> impl Iterator<Item = BlockView> {
    Focus::new(machine, address).views.into_iter().filter_map(|(_, view)| view)
}

/// `S`, `S>M` or `-` where the node keeps no state.
fn state(view: &BlockView) -> String {
    let now = view.state.map_or_else(|| "-".to_owned(), |state| state.to_string());
    view.target.map_or(now.clone(), |target| format!("{now}>{target}"))
}

fn describe(machine: &dyn Subject, view: &BlockView) -> Vec<String> {
    let components = machine.components();
    let mut line = format!("{:<18} {:<5} {}", components.path(view.node), state(view), view.range);
    if let Some(dirty) = view.dirty.as_ref().filter(|bits| bits.any()) {
        // A mask of coarse pieces does not say how many of their bytes are.
        let _ = match view.granule {
            0 | 1 => write!(line, "  {}", plural(u64::from(dirty.count()), "dirty byte")),
            piece => write!(line, "  {} of {piece} B", plural(u64::from(dirty.count()), "dirty piece")),
        };
    }
    if let Some(here) = &view.here {
        let bytes = here.count().saturating_mul(view.granule);
        let _ = write!(line, "  {bytes} of {} bytes here", view.range.len);
    }
    if let Some(claim) = view.remote_claim {
        let _ = write!(line, "  remote directory: {}", remote_claim(claim));
    }
    if let Some(doing) = &view.doing {
        let since = view
            .since
            .map_or_else(String::new, |tick| format!(" since cycle {}", machine.time_base().cycle(tick)));
        let _ = write!(line, "  {doing}{since}");
    }
    let mut lines = vec![line];
    for unit in &view.units {
        let busy = if unit.busy { "  busy" } else { "" };
        lines.push(format!(
            "    {}  owner {}  sharers {}{busy}",
            unit.range,
            optional(unit.owner, components),
            names(&unit.sharers, components)
        ));
    }
    lines
}
