//! A hand-made machine for tests: two GPUs of one compute unit, an L2 slice and an SMD each, two HMDs.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::smallvec;

use crate::machine::{TaskView, TaskWork};
use crate::model::access::{AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::inspect::*;
use crate::model::link_view::LinkView;
use crate::model::message::{Message, MessageKind, Trip, TxnNumber};
use crate::model::record::{Record, RecordId, What};
use crate::model::state::{Action, State};
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::model::wait::WaitLink;
use crate::protocol::table::{Cell, DirectoryRule, Next, Presence, Probe, Row, Step, Table, When};

use super::{Context, PageSize, Subject};

/// What the test says is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub components: Components,
    pub tick: Tick,
    pub event: EventNumber,
    pub blocks: BTreeMap<(ComponentId, u64), BlockView>,
    pub values: BTreeMap<(ComponentId, u64), u8>,
    pub used: BTreeMap<ComponentId, u32>,
    pub statistics: Vec<(String, f64)>,
    pub tasks: Vec<TaskView>,
}

const PATHS: [(&str, ComponentKind); 12] = [
    ("gpu0.cu0", ComponentKind::Cu),
    ("gpu0.cu0.l1", ComponentKind::L1),
    ("gpu0.l2.0", ComponentKind::L2),
    ("gpu0.smd0", ComponentKind::Smd),
    ("gpu1.cu0", ComponentKind::Cu),
    ("gpu1.cu0.l1", ComponentKind::L1),
    ("gpu1.l2.0", ComponentKind::L2),
    ("gpu1.smd0", ComponentKind::Smd),
    ("host.cpu0", ComponentKind::Core),
    ("host.hmd0", ComponentKind::Hmd),
    ("host.hmd1", ComponentKind::Hmd),
    ("link.gpu0.out", ComponentKind::Link),
];

impl Sample {
    pub fn new() -> Self {
        let mut sample = Self::default();
        for (path, kind) in PATHS {
            sample.components.add(path, kind);
        }
        sample.statistics = vec![("gpu0.l1.hits".into(), 12.0), ("link.gpu0.utilisation".into(), 0.25)];
        sample
    }

    pub fn id(&self, path: &str) -> ComponentId {
        self.components.find(path).unwrap()
    }

    pub fn context(&self) -> Context {
        Context {
            components: Some(self.components.clone()),
            tables: vec![Arc::new(table())],
            page: PageSize::default(),
            blocks: vec![Address(0x1000)],
            statistics: self.statistics.iter().map(|(key, _)| key.clone()).collect(),
            ids: vec!["first".into(), "second".into(), "store".into()],
            silent: vec!["store".into()],
        }
    }

    /// A block of 64 bytes that `path` holds in `state`.
    pub fn hold(&mut self, path: &str, address: u64, state: Option<State>) -> &mut BlockView {
        let node = self.id(path);
        let view = BlockView {
            node,
            range: Range::new(Address(address), 64),
            state,
            target: None,
            doing: None,
            since: None,
            units: Vec::new(),
            dirty: None,
            here: None,
            granule: 1,
            bytes: None,
            remote_claim: None,
            place: None,
            displaced: false,
        };
        self.blocks.insert((node, address), view);
        self.blocks.get_mut(&(node, address)).unwrap()
    }

    /// A directory entry for the block at `address`.
    pub fn track(&mut self, path: &str, address: u64, owner: Option<&str>, sharers: &[&str]) {
        let owner = owner.map(|path| self.id(path));
        let sharers = sharers.iter().map(|path| self.id(path)).collect();
        let view = self.hold(path, address, None);
        view.units.push(UnitView { range: view.range, owner, sharers, busy: false });
    }

    pub fn dirty(&mut self, path: &str, address: u64, from: u32, to: u32) {
        let mut mask = Bits::new(64);
        mask.set_range(from, to, true);
        self.hold(path, address, Some(State(b'N'))).dirty = Some(mask);
    }

    pub fn put(&mut self, path: &str, address: u64, bytes: &[u8]) {
        let node = self.id(path);
        for (offset, byte) in bytes.iter().enumerate() {
            self.values.insert((node, address + offset as u64), *byte);
        }
    }

    pub fn task(&mut self, id: &str, ended: Option<Tick>, result: Option<&[u8]>) {
        self.tasks.retain(|task| &*task.id != id);
        let result = result.map(Bytes::from_slice);
        self.tasks.push(TaskView {
            id: id.into(),
            work: TaskWork::Access,
            started: Some(0),
            ended,
            result,
            flushing: 0,
        });
    }

    pub fn record(&self, at: &str, what: What) -> Record {
        Record {
            id: RecordId { event: 10, ordinal: 0 },
            tick: 100,
            cycle: 50,
            at: self.id(at),
            because: Some(7),
            txn: Some(TxnNumber(3)),
            range: Some(Range::new(Address(0x1000), 64)),
            what,
        }
    }

    pub fn transition(&self, at: &str, from: u8, to: u8) -> Record {
        self.record(at, What::Transition { from: State(from), to: State(to), action: Action::NStore })
    }

    pub fn message(&self, kind: MessageKind, from: &str, to: &str) -> Record {
        let message = Message {
            kind,
            from: self.id(from),
            to: self.id(to),
            range: Range::new(Address(0x1000), 64),
            txn: None,
            number: None,
            cause: 7,
            size: 72,
            granted: None,
            peer: None,
            held: None,
            access: None,
            sectors: crate::model::sectors::Sectors::NONE,
            once: false,
            has_data: false,
            patch: None,
            trip: Trip::default(),
        };
        self.record(from, What::Message(Arc::new(message)))
    }

    pub fn complete(&self, at: &str, bytes: &[u8]) -> Record {
        let bytes = Bytes::from_slice(bytes);
        self.record(at, What::Complete { kind: AccessKind::Load, warp: 3, bytes, latency: 40 })
    }

    pub fn directory(&self, at: &str, owner: Option<&str>, sharers: &[&str]) -> Record {
        let owner = owner.map(|path| self.id(path));
        let mut list = smallvec![];
        list.extend(sharers.iter().map(|path| self.id(path)));
        self.record(at, What::Directory { owner, sharers: list, rule: None })
    }
}

/// A table with the states of NMOESI and one cell, `N read`.
pub(crate) fn table() -> Table {
    let row = |letter: u8| {
        let mut cells = [None; Action::ALL.len()];
        if letter == b'N' {
            cells[Action::Read.index()] = Some(Cell { step: Step::Ack, next: Next::Same });
        }
        Row {
            state: State(letter),
            exclusive: letter == b'M' || letter == b'E',
            owner: letter == b'M',
            noncoherent: letter == b'N',
            presence: Presence::Whole,
            leaf: cells,
            inner: cells,
        }
    };
    Table {
        name: "nmoesi".into(),
        title: "NMOESI".into(),
        source: String::new(),
        rows: b"NMOESI".iter().map(|letter| row(*letter)).collect::<Vec<_>>().into(),
        read: vec![DirectoryRule { when: When::Always, probe: Probe::ReadOwner, grant: State(b'S') }],
        read_nc: Vec::new(),
        write: Vec::new(),
        answer_merge: Vec::new(),
        uncached: None,
        merge: vec![(State(b'N'), State(b'E'), State(b'M'))],
    }
}

impl Inspect for Sample {
    fn components(&self) -> &Components {
        &self.components
    }
    fn time_base(&self) -> TimeBase {
        TimeBase { ticks_per_second: 1, ticks_per_cycle: 2 }
    }
    fn event(&self) -> EventNumber {
        self.event
    }
    fn tick(&self) -> Tick {
        self.tick
    }
    fn block(&self, node: ComponentId, address: Address) -> Option<BlockView> {
        self.blocks.get(&(node, address.block(64).0)).cloned()
    }
    fn blocks(&self, limit: usize) -> Vec<Address> {
        self.blocks.keys().map(|(_, address)| Address(*address)).take(limit).collect()
    }
    fn keeps_values(&self) -> bool {
        true
    }
    fn value(&self, node: ComponentId, address: Address, len: u32) -> Option<Vec<u8>> {
        (0..u64::from(len)).map(|offset| self.values.get(&(node, address.0 + offset)).copied()).collect()
    }
    fn mshrs(&self, node: ComponentId, _entries: usize) -> Option<MshrView> {
        let used = *self.used.get(&node)?;
        Some(MshrView {
            node,
            used,
            capacity: Some(4),
            high_water: used,
            under_way: used as usize,
            entries: Vec::new(),
        })
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
        Vec::new()
    }
    fn transaction(&self, _number: TxnNumber) -> Option<TransactionView> {
        None
    }
    fn why(&self, _component: ComponentId, _warp: Option<u32>) -> Vec<WaitLink> {
        Vec::new()
    }
    fn cells(&self, _nodes: &[ComponentId]) -> Vec<CellCount> {
        Vec::new()
    }
    fn statistics(&self) -> Vec<(String, f64)> {
        self.statistics.clone()
    }
}

impl Subject for Sample {
    fn task_view(&self, id: &str) -> Option<TaskView> {
        self.tasks.iter().find(|task| &*task.id == id).cloned()
    }
}
