//! Why a query over records can mean nothing on a machine: it has no part that makes such records, or what is compared never gets
//! there.

mod states;
mod occupancy;
#[cfg(test)]
mod tests;

use super::Filter;
use super::clause::{Clause, Meaning, Operand, Shared};
use super::number::{Comparison, Interval};
use super::operand::Named;
use super::tree::Tree;
use crate::config::machine::{CopyMode, GpuHome, GpuSpec, MachineSpec, Organisation, Topology};
use crate::machine::Machine;
use crate::model::component::{Component, ComponentId, ComponentKind, Components};
use crate::model::inspect::Inspect;
use crate::model::record::{FieldInfo, FieldType, KindInfo};
use crate::policy::lanes::LanePolicy;
use crate::policy::placement::Placement;

/// A machine as far as it decides which records there can be.
#[derive(Clone, Copy, Debug)]
pub struct Possible<'a> {
    machine: &'a Machine,
    spec: &'a MachineSpec,
    components: &'a Components,
    /// Whether some memory controller chooses among what waits, and tells of it.
    has_queues: bool,
}

/// What else must hold of the records that a part of a filter is about.
#[derive(Debug, Default)]
struct Scope<'t> {
    /// The kind that was named.
    kind: Option<&'static KindInfo>,
    /// Tests beside it.
    beside: Vec<&'t Clause>,
}

impl<'t> Scope<'t> {
    /// The same within parts that must all hold.
    fn within(&self, parts: &'t [Tree<Clause>]) -> Self {
        let test = |part: &'t Tree<Clause>| if let Tree::Test(test) = part { Some(test) } else { None };
        Self {
            kind: parts.iter().find_map(kind).or(self.kind),
            beside: self.beside.iter().copied().chain(parts.iter().filter_map(test)).collect(),
        }
    }

    /// Whether something is said of where they happen.
    fn is_placed(&self) -> bool {
        let is_place = |test: &&Clause| matches!(test, Clause::At(..) | Clause::Number(Shared::Gpu, ..));
        self.beside.iter().any(is_place)
    }

    /// Whether they may happen at a component.
    fn admits(&self, id: ComponentId, components: &Components) -> bool {
        self.beside.iter().all(|test| match test {
            Clause::At(how, named) => how.holds_for(named.contains(id, components)),
            Clause::Number(Shared::Gpu, how, with) => {
                let gpu = components.get(id).and_then(Component::gpu).map(u64::from);
                gpu.is_some_and(|gpu| how.holds(gpu, with.from, with.to))
            }
            _ => true,
        })
    }
}

impl<'a> Possible<'a> {
    #[must_use]
    pub fn on(machine: &'a Machine) -> Self {
        let components = machine.components();
        let has_queues = components.iter().any(|(id, _)| machine.memory(id).is_some());
        Self { machine, spec: machine.spec(), components, has_queues }
    }

    /// Why no record of this machine can be meant by a filter; nothing if one may.
    #[must_use]
    pub fn lacks(&self, filter: &Filter) -> Option<String> {
        self.tree(&filter.tree, &Scope::default())
    }

    /// What speaks against one: that it lacks something, or that an address stands where a page's number is meant.
    #[must_use]
    pub fn doubt(&self, filter: &Filter) -> Option<String> {
        self.lacks(filter).or_else(|| page(&filter.tree))
    }

    fn tree<'t>(&self, tree: &'t Tree<Clause>, scope: &Scope<'t>) -> Option<String> {
        match tree {
            Tree::Test(clause) => self.clause(clause, scope),
            Tree::Not(_) => None,
            Tree::All(parts) => {
                let scope = scope.within(parts);
                parts.iter().find_map(|part| self.tree(part, &scope))
            }
            Tree::Any(parts) => {
                let mut reasons = parts.iter().map(|part| self.tree(part, scope));
                let first = reasons.next()??;
                reasons.all(|reason| reason.is_some()).then_some(first)
            }
        }
    }

    fn clause(&self, clause: &Clause, scope: &Scope<'_>) -> Option<String> {
        match (clause, scope.kind) {
            (Clause::Kind(kind), _) => self.part(kind.name).map(str::to_owned),
            (Clause::Field { name: "value", .. }, _) if !self.machine.keeps_values() => {
                Some("the machine keeps no values (values)".to_owned())
            }
            (Clause::Field { name, comparison: Comparison::Is, values }, Some(kind))
                if values.iter().all(is_named) =>
            {
                let mut reasons = values.iter().map(|value| self.value((kind.name, *name), value, scope));
                let first = reasons.next()??;
                reasons.all(|reason| reason.is_some()).then_some(first)
            }
            (Clause::Field { name, comparison, values }, Some(kind)) => {
                let is_flag = |field: &FieldInfo| field.name == *name && field.is == FieldType::Flag;
                let flag = kind.fields.iter().any(is_flag).then_some((0, 1));
                let (least, most) = flag.or_else(|| self.bounds(kind.name, name, scope))?;
                let reach = |value: &Operand| reaches(value, *comparison, least, most);
                let told = if least == most { least.to_string() } else { format!("{least} to {most}") };
                (!values.iter().any(reach)).then(|| format!("{name} is {told} in {} records", kind.name))
            }
            (Clause::At(Comparison::Is, named), Some(kind)) => self.place(kind.name, named),
            (Clause::Link(..), Some(kind)) => {
                is_off_links(kind.name).then(|| format!("{} records are about no link", kind.name))
            }
            (Clause::Number(shared @ (Shared::Block | Shared::Page(_) | Shared::Txn), ..), Some(kind)) => {
                is_about_no_data(kind.name)
                    .then(|| format!("{} records are about no {}", kind.name, shared.name()))
            }
            _ => None,
        }
    }

    /// What the machine does not have without which there are no records of a kind.
    fn part(&self, kind: &str) -> Option<&'static str> {
        let gpu = self.spec.gpu.as_ref();
        let has = |part: fn(&GpuSpec) -> bool| gpu.is_some_and(part);
        let (is_there, what) = match kind {
            "hop" => {
                (self.spec.network.topology == Topology::Switch, "there is no switch (network.topology)")
            }
            "lane-reversal" if self.spec.network.balancer.is_some() => {
                (turns(self.spec), "lanes stay where they are (network.balancer.policy)")
            }
            "lane-reversal" | "lane-sample" | "saturation" => {
                (self.spec.network.balancer.is_some(), "no balancer watches the links (network.balancer)")
            }
            "way-repartition" | "way-sample" => {
                (has(is_partitioned), "no cache is partitioned (gpu.numa.l2)")
            }
            "remote-miss" => (
                has(|gpu| matches!(gpu.memory.home, GpuHome::Numa | GpuHome::Unified)),
                "no memory is shared between sockets, or with the host (gpu.memory.home)",
            ),
            "page-home" => (
                has(|gpu| gpu.numa.as_ref().is_some_and(|numa| numa.placement == Placement::FirstTouch)),
                "no page gets its home when it is touched (gpu.numa.placement)",
            ),
            "dram" | "activate" => {
                (self.has_queues, "no memory has a controller with a queue (gpu.memory.dram.scheduler)")
            }
            "tag" => (has(|gpu| gpu.tags.is_some()), "no memory has its tags in DRAM (gpu.tags)"),
            "far-fault" => (has(|gpu| gpu.paging.is_some()), "no memory is paged (gpu.paging)"),
            "page-move" => (
                has(|gpu| gpu.paging.is_some() || gpu.copies.is_some()),
                "no pages move (gpu.paging, gpu.copies)",
            ),
            "tlb" | "page-walk" => (
                has(|gpu| gpu.paging.is_some() || gpu.read_only.is_some()),
                "nothing is translated (gpu.paging)",
            ),
            "protection-fault" | "page-permission" | "speculation" => {
                (has(|gpu| gpu.read_only.is_some()), "no page is taken for read-only (gpu.read_only)")
            }
            "remote-directory" | "nack" => (
                has(|gpu| gpu.remote_directory.is_some()),
                "there is no remote directory (gpu.remote_directory)",
            ),
            _ => return None,
        };
        (!is_there).then_some(what)
    }

    /// Why a field of a kind of record never has a value that is a word or a state.
    fn value(&self, field: (&str, &str), value: &Operand, scope: &Scope<'_>) -> Option<String> {
        match value.meanings.as_slice() {
            [Meaning::Word(word)] => self.word(field, word).map(str::to_owned),
            [Meaning::State(state)] => self.state(field, *state, scope),
            _ => None,
        }
    }

    /// What the machine does not have without which a field of a kind of record is never this word.
    fn word(&self, (kind, field): (&str, &str), word: &str) -> Option<&'static str> {
        let gpu = self.spec.gpu.as_ref()?;
        let (paging, has_copies) = (gpu.paging.as_ref(), gpu.copies.is_some());
        let (is_there, what) = match (kind, field, word) {
            ("page-move", "change", "redundant") => (has_copies, "no data are copied in bulk (gpu.copies)"),
            ("page-move", "change", "copied") => (
                has_copies || paging.is_some_and(|paging| paging.copy != CopyMode::OnDemand),
                "no pages are copied before the work begins (gpu.paging.copy)",
            ),
            ("page-move", "change", "copied-back") if !has_copies => (
                paging.is_some_and(|paging| paging.copy_back),
                "no pages are copied back after the work (gpu.paging.copy_back)",
            ),
            (
                "page-move",
                "change",
                "demanded" | "prefetched" | "evicted" | "taken-back" | "copied-back" | "wasted" | "thrash"
                | "unused",
            ) => (!has_copies, "only bulk copies move pages (gpu.copies)"),
            _ => return None,
        };
        (!is_there).then_some(what)
    }

    /// From where to where a field of a kind of record goes, if the machine bounds it.
    fn bounds(&self, kind: &str, field: &str, scope: &Scope<'_>) -> Option<(u64, u64)> {
        if (kind, field) == ("mshr", "used") {
            return Some((0, self.most_mshrs(|id| scope.admits(id, self.components))?));
        }
        let gpu = self.spec.gpu.as_ref()?;
        let (l1, l2) = (u64::from(gpu.l1.ways), u64::from(gpu.l2.cache.ways));
        // Local and remote lines keep one way each.
        let of = |ways: u64| (1, ways.saturating_sub(1).max(1));
        let lanes = u64::from(self.spec.network.lanes);
        Some(match (kind, field) {
            ("way-repartition", "local" | "remote") => of(l1.max(l2)),
            ("way-sample", "remote") => of(l2),
            ("way-sample", "l1-remote") => of(l1),
            // A direction keeps its last lane.
            ("lane-reversal" | "lane-sample", "out-lanes" | "in-lanes") | ("saturation", "lanes") => {
                (1, (2 * lanes).saturating_sub(1).max(1))
            }
            ("lane-reversal" | "lane-sample", "out-use" | "in-use") | ("saturation", "use") => (0, 100),
            ("remote-miss", "home") if gpu.memory.home == GpuHome::Unified => (0, u64::from(gpu.count)),
            ("remote-miss" | "page-home", "home") => (0, u64::from(gpu.count).saturating_sub(1)),
            _ => return None,
        })
    }

    /// Why no record of a kind happens at one of these components.
    fn place(&self, kind: &str, named: &Named) -> Option<String> {
        if kind == "mshr" {
            return self.tag_entries(named);
        }
        if is_of_states(kind) {
            return self.stateless(named);
        }
        let places = places(kind)?;
        let is_meant = |place: &ComponentKind| {
            self.components
                .iter()
                .any(|(id, part)| part.kind == *place && named.contains(id, self.components))
        };
        if places.iter().any(is_meant) {
            return None;
        }
        let (_, there) = self.components.iter().find(|(_, part)| places.contains(&part.kind))?;
        Some(format!("{kind} records are of {} and its like", there.path))
    }
}

/// What is said of a page whose number looks like an address: as its pages are `size` bytes, it would be far behind that.
#[must_use]
pub fn like_an_address(page: u64, size: u64) -> Option<String> {
    let is_like = size > 1 && page >= size && page.is_multiple_of(size);
    is_like.then(|| {
        let (begin, own) = (page.saturating_mul(size), page / size);
        format!("page {page:#x} begins at {begin:#x}; the page of address {page:#x} is page {own:#x}")
    })
}

fn page(tree: &Tree<Clause>) -> Option<String> {
    match tree {
        Tree::Test(Clause::Number(Shared::Page(size), Comparison::Is, at)) => {
            let size = u64::from(size.0);
            like_an_address(at.from, size).or_else(|| like_an_address(at.to, size))
        }
        Tree::Test(_) | Tree::Not(_) => None,
        Tree::All(parts) | Tree::Any(parts) => parts.iter().find_map(page),
    }
}

/// Whether lanes may turn.
fn turns(spec: &MachineSpec) -> bool {
    spec.network.balancer.as_ref().is_some_and(|balancer| balancer.policy == LanePolicy::Dynamic)
}

fn is_partitioned(gpu: &GpuSpec) -> bool {
    gpu.count > 1 && gpu.numa.as_ref().is_some_and(|numa| numa.organisation == Organisation::Partitioned)
}

fn kind(tree: &Tree<Clause>) -> Option<&'static KindInfo> {
    match tree {
        Tree::Test(Clause::Kind(kind)) => Some(kind),
        _ => None,
    }
}

/// Whether a value means one word or state, and nothing else.
fn is_named(value: &Operand) -> bool {
    matches!(value.meanings.as_slice(), [Meaning::Word(_) | Meaning::State(_)])
}

/// Whether some number from `least` to `most` compares so with a value.
fn reaches(value: &Operand, how: Comparison, least: u64, most: u64) -> bool {
    value.meanings.iter().any(|meaning| match meaning {
        Meaning::Number(Interval { from, to }) => match how {
            Comparison::Is => *from <= most && least <= *to,
            Comparison::IsNot => least < *from || *to < most,
            Comparison::Less | Comparison::AtMost => how.holds(least, *from, *to),
            Comparison::More | Comparison::AtLeast => how.holds(most, *from, *to),
        },
        _ => true,
    })
}

/// Where records of a kind happen, if that is at components of a few kinds only.
fn places(kind: &str) -> Option<&'static [ComponentKind]> {
    Some(match kind {
        "hop" | "lane-reversal" | "lane-sample" | "saturation" => &[ComponentKind::Link],
        "way-repartition" => &[ComponentKind::L1, ComponentKind::L2],
        "way-sample" => &[ComponentKind::L2],
        "remote-directory" | "nack" | "tag" => &[ComponentKind::Memory],
        _ => return None,
    })
}

/// Whether records of a kind tell the state of a block.
fn is_of_states(kind: &str) -> bool {
    matches!(kind, "transition" | "hit" | "evict")
}

fn is_off_links(kind: &str) -> bool {
    matches!(
        kind,
        "way-repartition"
            | "way-sample"
            | "remote-miss"
            | "transition"
            | "hit"
            | "directory"
            | "mshr"
            | "merge"
            | "evict"
            | "warp"
            | "kernel"
            | "tag"
            | "nack"
            | "remote-directory"
    )
}

fn is_about_no_data(kind: &str) -> bool {
    matches!(
        kind,
        "way-repartition"
            | "way-sample"
            | "lane-reversal"
            | "lane-sample"
            | "saturation"
            | "kernel"
            | "speculation"
    )
}
