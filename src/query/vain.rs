//! Why a query over records can mean nothing on a machine: it has no part that makes such records, or what is compared never gets
//! there.

use super::Filter;
use super::clause::{Clause, Meaning, Operand, Shared};
use super::number::{Comparison, Interval};
use super::operand::Named;
use super::tree::Tree;
use crate::config::machine::{GpuHome, GpuSpec, MachineSpec, Organisation};
use crate::machine::Machine;
use crate::model::component::{ComponentKind, Components};
use crate::model::inspect::Inspect;
use crate::model::record::{FieldInfo, FieldType, KindInfo};

/// A machine as far as it decides which records there can be.
#[derive(Clone, Copy, Debug)]
pub struct Possible<'a> {
    spec: &'a MachineSpec,
    components: &'a Components,
    /// Whether some memory controller chooses among what waits, and tells of it.
    has_queues: bool,
}

/// The kind of record that was named before.
type Scope = Option<&'static KindInfo>;

impl<'a> Possible<'a> {
    #[must_use]
    pub fn on(machine: &'a Machine) -> Self {
        let components = machine.components();
        let has_queues = components.iter().any(|(id, _)| machine.memory(id).is_some());
        Self { spec: machine.spec(), components, has_queues }
    }

    /// Why no record of this machine can be meant by a filter; nothing if one may.
    #[must_use]
    pub fn lacks(&self, filter: &Filter) -> Option<String> {
        self.tree(&filter.tree, None)
    }

    /// What speaks against one: that it lacks something, or that an address stands where a page's number is meant.
    #[must_use]
    pub fn doubt(&self, filter: &Filter) -> Option<String> {
        self.lacks(filter).or_else(|| page(&filter.tree))
    }

    fn tree(&self, tree: &Tree<Clause>, scope: Scope) -> Option<String> {
        match tree {
            Tree::Test(clause) => self.clause(clause, scope),
            Tree::Not(_) => None,
            Tree::All(parts) => {
                let scope = parts.iter().find_map(kind).or(scope);
                parts.iter().find_map(|part| self.tree(part, scope))
            }
            Tree::Any(parts) => {
                let mut reasons = parts.iter().map(|part| self.tree(part, scope));
                let first = reasons.next()??;
                reasons.all(|reason| reason.is_some()).then_some(first)
            }
        }
    }

    fn clause(&self, clause: &Clause, scope: Scope) -> Option<String> {
        match (clause, scope) {
            (Clause::Kind(kind), _) => self.part(kind.name).map(str::to_owned),
            (Clause::Field { name, comparison, values }, Some(kind)) => {
                let is_flag = |field: &FieldInfo| field.name == *name && field.is == FieldType::Flag;
                let flag = kind.fields.iter().any(is_flag).then_some((0, 1));
                let (least, most) = flag.or_else(|| self.bounds(kind.name, name))?;
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
                has(|gpu| gpu.memory.home == GpuHome::Numa),
                "no memory is shared between sockets (gpu.memory.home)",
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

    /// From where to where a field of a kind of record goes, if the machine bounds it.
    fn bounds(&self, kind: &str, field: &str) -> Option<(u64, u64)> {
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

impl Possible<'_> {
    /// That what is meant has its misses in a tag miss handler, which tells of them otherwise.
    fn tag_entries(&self, named: &Named) -> Option<String> {
        self.spec.gpu.as_ref()?.tags.as_ref()?;
        let mut meant =
            self.components.iter().filter(|(id, _)| named.contains(*id, self.components)).peekable();
        let (_, first) = meant.peek()?;
        let path = first.path.clone();
        let is_memory = meant.all(|(_, part)| part.kind == ComponentKind::Memory);
        is_memory.then(|| format!("tag records tell of the entries of {path} and its like"))
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

fn is_partitioned(gpu: &GpuSpec) -> bool {
    gpu.numa.as_ref().is_some_and(|numa| numa.organisation == Organisation::Partitioned)
}

fn kind(tree: &Tree<Clause>) -> Scope {
    match tree {
        Tree::Test(Clause::Kind(kind)) => Some(kind),
        _ => None,
    }
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
        "lane-reversal" | "lane-sample" | "saturation" => &[ComponentKind::Link],
        "way-repartition" => &[ComponentKind::L1, ComponentKind::L2],
        "way-sample" => &[ComponentKind::L2],
        "remote-directory" | "nack" | "tag" => &[ComponentKind::Memory],
        _ => return None,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::sample::bundled;
    use crate::query::{Context, Text};

    fn why(machine: &Machine, query: &str) -> Option<String> {
        let context = Context::of(machine);
        let filter = Filter::compile(&Text::new("test", query), &context);
        Possible::on(machine).doubt(&filter.unwrap_or_else(|error| panic!("{query}: {error}")))
    }

    #[test]
    fn what_never_happens_is_told_with_its_reason() {
        let set = [
            "gpu.numa.l2=partitioned",
            "gpu.l2.ways=4",
            "network.balancer.policy=dynamic",
            "network.lanes=8",
        ];
        let machine = bundled("tiny/numa-2socket", &set);
        for (query, wanted) in [
            ("way-repartition remote > 300", "remote is 1 to 3 in way-repartition records"),
            ("way-repartition remote 4", "remote is 1 to 3"),
            ("way-repartition local < 1", "local is 1 to 3"),
            ("lane-reversal out-lanes > 15", "out-lanes is 1 to 15"),
            ("saturation use > 100", "use is 0 to 100"),
            ("saturation saturated 2", "saturated is 0 to 1"),
            ("remote-miss home 2", "home is 0 to 1"),
            ("way-repartition at link.*", "way-repartition records are of gpu0.cu0.l1 and its like"),
            ("way-repartition link link.*", "way-repartition records are about no link"),
            ("lane-sample block 0x1000", "lane-sample records are about no block"),
            ("tag or way-sample step keep remote 9", "no memory has its tags in DRAM"),
            ("dram tags", "no memory has a controller with a queue"),
            ("transition page 0x3000", "the page of address 0x3000 is page 0x3"),
            ("transition page 0x2000..0x4fff", "the page of address 0x2000 is page 0x2"),
        ] {
            let told = why(&machine, query).unwrap_or_else(|| panic!("{query} is said to be possible"));
            assert!(told.contains(wanted), "{query}: {told}");
        }
        for query in [
            "way-repartition remote 3",
            "way-repartition remote >= 3 or tag",
            "way-repartition remote is not 1",
            "way-repartition at gpu1",
            "lane-reversal at link.* out-lanes 15",
            "saturation saturated",
            "not tag",
            "transition link link.* or message link link.*",
            "transition page 0x3",
            "transition page 0x3..0x8",
        ] {
            assert_eq!(why(&machine, query), None, "{query}");
        }
        let tagged = bundled("tiny/scalegpu", &[]);
        assert_eq!(why(&tagged, "dram tags or mshr at gpu0.l2.0"), None);
        let told = why(&tagged, "mshr at gpu0.memory.0").unwrap_or_default();
        assert!(told.contains("tag records tell of the entries of gpu0.memory.0"), "{told}");
    }
}
