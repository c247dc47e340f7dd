//! Where the cycles of an access went: from its end back to its issue, and to when its warp began to wait for a translation,
//! what it waited for last at each moment.

mod spent;
mod trail;

use std::sync::Arc;

use crate::model::address::Range;
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::message::{Message, TxnNumber};
use crate::model::record::Record;
use crate::model::warp::WarpState;

pub use spent::{Place, Spent, Sum, Waits};
pub use trail::Trail;

/// An access from when its warp began to wait for its translation, or its issue, to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The records of its issue and its end.
    pub issue: Record,
    pub complete: Record,
    /// Without a gap from the one to the other.
    pub legs: Vec<Leg>,
}

/// A time in which an access waited for one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The cycle at which that began, and for how many it lasted.
    pub since: u64,
    pub cycles: u64,
    pub at: ComponentId,
    pub what: Awaited,
}

/// What an access waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A message on its way: to the switch, or else to its receiver; perhaps only from the switch on.
    Message { message: Arc<Message>, part: Part },
    /// A message before its link, or the second one behind a switch: it is busy, or has no room at its other end.
    Link { message: Arc<Message>, second: bool },
    /// The receiver of a message looks its tag up, or begins with what it answers or takes.
    LookUp,
    /// A message stands before its receiver, which has no port free for it, or is full.
    Queued { message: Arc<Message> },
    /// The memory behind the sender of a message reads what that carries.
    Memory,
    /// Its turn at a node, which came with the end of something else: of this transaction, if of one; so many others were
    /// served before it.
    Turn { other: Option<TxnNumber>, why: Turn, passed: u64 },
    /// Its warp, before the issue: for a translation, or for its turn to issue.
    Warp(WarpState),
    /// The page of its address, before the issue: for the driver to take the far-fault up, or, then, for its arrival.
    Page { page: Range, is_moving: bool },
}

/// Why an access has to wait for its turn at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It has joined a miss that is under way there.
    Joined,
    /// There is no free MSHR, or no way of the set.
    Mshr,
    Way,
    /// The remote directory is full: the CPU's caches are flushed first.
    Purge,
    /// Its block is busy.
    Block,
}

/// A part of the way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    ToSwitch,
    FromSwitch,
}

/// Sorts of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    Translation,
    FarFault,
    ProtectionFault,
    TlbBlocked,
    Issue,
    Links,
    LinkQueues,
    Chip,
    LookUps,
    InputQueues,
    Memory,
    Joined,
    Mshrs,
    Ways,
    Turns,
}

impl Sort {
    pub const ALL: [Self; 15] = [
        Self::Translation,
        Self::FarFault,
        Self::ProtectionFault,
        Self::TlbBlocked,
        Self::Issue,
        Self::Links,
        Self::LinkQueues,
        Self::Chip,
        Self::LookUps,
        Self::InputQueues,
        Self::Memory,
        Self::Joined,
        Self::Mshrs,
        Self::Ways,
        Self::Turns,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::FarFault => "far-fault",
            Self::ProtectionFault => "protection-fault",
            Self::TlbBlocked => "tlb-blocked",
            Self::Issue => "issue",
            Self::Links => "on links",
            Self::LinkQueues => "waiting for links",
            Self::Chip => "on chip",
            Self::LookUps => "look-ups",
            Self::InputQueues => "in input queues",
            Self::Memory => "memory",
            Self::Joined => "in joined misses",
            Self::Mshrs => "waiting for MSHRs",
            Self::Ways => "waiting for ways",
            Self::Turns => "waiting for its turn",
        }
    }
}

impl Latency {
    /// The cycle at which its warp began to wait for it.
    #[must_use]
    pub fn began(&self) -> u64 {
        self.legs.first().map_or(self.issue.cycle, |leg| leg.since.min(self.issue.cycle))
    }

    /// The cycle at which what it wanted is there.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.legs.last().map_or(0, |leg| leg.since + leg.cycles).max(self.complete.cycle)
    }

    /// Cycles from the one to the other.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.ended().saturating_sub(self.began())
    }

    /// Whether it was a hit, which is told as it is issued, and has waited for nothing before that either.
    #[must_use]
    pub fn is_hit(&self) -> bool {
        self.legs.is_empty() && self.complete.id.event == self.issue.id.event
    }
}

impl Leg {
    #[must_use]
    pub fn sort(&self, components: &Components) -> Sort {
        match &self.what {
            Awaited::Memory => Sort::Memory,
            // What keeps no tags: its latency is that of the DRAM.
            Awaited::LookUp if components.get(self.at).is_some_and(|at| at.kind == ComponentKind::Memory) => {
                Sort::Memory
            }
            Awaited::LookUp => Sort::LookUps,
            Awaited::Queued { .. } => Sort::InputQueues,
            Awaited::Turn { why: Turn::Joined, .. } => Sort::Joined,
            Awaited::Turn { why: Turn::Mshr, .. } | Awaited::Warp(WarpState::MshrFull) => Sort::Mshrs,
            Awaited::Turn { why: Turn::Way, .. } => Sort::Ways,
            Awaited::Turn { why: Turn::Purge | Turn::Block, .. } => Sort::Turns,
            Awaited::Page { .. } | Awaited::Warp(WarpState::FarFault) => Sort::FarFault,
            Awaited::Warp(WarpState::ProtectionFault) => Sort::ProtectionFault,
            Awaited::Warp(WarpState::TlbBlocked) => Sort::TlbBlocked,
            Awaited::Warp(WarpState::Translation) => Sort::Translation,
            Awaited::Link { .. } | Awaited::Warp(WarpState::LinkFull) => Sort::LinkQueues,
            Awaited::Warp(_) => Sort::Issue,
            Awaited::Message { .. } if self.links(components).is_empty() => Sort::Chip,
            Awaited::Message { .. } => Sort::Links,
        }
    }

    /// The links of the network that it is about: those that its message goes over meanwhile, or waits for.
    #[must_use]
    pub fn links<'a>(&self, components: &'a Components) -> &'a [ComponentId] {
        let (message, part) = match &self.what {
            Awaited::Message { message, part } => (message, *part),
            Awaited::Link { message, second: false } => (message, Part::ToSwitch),
            Awaited::Link { message, second: true } => (message, Part::FromSwitch),
            _ => return &[],
        };
        let links = components.links_between(message.from, message.to);
        match part {
            Part::Whole => links,
            Part::ToSwitch => links.get(..1).unwrap_or_default(),
            Part::FromSwitch => links.get(1..).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::StepOutcome;
    use crate::machine::sample::{performing, program};
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::inspect::Inspect;
    use crate::model::record::{Records, What};

    fn latencies(machine: &str, work: Vec<crate::workload::Task>) -> Vec<(Latency, Components)> {
        latencies_with(machine, &[], work)
    }

    fn latencies_with(
        machine: &str,
        changes: &[&str],
        work: Vec<crate::workload::Task>,
    ) -> Vec<(Latency, Components)> {
        let mut machine = performing(machine, changes, work);
        let mut trail = Trail::new(machine.time_base()).counting_others();
        let (mut records, mut all, mut ended) = (Records::listening(), Vec::new(), 0);
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in &records.list {
                ended += usize::from(matches!(record.what, What::Complete { .. }));
                let latency = trail.note(record, machine.components());
                all.extend(latency.map(|latency| (latency, machine.components().clone())));
            }
        }
        assert_eq!(all.len(), ended);
        all
    }

    #[test]
    fn the_legs_are_all_of_the_time() {
        let units = ["gpu0.cu0", "gpu0.cu1", "gpu1.cu0", "host.cpu0"];
        let (mut turns, mut links, mut memories, mut pages) = (0, 0, 0, 0);
        for machine in ["tiny/umh-2gpu", "tiny/umh-2gpu-nvlink", "tiny/paged-1gpu", "tiny/scalegpu"] {
            let addresses = [0x1000, 0x1040, 0x2000, 0x3000, 0x4000, 0x1000];
            let here = units.iter().filter(|unit| !unit.starts_with("gpu1") || machine.contains("2gpu"));
            let work = here.flat_map(|unit| [Store, Load].map(|kind| program(unit, kind, &addresses)));
            let found = latencies(machine, work.collect());
            assert!(found.len() > 30, "{machine}");
            for (latency, _) in &found {
                let mut cycle = latency.began();
                for leg in &latency.legs {
                    assert_eq!(leg.since, cycle, "{machine}: {latency:?}");
                    cycle += leg.cycles;
                }
                assert_eq!(cycle, latency.complete.cycle, "{machine}");
            }
            for leg in found.iter().flat_map(|(latency, _)| &latency.legs) {
                match leg.what {
                    Awaited::Turn { other: Some(_), .. } => turns += 1,
                    Awaited::Link { .. } => links += 1,
                    Awaited::Memory => memories += 1,
                    Awaited::Page { .. } => pages += 1,
                    _ => {}
                }
            }
            assert!(memories > 0, "{machine}");
        }
        assert!(turns > 10 && links > 3 && pages > 2, "{turns} {links} {pages}");
    }

    #[test]
    fn a_miss_that_was_joined_is_taken_apart_into_what_it_waited_for() {
        let first = program("gpu0.cu0", Load, &[0x1000]);
        let second = program("gpu0.cu1", Load, &[0x1000]);
        let mut machine = performing("tiny/umh-1gpu", &[], vec![first, second]);
        let mut records = Records::listening();
        let mut trails = [Trail::new(machine.time_base()), Trail::new(machine.time_base()).taking_apart()];
        let mut found = [Vec::new(), Vec::new()];
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in &records.list {
                for (trail, found) in trails.iter_mut().zip(&mut found) {
                    found.extend(trail.note(record, machine.components()));
                }
            }
        }
        let joined = |latency: &Latency| {
            let own = latency.legs.iter().filter(|leg| leg.sort(machine.components()) == Sort::Joined);
            own.map(|leg| leg.cycles).sum::<u64>()
        };
        let [whole, apart] = found.map(|mut found| found.pop().unwrap());
        assert_eq!(apart.cycles(), whole.cycles());
        // What is left is the time after the first had ended, until its acknowledgement.
        assert!(joined(&whole) > 800 && joined(&apart) < 50, "{} {}", joined(&whole), joined(&apart));
        let mut cycle = apart.began();
        for leg in &apart.legs {
            assert_eq!(leg.since, cycle);
            cycle += leg.cycles;
        }
        assert_eq!(cycle, apart.complete.cycle);
        assert!(apart.legs.iter().any(|leg| matches!(leg.what, Awaited::Memory)));
    }

    /// Of the first access that is found, the cycles of each sort at a component.
    fn cycles_at(found: &[(Latency, Components)], path: &str) -> Vec<(Sort, u64)> {
        let of_one = |(latency, components): &(Latency, Components)| {
            let own = latency.legs.iter().filter(|leg| components.path(leg.at) == path);
            own.map(|leg| (leg.sort(components), leg.cycles)).collect::<Vec<_>>()
        };
        found.first().map(of_one).unwrap_or_default()
    }

    #[test]
    fn a_look_up_is_told_apart_from_the_way_there() {
        let work = || vec![program("gpu0.cu0", Load, &[0x1000])];
        let at_l2 = |latency: &str, path: &str| {
            let changes = [&*format!("gpu.l2.latency={latency}"), "gpu.l2.fill=1"];
            cycles_at(&latencies_with("tiny/umh-2gpu", &changes, work()), path)
        };
        let (short, long) = (at_l2("1", "gpu0.l2.0"), at_l2("51", "gpu0.l2.0"));
        assert!(short.iter().all(|(sort, _)| *sort != Sort::LookUps), "{short:?}");
        let looked_up: Vec<_> = long.iter().filter(|(sort, _)| *sort == Sort::LookUps).collect();
        assert_eq!(looked_up, [&(Sort::LookUps, 51)], "{long:?}");
        // The way is a cycle shorter without a look-up that takes one.
        let way = |legs: &[(Sort, u64)]| legs.iter().map(|(_, cycles)| cycles).sum::<u64>();
        assert_eq!(way(&long) - 51, way(&short) - 1, "{long:?} {short:?}");
    }

    #[test]
    fn what_a_receiver_cannot_take_yet_stands_in_its_input_queue() {
        // All come to the L2 together, and it takes one message in a cycle.
        let queued = |ports: &str| {
            let changes = ["gpu.cu.outstanding=4", ports];
            let work = ["gpu0.cu0", "gpu0.cu1"].map(|unit| program(unit, Load, &[0x1000, 0x2000, 0x3000]));
            let found = latencies_with("tiny/umh-2gpu", &changes, work.into());
            let legs =
                found.iter().flat_map(|(latency, parts)| latency.legs.iter().map(move |leg| (leg, parts)));
            let own = legs.filter(|(leg, parts)| leg.sort(parts) == Sort::InputQueues);
            own.map(|(leg, _)| leg.cycles).sum::<u64>()
        };
        let (one, many) = (queued("gpu.l2.ports=1"), queued("gpu.l2.ports=16"));
        assert!(one > many, "{one} {many}");
    }

    #[test]
    fn a_tag_miss_that_was_joined_is_one() {
        let work = ["gpu0.cu0", "gpu0.cu1"].map(|unit| program(unit, Load, &[0x10000]));
        let found = latencies("tiny/scalegpu", work.into());
        let sorts = |(latency, components): &(Latency, Components)| {
            let long = latency.legs.iter().max_by_key(|leg| leg.cycles).unwrap();
            long.sort(components)
        };
        let sorts: Vec<_> = found.iter().map(sorts).collect();
        assert!(sorts.contains(&Sort::Joined) && !sorts.contains(&Sort::Turns), "{sorts:?}");
    }

    #[test]
    fn a_wait_before_an_access_is_charged_to_the_page_that_was_waited_for() {
        // Both are on their way at once, by one driver's set after the other's.
        let changes = ["gpu.cu.outstanding=2", "gpu.paging.transfer_set=1"];
        let work = vec![program("gpu0.cu0", Load, &[0x1000, 0x2000])];
        let found = latencies_with("tiny/paged-1gpu", &changes, work);
        let pages = |latency: &Latency| {
            let page = |leg: &Leg| match leg.what {
                Awaited::Page { page, .. } => Some(page.start.0),
                _ => None,
            };
            latency.legs.iter().filter_map(page).collect::<Vec<_>>()
        };
        let [(first, _), (second, _)] = &found[..] else { panic!("{found:?}") };
        assert!(pages(first).iter().all(|page| *page == 0x1000), "{first:?}");
        // It had waited for the first one's page for most of the time.
        assert!([0x1000, 0x2000].iter().all(|page| pages(second).contains(page)), "{second:?}");
    }

    /// What has its page may still find no MSHR in its L1.
    #[test]
    fn a_page_that_was_waited_for_counts_where_the_mshrs_are_full_then() {
        let work = || vec![program("gpu0.cu0", Load, &[0x1000]), program("gpu0.cu0", Load, &[0x1040])];
        let waits = |mshrs: &str| {
            let found = latencies_with("tiny/paged-1gpu", &[&format!("gpu.l1.mshrs={mshrs}")], work());
            let of = |wanted: Sort| {
                let legs = found
                    .iter()
                    .flat_map(|(latency, parts)| latency.legs.iter().map(move |leg| (leg, parts)));
                legs.filter(|(leg, parts)| leg.sort(parts) == wanted).map(|(leg, _)| leg.cycles).sum::<u64>()
            };
            (found.len(), of(Sort::FarFault), of(Sort::Mshrs))
        };
        let (few, many) = (waits("1"), waits("2"));
        assert_eq!((few.0, many.0, many.2), (2, 2, 0));
        assert!(few.1 == many.1 && few.2 > 50, "{few:?} {many:?}");
    }

    #[test]
    fn what_is_last_is_what_is_waited_for() {
        let first = program("gpu0.cu0", Store, &[0x1000]);
        let second = crate::workload::Task { after: vec![0], ..program("gpu1.cu0", Load, &[0x1000]) };
        let found = latencies("tiny/umh-2gpu", vec![first, second]);
        let (latency, components) = found.last().unwrap();
        let way = latency.legs.iter().map(|leg| match &leg.what {
            Awaited::Message { message, .. } => {
                format!("{} {}", message.kind.name(), components.path(leg.at))
            }
            Awaited::Memory => format!("memory {}", components.path(leg.at)),
            other => format!("{other:?}"),
        });
        let way: Vec<_> = way.filter(|leg| leg != "LookUp").collect();
        // Down to the HMD, up to the owner and back, and the grants.
        let expected = ["read gpu1.l2.0", "read gpu1.smd0", "read host.hmd0", "probe-read gpu0.smd0"];
        assert_eq!(way.get(..4), Some(&expected.map(str::to_owned)[..]), "{way:?}");
        assert_eq!(way.last().map(String::as_str), Some("grant gpu1.cu0.l1"), "{way:?}");
    }
}
