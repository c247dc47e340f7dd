//! The tag miss handler of a memory that is a cache: requests whose tag missed wait in its pending queue, and its scoreboard
//! knows which data are on their way ("`ScaleGPU`", section 3.2 and Fig. 2).

use std::collections::VecDeque;

use super::pending::Want;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::state::State;
use crate::model::tags::{TagCounters, TagOutcome};
use crate::model::time::Tick;

/// How much it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagMissConfig {
    /// Requests in the pending queue.
    pub pending: u32,
    /// Entries of the scoreboard.
    pub scoreboard: u32,
}

/// An entry of the scoreboard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Score {
    /// The block of the target tag.
    pub block: Address,
    /// How the first of them found its tag: the row of the table that has the data fetched.
    pub found: State,
    /// Requests in the pending queue that wait for it.
    pub count: u32,
    /// The arrival bit: its data have come.
    pub arrived: bool,
    /// The data were asked for before an acquire: they are asked for again when they come.
    pub expired: bool,
    pub since: Tick,
    /// The transaction that asked first.
    pub number: Option<TxnNumber>,
}

/// Why a request cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    PendingQueue,
    Scoreboard,
}

/// The tag miss handler of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TagMissHandler {
    pub queue: VecDeque<Want>,
    /// In the order in which they were made.
    pub scores: Vec<Score>,
    /// Writes sent to the host and not acknowledged, each with when.
    pub relayed: VecDeque<(Range, Tick)>,
    /// Requests that found no room: each was looked up once already, and is counted.
    pub refused: Vec<(ComponentId, Range)>,
    pub counters: TagCounters,
}

impl TagMissHandler {
    #[must_use]
    pub fn score(&self, block: Address) -> Option<&Score> {
        self.scores.iter().find(|score| score.block == block)
    }

    pub fn score_mut(&mut self, block: Address) -> Option<&mut Score> {
        self.scores.iter_mut().find(|score| score.block == block)
    }

    /// Whether a request was refused before; it is not any more.
    pub fn was_refused(&mut self, from: ComponentId, range: Range) -> bool {
        let place = self.refused.iter().position(|refused| *refused == (from, range));
        place.map(|place| self.refused.swap_remove(place)).is_some()
    }

    /// Whether the data of a block are on their way.
    #[must_use]
    pub fn is_awaited(&self, block: Address) -> bool {
        self.score(block).is_some_and(|score| !score.arrived)
    }

    /// What keeps a miss of a block from being taken, if anything does.
    #[must_use]
    pub fn lacks(&self, block: Address, config: TagMissConfig) -> Option<Lack> {
        if self.queue.len() >= config.pending as usize {
            return Some(Lack::PendingQueue);
        }
        let needs_entry = self.score(block).is_none();
        (needs_entry && self.scores.len() >= config.scoreboard as usize).then_some(Lack::Scoreboard)
    }

    /// Puts a request behind those that wait. Whether its data have to be asked for: nobody has yet, or what came has been
    /// replaced before all could use it.
    pub fn wait(&mut self, block: Address, found: State, want: Want) -> bool {
        let (since, number) = (want.arrived, want.number);
        let asks = if let Some(score) = self.score_mut(block) {
            score.count += 1;
            let asks = std::mem::replace(&mut score.arrived, false);
            if asks {
                score.found = found;
            }
            asks
        } else {
            self.scores.push(Score { block, found, count: 1, arrived: false, expired: false, since, number });
            true
        };
        self.queue.push_back(want);
        let counters = &mut self.counters;
        counters.pending_high_water = counters.pending_high_water.max(self.queue.len() as u32);
        counters.scoreboard_high_water = counters.scoreboard_high_water.max(self.scores.len() as u32);
        asks
    }

    /// Takes the request at the head of the queue if the data of its block, by `block_of`, have come. An entry for which nobody
    /// waits any more is given back.
    pub fn take_ready(&mut self, block_of: impl Fn(&Want) -> Address) -> Option<Want> {
        let block = block_of(self.queue.front()?);
        let place = self.scores.iter().position(|score| score.block == block && score.arrived)?;
        let score = self.scores.get_mut(place)?;
        score.count = score.count.saturating_sub(1);
        if score.count == 0 {
            self.scores.remove(place);
        }
        self.queue.pop_front()
    }

    pub fn note(&mut self, outcome: TagOutcome) {
        if let Some(count) = self.counters.outcomes.get_mut(outcome as usize) {
            *count += 1;
        }
    }

    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.scores.is_empty() && self.relayed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::Range;
    use crate::model::message::MessageKind;
    use crate::model::sectors::Sectors;
    use crate::model::state::Action;
    use crate::protocol::node::pending::Who;

    const CONFIG: TagMissConfig = TagMissConfig { pending: 3, scoreboard: 2 };

    fn want(at: u64) -> Want {
        Want {
            who: Who::Child(0),
            request: MessageKind::Fetch,
            action: Action::Load,
            range: Range::new(Address(at), 64),
            txn: None,
            number: None,
            cause: 0,
            arrived: 0,
            access: None,
            sectors: Sectors::default(),
            got: Sectors::default(),
            behind: 0,
            supplied: false,
            claimed: false,
        }
    }

    fn block(want: &Want) -> Address {
        want.range.start.block(256)
    }

    #[test]
    fn one_fetch_serves_all_that_wait_for_its_tag() {
        let (mut handler, a, b) = (TagMissHandler::default(), Address(0), Address(256));
        assert!(handler.wait(a, State::I, want(0)));
        assert!(!handler.wait(a, State::I, want(64)), "merged");
        assert!(handler.wait(b, State::I, want(256)));
        assert_eq!(handler.score(a).map(|score| score.count), Some(2));
        // The head waits, though the data of another have come.
        handler.score_mut(b).unwrap().arrived = true;
        assert_eq!(handler.take_ready(block), None);
        handler.score_mut(a).unwrap().arrived = true;
        let order: Vec<u64> =
            std::iter::from_fn(|| handler.take_ready(block)).map(|want| want.range.start.0).collect();
        assert_eq!(order, [0, 64, 256]);
        assert!(handler.is_idle());
    }

    #[test]
    fn what_was_replaced_before_all_could_use_it_is_fetched_again() {
        let (mut handler, a) = (TagMissHandler::default(), Address(0));
        handler.wait(a, State::I, want(0));
        handler.wait(a, State::I, want(64));
        handler.score_mut(a).unwrap().arrived = true;
        handler.take_ready(block);
        assert!(handler.wait(a, State::I, want(0)), "its data came, and are gone");
        assert_eq!(handler.take_ready(block), None);
    }

    #[test]
    fn a_miss_needs_room_in_both() {
        let (mut handler, far) = (TagMissHandler::default(), Address(1024));
        handler.wait(Address(0), State::I, want(0));
        assert_eq!(handler.lacks(far, CONFIG), None);
        handler.wait(Address(256), State::I, want(256));
        assert_eq!(handler.lacks(far, CONFIG), Some(Lack::Scoreboard));
        assert_eq!(handler.lacks(Address(0), CONFIG), None, "it has an entry");
        handler.wait(Address(0), State::I, want(64));
        assert_eq!(handler.lacks(Address(0), CONFIG), Some(Lack::PendingQueue));
    }
}
