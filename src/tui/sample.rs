//! A hand-made machine in the middle of UMH Fig. 5 (b-1): the second GPU's n-store is on its way back.

use std::sync::Arc;

use smallvec::smallvec;

use crate::debug::frame::log::{Log, LogLine};
use crate::debug::frame::protocol::Ruled;
use crate::debug::frame::selection::Selection;
use crate::debug::frame::session::{
    Activity, BreakpointRow, CommandInfo, Expectation, Info, Lesson, Mark, MarkKind, Question, RunState, Say,
    Stop, Tone,
};
use crate::debug::frame::wish::Wish;
use crate::debug::frame::{Facts, Frame, build};
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::inspect::{
    AgentView, BlockView, CacheLine, CacheView, CellCount, Inspect, MshrEntryView, MshrView, TransactionView,
    UnitView, WarpView,
};
use crate::model::link_view::{LinkView, PacketView, TransferView};
use crate::model::message::{Message, MessageKind, Network, Trip, TxnNumber};
use crate::model::patch::Patch;
use crate::model::record::{MshrChange, Record, RecordId, What};
use crate::model::resource::{Resource, ResourceView};
use crate::model::state::{Action, State};
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::model::wait::WaitLink;
use crate::model::warp::WarpState;
use crate::protocol::table::{Cell, Next, Presence, Row, Step, Table};

const M: State = State(b'M');
const O: State = State(b'O');
const E: State = State(b'E');
const S: State = State(b'S');
const N: State = State(b'N');
const BLOCK: Address = Address(0x1000);
const TXN: TxnNumber = TxnNumber(12);

#[derive(Debug)]
pub struct Sample {
    components: Arc<Components>,
}

impl Sample {
    pub fn new() -> Self {
        let mut all = Components::default();
        let hmd = all.add("host.hmd0", ComponentKind::Hmd);
        let llc = all.add("host.llc", ComponentKind::Llc);
        all.connect(llc, hmd);
        all.add("host.cpu0", ComponentKind::Core);
        let l1 = all.add("host.cpu0.l1", ComponentKind::L1);
        all.connect(l1, llc);
        for gpu in 0..2 {
            let smd = all.add(format!("gpu{gpu}.smd0"), ComponentKind::Smd);
            all.connect(smd, hmd);
            let l2 = all.add(format!("gpu{gpu}.l2.0"), ComponentKind::L2);
            all.connect(l2, smd);
            for cu in 0..2 {
                all.add(format!("gpu{gpu}.cu{cu}"), ComponentKind::Cu);
                let l1 = all.add(format!("gpu{gpu}.cu{cu}.l1"), ComponentKind::L1);
                all.connect(l1, l2);
            }
        }
        for gpu in 0..2 {
            all.add(format!("link.gpu{gpu}.out"), ComponentKind::Link);
            all.add(format!("link.gpu{gpu}.in"), ComponentKind::Link);
        }
        Self { components: Arc::new(all) }
    }

    fn id(&self, path: &str) -> ComponentId {
        self.components.find(path).unwrap()
    }

    fn path(&self, id: ComponentId) -> &str {
        self.components.path(id)
    }

    fn view(&self, node: &str, len: u32, state: Option<State>) -> BlockView {
        BlockView {
            node: self.id(node),
            range: Range::new(BLOCK, len),
            state,
            target: None,
            doing: None,
            since: None,
            units: Vec::new(),
            dirty: Some(Bits::new(len)),
            here: None,
            granule: 1,
            bytes: None,
            remote_claim: None,
            place: None,
            displaced: false,
        }
    }

    fn holders(&self, owner: Option<&str>, sharers: &[&str], len: u32) -> Vec<UnitView> {
        let unit = UnitView {
            range: Range::new(BLOCK, len),
            owner: owner.map(|path| self.id(path)),
            sharers: sharers.iter().map(|path| self.id(path)).collect(),
            busy: false,
        };
        vec![unit]
    }

    fn waiting(&self, node: &str, len: u32, target: State, doing: &str, since: Tick) -> BlockView {
        let view = self.view(node, len, Some(State::I));
        BlockView { target: Some(target), doing: Some(doing.into()), since: Some(since), ..view }
    }

    fn chain(&self) -> Vec<WaitLink> {
        let link =
            |at: &str, text: &str, since| WaitLink { at: self.id(at), text: text.into(), since: Some(since) };
        vec![
            link("gpu1.cu1", "warp 0 waits for its n-store 0x1004", 398),
            link("gpu1.cu1.l1", "waits for gpu1.l2.0", 402),
            link("gpu1.l2.0", "waits for gpu1.smd0", 405),
            link("gpu1.smd0", "waits for host.hmd0", 407),
            link("link.gpu1.in", "the grant with its data is on the wire", 412),
        ]
    }

    fn message(&self, kind: MessageKind, from: &str, to: &str) -> Arc<Message> {
        let range = Range::new(BLOCK, 64);
        let data = matches!(kind, MessageKind::Grant);
        Arc::new(Message {
            kind,
            from: self.id(from),
            to: self.id(to),
            range,
            txn: None,
            number: Some(TXN),
            cause: 0,
            size: if data { 72 } else { 8 },
            granted: data.then_some(S),
            peer: None,
            held: None,
            access: None,
            sectors: crate::model::sectors::Sectors::NONE,
            once: false,
            has_data: data,
            patch: data.then(|| Arc::new(Patch::empty(range, 1, true))),
            trip: Trip::default(),
        })
    }

    fn record(&self, event: u64, cycle: u64, at: &str, because: Option<u64>, what: What) -> Record {
        Record {
            id: RecordId { event, ordinal: 0 },
            tick: cycle,
            cycle,
            at: self.id(at),
            because,
            txn: Some(TXN),
            range: Some(Range::new(
                if matches!(what, What::Issue { .. }) { Address(0x1004) } else { BLOCK },
                64,
            )),
            what,
        }
    }

    /// The journey of transaction 12.
    pub fn journey(&self) -> Vec<Record> {
        use MessageKind::{Answer, Grant, ProbeRead, ReadNc};
        let sent = |kind, from, to| What::Message(self.message(kind, from, to));
        let taken = |kind, from, to| What::Delivery(self.message(kind, from, to));
        let (l1, l2, smd, hmd, other) = ("gpu1.cu1.l1", "gpu1.l2.0", "gpu1.smd0", "host.hmd0", "gpu0.smd0");
        vec![
            self.record(
                48,
                398,
                "gpu1.cu1",
                None,
                What::Issue { kind: AccessKind::NStore, warp: 0, bytes: smallvec![9, 0, 0, 0] },
            ),
            self.record(48, 398, l1, None, What::Mshr { change: MshrChange::Allocate, used: 1, capacity: 4 }),
            self.record(48, 398, l1, None, sent(ReadNc, l1, l2)),
            self.record(50, 402, l2, Some(48), taken(ReadNc, l1, l2)),
            self.record(50, 402, l2, Some(48), sent(ReadNc, l2, smd)),
            self.record(51, 405, smd, Some(50), taken(ReadNc, l2, smd)),
            self.record(51, 405, smd, Some(50), sent(ReadNc, smd, hmd)),
            self.record(53, 407, hmd, Some(51), taken(ReadNc, smd, hmd)),
            self.record(53, 407, hmd, Some(51), sent(ProbeRead, hmd, other)),
            self.record(55, 408, other, Some(53), taken(ProbeRead, hmd, other)),
            self.record(55, 408, other, Some(53), What::Transition { from: E, to: S, action: Action::Read }),
            self.record(55, 408, other, Some(53), sent(Answer, other, hmd)),
            self.record(56, 410, hmd, Some(55), taken(Answer, other, hmd)),
            self.record(
                56,
                410,
                hmd,
                Some(55),
                What::Directory { owner: None, sharers: smallvec![self.id(other), self.id(smd)], rule: None },
            ),
            self.record(57, 412, hmd, Some(56), sent(Grant, hmd, smd)),
        ]
    }

    fn info(&self) -> Info {
        let command = |name: &str, usage: &str, about: &str| CommandInfo {
            name: name.into(),
            aliases: Vec::new(),
            usage: usage.into(),
            about: about.into(),
        };
        Info {
            scenario: "umh/fig5-b1".into(),
            title: "A second GPU writes the same line without coherence".into(),
            source: "UMH, Fig. 5 (b-1)".into(),
            about: String::new(),
            has_story: true,
            set_by_hand: Vec::new(),
            machine: "2 GPUs · PCIe 16 GB/s".into(),
            protocol: "nmoesi".into(),
            has_tlbs: false,
            components: self.components.clone(),
            commands: vec![
                command("step", "step [N]", "one event forward, or N"),
                command("break", "break QUERY [if PREDICATE]", "stop when a record matches"),
            ],
            next: None,
        }
    }

    fn lesson() -> Lesson {
        Lesson {
            step: (3, 7),
            said: vec![
                Say {
                    event: 40,
                    text: "GPU 0 holds this line in N and has written bytes 0 to 3.".into(),
                    question: None,
                },
                Say {
                    event: 57,
                    text: "The HMD knows that gpu0.smd0 has this block, and asks. It tells it that it is no longer \
                           alone; it does not ask for the data that cu0 wrote."
                        .into(),
                    question: None,
                },
            ],
            question: Some(Question {
                text: "Must GPU 0 give up its data?".into(),
                choices: vec!["yes".into(), "no".into()],
                predicted: None,
                revealed: None,
            }),
            remarked: Vec::new(),
            score: (1, 2),
            hides: false,
            expectations: vec![
                Expectation {
                    text: "never: transition at gpu0.cu0.l1 to I".into(),
                    holds: Some(true),
                    failed: None,
                },
                Expectation {
                    text: "state of gpu1.cu1.l1 block 0x1000 is N".into(),
                    holds: None,
                    failed: None,
                },
            ],
            hunt: None,
        }
    }

    fn tables(&self) -> Vec<Ruled> {
        let table = Arc::new(table());
        let ruled = |inner: bool| {
            let all = self.components.iter().filter(|(_, part)| part.kind.is_node());
            let part = all.filter(|(_, part)| match part.kind {
                ComponentKind::Hmd => false,
                kind => inner == (kind != ComponentKind::L1),
            });
            Ruled { table: table.clone(), inner, nodes: part.map(|(id, _)| id).collect() }
        };
        vec![ruled(false), ruled(true)]
    }

    pub fn facts<'a>(&self, last: &'a [Record], journey: &'a [Record]) -> Facts<'a> {
        let mark = |event, kind| Mark { event, kind, name: None };
        Facts {
            info: Arc::new(self.info()),
            tables: self.tables(),
            branch: None,
            is_found: false,
            run: RunState::Paused,
            stop: Some(Stop {
                text: "breakpoint 1: message from host.hmd0".into(),
                tone: Tone::Plain,
                ..Stop::default()
            }),
            selection: Selection { block: Some(BLOCK), txn: Some(TXN), ..Selection::default() },
            shown: self.transaction(TXN),
            known: 120,
            deadlock: None,
            collecting: None,
            ended: true,
            last,
            journey,
            journey_is_whole: false,
            begins: None,
            log: Log {
                filter: String::new(),
                lines: journey.iter().map(|record| LogLine::new(record, &self.components)).collect(),
                before: 60,
                after: 0,
            },
            lesson: Some(Self::lesson()),
            activity: Activity {
                start: 0,
                spacing: 10,
                probes: vec![0, 1, 1, 2, 8, 9, 9, 9, 12, 13, 14, 14, 14],
            },
            marks: vec![
                mark(12, MarkKind::Transition),
                mark(20, MarkKind::Transition),
                mark(40, MarkKind::Narration),
                mark(55, MarkKind::Narration),
                Mark { event: 48, kind: MarkKind::Bookmark, name: Some("a".into()) },
                mark(80, MarkKind::Transition),
            ],
            breakpoints: vec![BreakpointRow {
                number: 1,
                kind: "break".into(),
                text: "message from host.hmd0".into(),
                enabled: true,
                hits: 2,
                value: None,
            }],
        }
    }

    pub fn frame() -> Frame {
        let sample = Self::new();
        let journey = sample.journey();
        let last = &journey[journey.len() - 1..];
        build(&sample, sample.facts(last, &journey), &Wish::default())
    }

    /// The moment two events before: gpu0.smd0 has just gone from E to S.
    pub fn frame_of_change() -> Frame {
        let sample = Self::new();
        let journey = sample.journey();
        let (last, before) = (&journey[10..12], &journey[..12]);
        build(&sample, sample.facts(last, before), &Wish::default())
    }
}

impl Inspect for Sample {
    fn components(&self) -> &Components {
        &self.components
    }
    fn time_base(&self) -> TimeBase {
        TimeBase { ticks_per_second: 800_000_000, ticks_per_cycle: 1 }
    }
    fn event(&self) -> EventNumber {
        57
    }
    fn tick(&self) -> Tick {
        412
    }
    fn block(&self, node: ComponentId, address: Address) -> Option<BlockView> {
        if address == Address(0x1040) {
            return (self.path(node) == "host.llc").then(|| {
                let view = self.view("host.llc", 64, Some(E));
                BlockView { range: Range::new(address, 64), ..view }
            });
        }
        if !Range::new(BLOCK, 64).contains(address) {
            return None;
        }
        let view = match self.path(node) {
            "host.hmd0" => BlockView {
                units: self.holders(None, &["gpu0.smd0", "gpu1.smd0"], 4096),
                dirty: None,
                ..self.view("host.hmd0", 4096, None)
            },
            "gpu0.smd0" => BlockView {
                units: self.holders(None, &["gpu0.l2.0"], 64),
                ..self.view("gpu0.smd0", 4096, Some(S))
            },
            "gpu0.l2.0" => BlockView {
                units: self.holders(None, &["gpu0.cu0.l1"], 64),
                ..self.view("gpu0.l2.0", 64, Some(S))
            },
            "gpu0.cu0.l1" => {
                let mut mask = Bits::new(64);
                mask.set_range(0, 4, true);
                BlockView { dirty: Some(mask), ..self.view("gpu0.cu0.l1", 64, Some(N)) }
            }
            "gpu1.smd0" => self.waiting("gpu1.smd0", 4096, S, "waits for host.hmd0", 405),
            "gpu1.l2.0" => self.waiting("gpu1.l2.0", 64, S, "waits for gpu1.smd0", 402),
            "gpu1.cu1.l1" => self.waiting("gpu1.cu1.l1", 64, N, "waits for gpu1.l2.0", 398),
            _ => return None,
        };
        Some(view)
    }
    fn blocks(&self, limit: usize) -> Vec<Address> {
        [BLOCK, Address(0x1040)].into_iter().take(limit).collect()
    }
    fn keeps_values(&self) -> bool {
        true
    }
    fn value(&self, node: ComponentId, _address: Address, len: u32) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len as usize];
        if let Some(first) = bytes.first_mut() {
            *first = if self.path(node) == "gpu0.cu0.l1" { 7 } else { 3 };
        }
        Some(bytes)
    }
    fn mshrs(&self, node: ComponentId, _entries: usize) -> Option<MshrView> {
        let entry = |waits: &str, since| MshrEntryView {
            range: Range::new(BLOCK, 64),
            txn: Some(TXN),
            since,
            waits_for: waits.into(),
            merged: 1,
            has_mshr: true,
        };
        let entries = match self.path(node) {
            "gpu1.cu1.l1" => vec![entry("gpu1.l2.0", 398)],
            "gpu1.l2.0" => vec![entry("gpu1.smd0", 402)],
            _ => Vec::new(),
        };
        let capacity = match self.components.get(node)?.kind {
            ComponentKind::L1 => Some(4),
            ComponentKind::L2 => Some(8),
            _ => return None,
        };
        let (used, under_way) = (entries.len() as u32, entries.len());
        Some(MshrView { node, used, capacity, high_water: 1, under_way, entries })
    }
    fn link(&self, link: ComponentId, _packets: usize) -> Option<LinkView> {
        let path = self.path(link).strip_prefix("link.")?;
        let (gpu, direction) = path.split_once('.')?;
        let (gpu, host) = (format!("{gpu}.smd0"), "host".to_owned());
        let ends = if direction == "out" { (gpu, host) } else { (host, gpu) };
        let busy = path == "gpu1.in";
        let packet = PacketView {
            kind: MessageKind::Grant,
            from: self.id("host.hmd0"),
            to: self.id("gpu1.smd0"),
            range: Range::new(BLOCK, 64),
            txn: Some(TXN),
            size: 72,
            has_data: true,
        };
        Some(LinkView {
            link,
            ends,
            lanes: 4,
            bandwidth: 16_000_000_000,
            utilisation: if busy { 0.62 } else { 0.03 },
            history: (0..20).map(|n| if busy { n as f32 / 20.0 } else { 0.03 }).collect(),
            sample_cycles: 1000,
            bytes: 144,
            efficiency: Some(0.89),
            transfers: vec![TransferView { data: 64, size: 72, count: 2 }],
            queued: Network::ALL.map(|network| (network, u32::from(busy))).to_vec(),
            buffered: Network::ALL.map(|network| (network, 0, 4)).to_vec(),
            in_flight: if busy { vec![packet] } else { Vec::new() },
            flying: usize::from(busy),
            balance: None,
        })
    }
    fn agent(&self, agent: ComponentId) -> Option<AgentView> {
        let kind = self.components.get(agent)?.kind;
        let warp = |state| WarpView {
            state,
            since: 398,
            work: None,
            instruction: None,
            earlier: None,
            waits: Vec::new(),
            page: None,
            done: 0,
        };
        let warps = match (kind, self.path(agent)) {
            (ComponentKind::Cu, "gpu1.cu1") => {
                let first = WarpView {
                    work: Some("second".into()),
                    instruction: Some("n-store 0x1004 := 09 00 00 00".into()),
                    waits: vec![TXN],
                    ..warp(WarpState::Memory)
                };
                [vec![first], vec![warp(WarpState::None); 3]].concat()
            }
            (ComponentKind::Cu, "gpu0.cu0") => {
                [vec![warp(WarpState::Done)], vec![warp(WarpState::None); 3]].concat()
            }
            (ComponentKind::Cu, _) => vec![warp(WarpState::None); 4],
            (ComponentKind::Core, _) => vec![warp(WarpState::None)],
            _ => return None,
        };
        Some(AgentView { agent, warps })
    }
    fn cache(&self, node: ComponentId, most: u32) -> Option<CacheView> {
        let (sets, ways) = match self.components.get(node)?.kind {
            ComponentKind::L1 => (4, 2),
            ComponentKind::L2 | ComponentKind::Llc => (4, 4),
            ComponentKind::Smd => (1, 4),
            _ => return None,
        };
        let mut lines = vec![None; (sets * ways) as usize];
        if let Some(state) = self.block(node, BLOCK).and_then(|view| view.state) {
            lines[0] = Some(CacheLine { block: BLOCK, state, remote: false });
        }
        let told: Vec<u32> = (0..most.min(sets)).collect();
        lines.truncate(told.len() * ways as usize);
        Some(CacheView {
            node,
            sets,
            ways,
            block: 64,
            told,
            holds_more: false,
            lines,
            hits: 3,
            misses: 1,
            evictions: 0,
            writebacks: 0,
            port_utilisation: 0.0,
            port_wait: 0.0,
            remote_hits: 0,
            remote_misses: 0,
            partition: None,
            uncached: None,
            remote_directory: None,
        })
    }
    fn resources(&self) -> Vec<ResourceView> {
        let view = |kind, level, busiest, at: &str, wait| {
            let (count, mean, at) = (4, busiest / 2.0, at.to_owned());
            ResourceView { kind, level, count, mean, busiest, at, wait }
        };
        vec![
            view(Resource::Link, "network", 0.75, "link.gpu0.in", Some(12.0)),
            view(Resource::Ports, "GPU L2", 0.62, "gpu0.l2.0", Some(1.25)),
            view(Resource::Banks, "SMD", 0.3, "gpu1.smd0", None),
            view(Resource::Ports, "HMD", 0.01, "host.hmd0", Some(0.0)),
            view(Resource::Mshrs, "GPU L1", 0.9, "gpu0.cu1.l1", None),
        ]
    }
    fn transactions(&self, _limit: usize, _chained: usize) -> Vec<TransactionView> {
        self.transaction(TXN).into_iter().collect()
    }
    fn transaction(&self, number: TxnNumber) -> Option<TransactionView> {
        (number == TXN).then(|| TransactionView {
            number,
            agent: self.id("gpu1.cu1"),
            warp: 0,
            kind: AccessKind::NStore,
            range: Range::new(Address(0x1004), 4),
            bytes: smallvec![9, 0, 0, 0],
            issued: 398,
            issued_at: 48,
            chain: self.chain(),
            ahead: None,
        })
    }
    fn why(&self, _component: ComponentId, _warp: Option<u32>) -> Vec<WaitLink> {
        self.chain()
    }
    fn cells(&self, _nodes: &[ComponentId]) -> Vec<CellCount> {
        let cell = |state, action, count| CellCount { state: Some(state), action, count };
        vec![
            cell(State::I, Action::NStore, 2),
            cell(State::I, Action::Load, 3),
            cell(E, Action::Read, 1),
            cell(N, Action::Load, 4),
        ]
    }
    fn statistics(&self) -> Vec<(String, f64)> {
        Vec::new()
    }
}

/// Table II of the UMH paper, for nodes with and without children alike.
pub fn table() -> Table {
    let cell = |step, next| Some(Cell { step, next });
    let hit = cell(Step::Hit, Next::Same);
    let write = cell(Step::Ask(MessageKind::Write), Next::To(M));
    let row = |state, cells: [Option<Cell>; 7]| Row {
        state,
        exclusive: state == M || state == E,
        owner: [M, O, E].contains(&state),
        noncoherent: state == N,
        presence: Presence::Whole,
        leaf: cells,
        inner: cells,
    };
    let writeback = cell(Step::Writeback, Next::To(State::I));
    let notify = cell(Step::Notify, Next::To(State::I));
    let (data_i, ack_i) = (cell(Step::Data, Next::To(State::I)), cell(Step::Ack, Next::To(State::I)));
    let ack = cell(Step::Ack, Next::Same);
    let data_o = cell(Step::Data, Next::To(O));
    let to_n = cell(Step::Hit, Next::To(N));
    Table {
        name: "nmoesi".into(),
        title: "NMOESI".into(),
        source: "UMH (2016), Table II".into(),
        rows: vec![
            row(N, [hit, write, hit, writeback, ack, data_i, None]),
            row(M, [hit, hit, hit, writeback, data_o, data_i, None]),
            row(O, [hit, write, hit, writeback, data_o, data_i, None]),
            row(
                E,
                [hit, cell(Step::Hit, Next::To(M)), to_n, notify, cell(Step::Ack, Next::To(S)), ack_i, None],
            ),
            row(S, [hit, write, to_n, notify, ack, ack_i, None]),
            row(
                State::I,
                [
                    cell(Step::Ask(MessageKind::Read), Next::Granted),
                    write,
                    cell(Step::Ask(MessageKind::ReadNc), Next::To(N)),
                    None,
                    None,
                    None,
                    None,
                ],
            ),
        ]
        .into(),
        read: Vec::new(),
        read_nc: Vec::new(),
        write: Vec::new(),
        merge: Vec::new(),
        answer_merge: Vec::new(),
        uncached: None,
    }
}
