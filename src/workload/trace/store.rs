//! The streams of a trace, indexed once: whatever step of whatever stream is found by its position.
//!
//! A stream is what one warp or core does. Steps may come in any order of the streams, as tracers write them; each
//! stream's are gathered until there is a segment's worth, which goes into the spool. What stays is 40 bytes for each
//! segment of up to 128 steps.

use std::io;

use rustc_hash::FxHashMap;

use super::cache::Cache;
use super::spool::Spool;
use super::step::Step;
use crate::model::operation::Operation;

/// Most steps in a segment.
const SEGMENT_STEPS: u32 = 128;

/// Bytes of unfinished segments that are held, about; above that all are written as they are.
const GATHERED: usize = 64 << 20;

/// About what an unfinished segment takes beside its bytes.
const OVERHEAD: usize = 80;

/// A run of steps of one stream.
#[derive(Clone, Copy, Debug)]
struct Segment {
    stream: u64,
    /// Steps of the stream before it.
    first: u64,
    /// Its place in the spool.
    at: u64,
    bytes: u32,
    steps: u32,
}

/// A stream's unfinished segment.
#[derive(Debug, Default)]
struct Gathering {
    bytes: Vec<u8>,
    first: u64,
    steps: u32,
    /// Cycles of computing, which are one step however many instructions compute.
    computing: u32,
}

/// Writes a trace's steps.
#[derive(Debug)]
pub struct Recorder {
    spool: Spool,
    segments: Vec<Segment>,
    gathering: FxHashMap<u64, Gathering>,
    gathered: usize,
    most_gathered: usize,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(Spool::default(), GATHERED)
    }
}

impl Recorder {
    fn new(spool: Spool, most_gathered: usize) -> Self {
        let gathering = FxHashMap::default();
        Self { spool, segments: Vec::new(), gathering, gathered: 0, most_gathered }
    }

    /// Appends a step to a stream.
    ///
    /// # Errors
    /// If the temporary folder has no room.
    pub fn append(&mut self, stream: u64, step: &Step) -> io::Result<()> {
        let gathered = &mut self.gathered;
        let gathering = self.gathering.entry(stream).or_insert_with(|| {
            *gathered += OVERHEAD;
            Gathering::default()
        });
        let before = gathering.bytes.len();
        if let Step::Compute(cycles) = step {
            gathering.compute(*cycles);
        } else {
            gathering.end_computing();
            gathering.put(step);
        }
        self.gathered += gathering.bytes.len() - before;
        if gathering.steps >= SEGMENT_STEPS {
            self.gathered -= gathering.bytes.len();
            self.segments.extend(gathering.write(stream, &mut self.spool)?);
        }
        if self.gathered > self.most_gathered {
            self.write_all()?;
        }
        Ok(())
    }

    /// Writes every unfinished segment. A run of computing stays open, so that where segments end is no matter.
    fn write_all(&mut self) -> io::Result<()> {
        let mut all: Vec<_> = self.gathering.iter_mut().collect();
        all.sort_unstable_by_key(|(stream, _)| **stream);
        for (stream, gathering) in all {
            self.segments.extend(gathering.write(*stream, &mut self.spool)?);
            gathering.bytes.shrink_to_fit();
        }
        self.gathered = self.gathering.len() * OVERHEAD;
        // With more streams than fit there would be a segment for each step.
        self.most_gathered = self.most_gathered.max(self.gathered * 2);
        Ok(())
    }

    /// All steps are there.
    ///
    /// # Errors
    /// If the temporary folder has no room.
    pub fn finish(mut self) -> io::Result<Store> {
        self.gathering.values_mut().for_each(Gathering::end_computing);
        self.write_all()?;
        let Self { spool, mut segments, .. } = self;
        segments.sort_unstable_by_key(|segment| (segment.stream, segment.first));
        segments.shrink_to_fit();
        Ok(Store { spool, segments, cache: Cache::default() })
    }
}

impl Gathering {
    fn put(&mut self, step: &Step) {
        step.write(&mut self.bytes);
        self.steps += 1;
    }

    fn compute(&mut self, cycles: u32) {
        if let Some(sum) = self.computing.checked_add(cycles) {
            self.computing = sum;
        } else {
            self.end_computing();
            self.computing = cycles;
        }
    }

    fn end_computing(&mut self) {
        if self.computing > 0 {
            self.put(&Step::Compute(self.computing));
            self.computing = 0;
        }
    }

    fn write(&mut self, stream: u64, spool: &mut Spool) -> io::Result<Option<Segment>> {
        if self.steps == 0 {
            return Ok(None);
        }
        let at = spool.append(&self.bytes)?;
        let segment =
            Segment { stream, first: self.first, at, bytes: self.bytes.len() as u32, steps: self.steps };
        self.first += u64::from(self.steps);
        self.steps = 0;
        self.bytes.clear();
        Ok(Some(segment))
    }
}

/// The steps of a trace.
#[derive(Debug)]
pub struct Store {
    spool: Spool,
    /// In the order of streams and of their steps.
    segments: Vec<Segment>,
    cache: Cache,
}

impl Store {
    /// Step `nth` of a stream as an operation, or `None` past its end.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub fn operation(&self, stream: u64, nth: u64) -> io::Result<Option<Operation>> {
        let after = self.segments.partition_point(|it| (it.stream, it.first) <= (stream, nth));
        let found = after.checked_sub(1).and_then(|number| Some((number, self.segments.get(number)?)));
        let Some((number, segment)) = found.filter(|(_, segment)| segment.stream == stream) else {
            return Ok(None);
        };
        let within = nth - segment.first;
        if within >= u64::from(segment.steps) {
            return Ok(None);
        }
        let operations = self.cache.get(number, || self.load(segment))?;
        Ok(operations.get(within as usize).cloned())
    }

    fn load(&self, segment: &Segment) -> io::Result<Vec<Operation>> {
        let bytes = self.spool.read(segment.at, segment.bytes as usize)?;
        let mut rest = bytes.as_slice();
        let steps = (0..segment.steps).map(|_| Step::read(&mut rest).map(Operation::from));
        steps.collect::<Option<_>>().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::step::Touch;
    use super::*;
    use crate::model::access::AccessKind;
    use crate::model::address::Address;
    use crate::model::operation::Lanes;

    fn touch(address: u64) -> Step {
        Step::Touch(Touch {
            kind: AccessKind::Load,
            width: 4,
            lanes: Lanes::one(Address(address)),
            seed: address,
        })
    }

    /// Streams of different lengths, interleaved, with runs of computing that end at different times.
    fn record(mut recorder: Recorder) -> Store {
        for nth in 0..4000u64 {
            for stream in [3, 0, 1 << 60] {
                let step =
                    if (nth + stream) % 3 == 0 { touch(stream / 2 + nth) } else { Step::Compute(nth as u32) };
                if stream != 3 || nth < 700 {
                    recorder.append(stream, &step).unwrap();
                }
            }
        }
        recorder.finish().unwrap()
    }

    fn all(store: &Store, stream: u64) -> Vec<Operation> {
        (0..).map_while(|nth| store.operation(stream, nth).unwrap()).collect()
    }

    #[test]
    fn a_trace_larger_than_its_window_is_the_same_trace() {
        let whole = record(Recorder::default());
        let small = record(Recorder::new(Spool::with_window(100), 300));
        assert!(small.spool.file().is_some() && whole.spool.file().is_none());
        assert!(small.segments.len() > 2 * whole.segments.len());
        for (stream, length) in [(0, 2667), (3, 467), (1 << 60, 2667), (1, 0)] {
            let expected = all(&whole, stream);
            assert_eq!((expected.len(), all(&small, stream)), (length, expected), "{stream}");
        }
        assert_eq!(all(&whole, 3)[1], Operation::Compute(1 + 2));
        assert_eq!(whole.operation(u64::MAX, u64::MAX).unwrap(), None);
    }

    #[test]
    fn long_computing_is_not_lost() {
        let mut recorder = Recorder::default();
        for _ in 0..3 {
            recorder.append(0, &Step::Compute(u32::MAX)).unwrap();
        }
        assert_eq!(all(&recorder.finish().unwrap(), 0), vec![Operation::Compute(u32::MAX); 3]);
    }

    #[test]
    fn a_lost_temporary_file_is_told() {
        let store = record(Recorder::new(Spool::with_window(100), 300));
        store.spool.file().unwrap().set_len(10).unwrap();
        assert!(store.operation(0, 1000).is_err());
    }
}
