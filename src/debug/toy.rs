//! A small deterministic machine for the debugger's own tests: no memory system, but records, time and an end.

use std::sync::Arc;

use super::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::machine::{Machine, Planned, StepOutcome, TaskView, TaskWork, Violation};
use crate::model::access::{AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::inspect::{AgentView, BlockView, CacheView, CellCount, Inspect, MshrView, TransactionView};
use crate::model::link_view::LinkView;
use crate::model::message::TxnNumber;
use crate::model::record::{Record, RecordId, Records, What};
use crate::model::state::{Action, State};
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::model::wait::WaitLink;
use crate::protocol::node::Role;
use crate::protocol::table::Table;

/// Two L1s whose blocks wander through the states; every eighth event issues a transaction that ends twelve later.
#[derive(Clone, Debug)]
pub struct Toy {
    components: Arc<Components>,
    event: EventNumber,
    tick: Tick,
    random: u64,
    states: [State; 2],
    last: EventNumber,
    /// The event at which a check fails.
    fails_at: Option<EventNumber>,
    violation: Option<Violation>,
    /// What it works on was lost.
    is_void: bool,
}

const LETTERS: &[u8] = b"NMOESI";

impl Toy {
    /// A toy whose last event is `last`.
    pub fn new(last: EventNumber) -> Self {
        let mut components = Components::default();
        for gpu in 0..2 {
            let cu = components.add(format!("gpu{gpu}.cu0"), ComponentKind::Cu);
            let l1 = components.add(format!("gpu{gpu}.cu0.l1"), ComponentKind::L1);
            components.connect(cu, l1);
        }
        Self {
            components: Arc::new(components),
            event: 0,
            tick: 0,
            random: 1,
            states: [State::I; 2],
            last,
            fails_at: None,
            violation: None,
            is_void: false,
        }
    }

    /// A toy that fails a check at one event.
    pub fn flawed(last: EventNumber, fails_at: EventNumber) -> Box<dyn Subject> {
        Box::new(Self { fails_at: Some(fails_at), ..Self::new(last) })
    }

    /// A toy whose events cannot be trusted.
    pub fn void(last: EventNumber) -> Box<dyn Subject> {
        Box::new(Self { is_void: true, ..Self::new(last) })
    }

    pub fn boxed(last: EventNumber) -> Box<dyn Subject> {
        Box::new(Self::new(last))
    }

    fn record(&self, records: &mut Records, at: u32, txn: Option<u64>, what: What) {
        if records.on {
            let ordinal = records.list.len() as u32;
            records.list.push(Record {
                id: RecordId { event: self.event, ordinal },
                tick: self.tick,
                cycle: self.tick / 4,
                at: ComponentId(at),
                because: self.event.checked_sub(3).filter(|cause| *cause > 0),
                txn: txn.map(TxnNumber),
                range: Some(Range::new(Address(0x1000), 64)),
                what,
            });
        }
    }
}

impl Subject for Toy {
    fn step(&mut self, records: &mut Records) -> StepOutcome {
        records.list.clear();
        if self.event >= self.last {
            return StepOutcome::Finished;
        }
        self.event += 1;
        if self.fails_at == Some(self.event) {
            self.violation = Some(Violation { event: self.event, rule: "toy", text: "it broke".into() });
        }
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let dice = self.random >> 33;
        self.tick += dice % 4;
        let (which, to) = ((dice >> 4) as usize % 2, State(LETTERS[(dice >> 8) as usize % LETTERS.len()]));
        let from = std::mem::replace(&mut self.states[which], to);
        self.record(records, which as u32 * 2 + 1, None, What::Transition { from, to, action: Action::Load });
        let (kind, warp, bytes) = (AccessKind::Load, 0, Bytes::new());
        if self.event % 8 == 1 {
            self.record(records, 0, Some(self.event / 8 + 1), What::Issue { kind, warp, bytes });
        } else if self.event % 8 == 5 && self.event > 8 {
            let what = What::Complete { kind, warp, bytes, latency: 12 };
            self.record(records, 0, Some(self.event / 8), what);
        }
        StepOutcome::Ran
    }
    fn digest(&self) -> u64 {
        self.random ^ self.tick.rotate_left(20) ^ self.event.rotate_left(40) ^ u64::from(self.states[0].0)
    }
    fn footprint(&self) -> usize {
        100
    }
    fn plan(&mut self, _: Arc<[Planned]>) {}
    fn fork(&self) -> Box<dyn Subject> {
        Box::new(self.clone())
    }
    fn tasks(&self) -> Vec<TaskView> {
        vec![TaskView {
            id: "toy".into(),
            work: TaskWork::Access,
            started: Some(0),
            ended: None,
            result: None,
            flushing: 0,
        }]
    }
    fn table(&self, _node: ComponentId) -> Option<&Arc<Table>> {
        None
    }
    fn role(&self, _node: ComponentId) -> Option<Role> {
        None
    }
    fn violations(&self) -> &[Violation] {
        self.violation.as_slice()
    }
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.is_void.then(|| Box::new(Diagnostic::new("the trace was lost")))
    }
    fn probes(&self) -> u64 {
        self.event / 10
    }
    fn launches(&self) -> &[EventNumber] {
        &[]
    }
    fn rearranged(&self) -> [Vec<EventNumber>; 2] {
        Default::default()
    }
    fn struck(&self) -> &[EventNumber] {
        &[]
    }
    fn machine(&self) -> Option<&Machine> {
        None
    }
}

impl crate::query::Subject for Toy {
    fn task_view(&self, _id: &str) -> Option<TaskView> {
        None
    }
}

impl Inspect for Toy {
    fn components(&self) -> &Components {
        &self.components
    }
    fn time_base(&self) -> TimeBase {
        TimeBase { ticks_per_second: 4_000_000_000, ticks_per_cycle: 4 }
    }
    fn event(&self) -> EventNumber {
        self.event
    }
    fn tick(&self) -> Tick {
        self.tick
    }
    fn block(&self, node: ComponentId, address: Address) -> Option<BlockView> {
        let state = *self.states.get(node.index().checked_sub(1)? / 2)?;
        (node.index() % 2 == 1 && address.block(64) == Address(0x1000)).then(|| BlockView {
            node,
            range: Range::block(address, 64),
            state: Some(state),
            target: None,
            doing: None,
            since: None,
            units: Vec::new(),
            dirty: None,
            here: None,
            granule: 1,
            bytes: None,
            remote_claim: None,
            place: Some((0, 0)),
            displaced: false,
        })
    }
    fn blocks(&self, limit: usize) -> Vec<Address> {
        [Address(0x1000)].into_iter().take(limit).collect()
    }
    fn keeps_values(&self) -> bool {
        true
    }
    fn value(&self, _node: ComponentId, _address: Address, _len: u32) -> Option<Vec<u8>> {
        None
    }
    fn mshrs(&self, _node: ComponentId, _entries: usize) -> Option<MshrView> {
        None
    }
    fn link(&self, _link: ComponentId, _packets: usize) -> Option<LinkView> {
        None
    }
    fn agent(&self, _agent: ComponentId) -> Option<AgentView> {
        None
    }
    fn cache(&self, _node: ComponentId, _sets: u32) -> Option<CacheView> {
        None
    }
    fn transactions(&self, _limit: usize, _chained: usize) -> Vec<TransactionView> {
        let newest = self.event.div_ceil(8);
        (newest.saturating_sub(2)..=newest).filter_map(|number| self.transaction(TxnNumber(number))).collect()
    }
    fn transaction(&self, number: TxnNumber) -> Option<TransactionView> {
        let issued_at = number.0.checked_sub(1)? * 8 + 1;
        (issued_at..issued_at + 12).contains(&self.event).then(|| TransactionView {
            number,
            agent: ComponentId(0),
            warp: 0,
            kind: AccessKind::Load,
            range: Range::new(Address(0x1000), 4),
            bytes: Bytes::new(),
            issued: 0,
            issued_at,
            chain: vec![WaitLink { at: ComponentId(1), text: "waits for gpu1.cu0.l1".into(), since: None }],
            ahead: None,
        })
    }
    fn why(&self, _component: ComponentId, _warp: Option<u32>) -> Vec<WaitLink> {
        Vec::new()
    }
    fn cells(&self, _nodes: &[ComponentId]) -> Vec<CellCount> {
        Vec::new()
    }
    fn statistics(&self) -> Vec<(String, f64)> {
        vec![("toy.events".into(), self.event as f64)]
    }
}
