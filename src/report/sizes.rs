//! What the caches and directories of a machine have to store: alike ones together, as text and as JSON.

use serde_json::{Value, json};

use super::number::{bytes, grouped};
use crate::machine::{Machine, Storage};
use crate::model::inspect::Inspect;

/// Caches or directories of one kind that are alike.
struct Alike {
    kind: &'static str,
    paths: Vec<String>,
    of_each: Storage,
}

/// In the order of the machine's components.
fn alike(machine: &Machine) -> Vec<Alike> {
    let mut all: Vec<Alike> = Vec::new();
    for size in machine.sizes() {
        let Some(component) = machine.components().get(size.component) else { continue };
        let kind = component.kind.name();
        let path = component.path.clone();
        let same = |other: &&mut Alike| {
            other.kind == kind && Storage { component: size.component, ..other.of_each } == size
        };
        match all.iter_mut().find(same) {
            Some(known) => known.paths.push(path),
            None => all.push(Alike { kind, paths: vec![path], of_each: size }),
        }
    }
    all
}

/// A paragraph for each group.
#[must_use]
pub fn lines(machine: &Machine) -> Vec<String> {
    let mut lines = Vec::new();
    for group in alike(machine) {
        let size = &group.of_each;
        let paths = match group.paths.as_slice() {
            [first, .., last] => format!("{} of them, {first} to {last}", group.paths.len()),
            paths => paths.concat(),
        };
        lines.push(format!("{} ({paths})", group.kind));
        lines.push(format!(
            "  entries             {} of {} B, {} of data",
            grouped(size.entries),
            size.block,
            bytes(size.data_bytes() as f64)
        ));
        let parts = [
            ("tag", size.tag),
            ("state", size.state),
            ("owner", size.owner),
            ("sharers", size.sharers),
            ("sub-blocks", size.sub_block),
        ];
        let parts: Vec<_> =
            parts.iter().filter(|(_, bits)| *bits > 0).map(|(name, bits)| format!("{name} {bits}")).collect();
        if !parts.is_empty() {
            lines.push(format!("  bits an entry       {} = {}", size.directory_bits(), parts.join(" + ")));
        }
        if size.sharers > 0 {
            lines.push(format!("  children            {}, a sharer's bit each", size.children));
        }
        let total = |one: u64, overhead: f64| {
            format!("{} each, {:.3} % of the data", bytes(one as f64), overhead * 100.0)
        };
        lines.push(format!(
            "  directory           {}",
            total(size.directory_bytes(), size.directory_overhead())
        ));
        if let Some(filter) = size.filter {
            lines.push(format!(
                "  remote directory    {} each, a filter of lines that the CPU may have",
                bytes(filter as f64)
            ));
        }
        lines.push(format!("  byte mask           {}", total(size.mask_bytes(), size.mask_overhead())));
    }
    lines
}

/// An object for each group.
#[must_use]
pub fn json(machine: &Machine) -> Value {
    let groups = alike(machine).into_iter().map(|group| {
        let size = &group.of_each;
        json!({
            "kind": group.kind,
            "components": group.paths,
            "entries": size.entries,
            "block_bytes": size.block,
            "data_bytes": size.data_bytes(),
            "children": size.children,
            "sub_blocks": size.sub_blocks,
            "tag_bits": size.tag,
            "state_bits": size.state,
            "owner_bits": size.owner,
            "sharer_bits": size.sharers,
            "sub_block_bits": size.sub_block,
            "directory_bits": size.directory_bits(),
            "directory_bytes": size.directory_bytes(),
            "directory_overhead": size.directory_overhead(),
            "remote_directory_bytes": size.filter,
            "mask_bits": size.mask,
            "mask_bytes": size.mask_bytes(),
            "mask_overhead": size.mask_overhead(),
        })
    });
    groups.collect()
}
