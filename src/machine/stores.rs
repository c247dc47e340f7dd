//! What was stored to each byte, as far as a load of a coherent cache may read it, or it must still be somewhere at the end.

use smallvec::SmallVec;

use super::runs::{Run, Runs};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;

/// Values of the bytes of a run.
type Values = SmallVec<[u8; 16]>;

/// Stores of one run that are told apart, at most; where there are more, each byte is looked at alone, of which equal ones are one.
const MOST: usize = 64;

/// A non-coherent store.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loose {
    values: Values,
    /// The L1 that made it, which sees it at least; none of what was dirty at first.
    writer: Option<ComponentId>,
    /// A core has made it: no launch brings it to where kernels look, and a GPU may see it or not.
    is_host: bool,
    /// The same L1 has stored there again: neither does it read this any more, nor may it be what is left.
    is_overtaken: bool,
    stage: Stage,
    /// Since a kernel has begun that can see it, or after that.
    is_met: bool,
}

/// Of the stores since kernels met, those that count: of what an L1 stores between two meetings, the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It was seen already, or does not count.
    Over,
    /// It will have been seen when a kernel begins that waits for it.
    Meeting,
    Since,
}

/// Bytes with one history.
#[derive(Clone, Debug)]
pub(super) struct Known {
    len: u32,
    /// What the last coherent store wrote; zeros if it is empty.
    coherent: Values,
    /// Non-coherent stores since, in their order.
    loose: Vec<Loose>,
    /// A kernel has begun since: a GPU reads only what it has met.
    has_met: bool,
}

impl Run for Known {
    fn unwritten(len: u32) -> Self {
        Self { len, coherent: Values::new(), loose: Vec::new(), has_met: false }
    }

    fn len(&self) -> u32 {
        self.len
    }

    fn cut(&mut self, len: u32) -> Self {
        let mut rest = self.clone();
        let keep = |values: &mut Values| values.truncate(len as usize);
        let give = |values: &mut Values| drop(values.drain(..(len as usize).min(values.len())));
        keep(&mut self.coherent);
        self.loose.iter_mut().for_each(|store| keep(&mut store.values));
        give(&mut rest.coherent);
        rest.loose.iter_mut().for_each(|store| give(&mut store.values));
        (rest.len, self.len) = (rest.len - len, len);
        rest
    }
}

impl Known {
    fn coherent(len: u32, values: &[u8]) -> Self {
        Self { coherent: Values::from_slice(values), ..Self::unwritten(len) }
    }

    /// What the last coherent store wrote at a place.
    pub fn last_coherent(&self, place: usize) -> u8 {
        self.coherent.get(place).copied().unwrap_or(0)
    }

    fn note(&mut self, (at, is_host): (Option<ComponentId>, bool), values: &[u8]) {
        let own = self.loose.iter_mut().filter(|store| at.is_some() && store.writer == at);
        for store in own {
            store.is_overtaken = true;
            if store.stage == Stage::Since {
                store.stage = Stage::Over;
            }
        }
        let is_same =
            |store: &Loose| store.writer == at && store.values[..] == *values && store.stage == Stage::Over;
        let (before, has_met) = (self.loose.iter().position(is_same), self.has_met);
        let is_met = before.map(|place| self.loose.remove(place)).is_some_and(|same| same.is_met) || has_met;
        let stage = if is_host { Stage::Over } else { Stage::Since };
        self.loose.push(Loose {
            values: Values::from_slice(values),
            writer: at,
            is_host,
            is_overtaken: false,
            stage,
            is_met,
        });
    }

    /// A kernel has begun whose GPUs have seen what was stored before: the last of it, if one L1 has stored it.
    fn meet(&mut self) {
        let seen = || self.loose.iter().filter(|store| store.stage == Stage::Meeting);
        let Some(last) = seen().next_back().map(|store| store.writer) else { return };
        let is_alone = seen().all(|store| store.writer == last);
        let newest = self.loose.iter().rposition(|store| store.stage == Stage::Meeting);
        for (place, store) in self.loose.iter_mut().enumerate() {
            store.is_met = match store.stage {
                Stage::Over => store.is_host,
                Stage::Meeting => !is_alone || Some(place) == newest,
                Stage::Since => true,
            };
            if store.stage == Stage::Meeting {
                store.stage = Stage::Over;
            }
        }
        self.has_met = true;
    }

    /// Whether somebody may read a value at a place.
    fn may_read(&self, place: usize, (at, is_host): (ComponentId, bool), value: u8) -> bool {
        let fits = |store: &&Loose| {
            let is_older_own = store.is_overtaken && store.writer == Some(at);
            store.values.get(place) == Some(&value) && !is_older_own
        };
        let mut fitting = self.loose.iter().filter(fits);
        if self.has_met && !is_host {
            return fitting.any(|store| store.is_met);
        }
        let may_be_old = self.last_coherent(place) == value && !self.has_stored(at);
        may_be_old || fitting.next().is_some()
    }

    /// Whether an L1 has stored here non-coherently since the last coherent store.
    pub fn has_stored(&self, at: ComponentId) -> bool {
        self.loose.iter().any(|store| store.writer == Some(at))
    }

    /// Whether a value may be all that is left at a place.
    pub fn may_be_left(&self, place: usize, value: u8) -> bool {
        if self.loose.is_empty() {
            return self.last_coherent(place) == value;
        }
        self.loose.iter().any(|store| !store.is_overtaken && store.values.get(place) == Some(&value))
    }

    /// What was stored last at a place, and by whom if that is known.
    pub fn last(&self, place: usize) -> (u8, Option<ComponentId>) {
        let last = self.loose.last();
        let value = last.and_then(|store| store.values.get(place)).copied();
        (value.unwrap_or_else(|| self.last_coherent(place)), last.and_then(|store| store.writer))
    }
}

/// A byte that a load cannot have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Old {
    pub address: Address,
    pub value: u8,
    /// What the last coherent store wrote.
    pub coherent: u8,
    /// The L1 itself has stored there since.
    pub is_own: bool,
}

/// What was stored to each byte of a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores(Runs<Known>);

impl Stores {
    /// Bytes that a clone takes, roughly.
    pub fn footprint(&self) -> usize {
        self.0.footprint(|known| known.coherent.len() + known.loose.capacity() * size_of::<Loose>())
    }

    /// Stores coherently.
    pub fn store(&mut self, at: Address, values: &[u8]) {
        if !values.is_empty() {
            self.0.replace(at.0, Known::coherent(values.len() as u32, values));
        }
    }

    /// An L1, of the host or not, stores non-coherently; of what was dirty at first it may not be known which.
    pub fn store_loosely(&mut self, by: (Option<ComponentId>, bool), at: Address, values: &[u8]) {
        let mut many: SmallVec<[u64; 4]> = SmallVec::new();
        for (start, known) in self.0.within(Range::new(at, values.len() as u32)) {
            let from = start.saturating_sub(at.0) as usize;
            let Some(values) = values.get(from..from + known.len as usize) else { continue };
            known.note(by, values);
            if known.loose.len() > MOST && known.len > 1 {
                many.push(start);
            }
        }
        many.into_iter().for_each(|start| self.0.shatter(start));
    }

    /// The first byte of a load at an L1, of a GPU or not, that it cannot have read.
    pub fn old(&self, (at, is_host): (ComponentId, bool), range: Range, read: &[u8]) -> Option<Old> {
        let mut runs = self.0.overlapping(range).peekable();
        read.iter().enumerate().find_map(|(offset, &value)| {
            let address = range.start.plus(offset as u64);
            while runs.next_if(|(start, known)| start + u64::from(known.len) <= address.0).is_some() {}
            let known = runs.peek().filter(|(start, _)| *start <= address.0);
            let Some((start, known)) = known else {
                return (value != 0).then_some(Old { address, value, coherent: 0, is_own: false });
            };
            let place = (address.0 - start) as usize;
            let (coherent, is_own) = (known.last_coherent(place), known.has_stored(at));
            (!known.may_read(place, (at, is_host), value)).then_some(Old { address, value, coherent, is_own })
        })
    }

    /// Each byte that was stored to, with its run and its place in that.
    pub fn bytes(&self) -> impl Iterator<Item = (Address, &Known, usize)> {
        self.0.all().flat_map(|(start, known)| {
            (0..known.len as usize).map(move |place| (Address(start + place as u64), known, place))
        })
    }

    /// A kernel is to begin. What was stored before will have been seen then, unless that is not known.
    pub fn begin_meeting(&mut self, is_known: bool) {
        let stage = if is_known { Stage::Meeting } else { Stage::Since };
        let all = self.0.all_mut().flat_map(|known| &mut known.loose);
        all.filter(|store| store.stage != Stage::Over).for_each(|store| store.stage = stage);
    }

    /// The kernel begins.
    pub fn end_meeting(&mut self) {
        self.0.all_mut().for_each(Known::meet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L1: [ComponentId; 3] = [ComponentId(1), ComponentId(2), ComponentId(3)];

    fn reads(stores: &Stores, at: usize, address: u64, value: u8) -> bool {
        stores.old((L1[at], false), Range::new(Address(address), 1), &[value]).is_none()
    }

    #[test]
    fn a_load_reads_the_last_coherent_store_or_a_loose_one_since() {
        let mut stores = Stores::default();
        assert!(reads(&stores, 0, 5, 0) && !reads(&stores, 0, 5, 1));
        stores.store(Address(4), &[1, 2, 3]);
        stores.store_loosely((Some(L1[0]), false), Address(5), &[7]);
        assert!(reads(&stores, 0, 4, 1) && !reads(&stores, 0, 4, 2) && reads(&stores, 0, 6, 3));
        // Who has stored does not see what was there before; others may.
        assert!(reads(&stores, 0, 5, 7) && !reads(&stores, 0, 5, 2));
        assert!(reads(&stores, 1, 5, 7) && reads(&stores, 1, 5, 2) && !reads(&stores, 1, 5, 3));
        let whole = stores.old((L1[1], false), Range::new(Address(3), 5), &[0, 1, 2, 9, 0]);
        assert_eq!(whole.map(|old| (old.address, old.coherent)), Some((Address(6), 3)));
        stores.store(Address(0), &[9; 16]);
        assert!(reads(&stores, 1, 5, 9) && !reads(&stores, 1, 5, 7));
    }

    #[test]
    fn an_l1_does_not_read_what_it_has_stored_over_itself() {
        let mut stores = Stores::default();
        for (by, value) in [(0, 1), (1, 2), (0, 3)] {
            stores.store_loosely((Some(L1[by]), false), Address(8), &[value; 4]);
        }
        let all = |at: usize| [0, 1, 2, 3].map(|value| reads(&stores, at, 9, value));
        assert_eq!(
            (all(0), all(1), all(2)),
            ([false, false, true, true], [false, true, true, true], [true; 4])
        );
        let (_, known, place) = stores.bytes().next().unwrap();
        assert_eq!([0, 1, 2, 3].map(|value| known.may_be_left(place, value)), [false, false, true, true]);
        assert_eq!(known.last(place), (3, Some(L1[0])));
    }

    #[test]
    fn a_kernel_sees_the_last_that_one_l1_has_stored_before_it() {
        let mut stores = Stores::default();
        stores.store_loosely((Some(L1[0]), false), Address(0), &[1, 1]);
        stores.store_loosely((Some(L1[0]), false), Address(0), &[2, 2]);
        stores.store_loosely((Some(L1[1]), false), Address(1), &[3]);
        stores.begin_meeting(true);
        stores.end_meeting();
        let all = |stores: &Stores, address| [0, 1, 2, 3, 4].map(|value| reads(stores, 2, address, value));
        assert_eq!(all(&stores, 0), [false, false, true, false, false]);
        // Two have stored: either may have come last.
        assert_eq!(all(&stores, 1), [false, false, true, true, false]);
        stores.store_loosely((Some(L1[1]), false), Address(0), &[4]);
        assert_eq!(all(&stores, 0), [false, false, true, false, true]);
        // What is under way may be seen or not.
        stores.begin_meeting(false);
        stores.end_meeting();
        assert_eq!(all(&stores, 0), [false, false, true, false, true]);
    }

    /// A core's stores are not brought to where kernels look, and what was dirty at first may come after what is stored.
    #[test]
    fn what_a_core_stores_or_was_dirty_at_first_may_be_seen_or_not() {
        let mut stores = Stores::default();
        stores.store_loosely((Some(L1[0]), true), Address(0), &[1]);
        stores.begin_meeting(true);
        stores.end_meeting();
        assert!(reads(&stores, 2, 0, 0) && reads(&stores, 2, 0, 1));
        stores.store_loosely((None, false), Address(8), &[7]);
        stores.store_loosely((Some(L1[1]), false), Address(8), &[9]);
        stores.store_loosely((Some(L1[2]), true), Address(8), &[4]);
        stores.begin_meeting(true);
        stores.end_meeting();
        let all = [0, 4, 7, 9].map(|value| reads(&stores, 0, 8, value));
        assert_eq!(all, [false, true, true, true]);
    }

    /// Runs with many stores fall apart, and know the same.
    #[test]
    fn many_stores_to_one_run_are_told_apart_by_byte() {
        let mut stores = Stores::default();
        for round in 0..1000u32 {
            stores.store_loosely((Some(L1[0]), false), Address(0), &[round as u8, (round / 7) as u8, 5, 0]);
        }
        assert_eq!(stores.bytes().map(|(address, ..)| address.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(stores.0.all().all(|(_, known)| known.loose.len() <= 256));
        assert!(reads(&stores, 0, 0, 999u32 as u8) && !reads(&stores, 0, 0, 998u32 as u8));
        assert!(reads(&stores, 1, 0, 998u32 as u8) && !reads(&stores, 1, 2, 6));
    }
}
