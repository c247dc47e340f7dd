//! Many compute units: how many warps of each do what, where they are too many to show every warp.

use crate::model::component::{ComponentId, Components};
use crate::model::inspect::Inspect;
use crate::model::warp::WarpState;

/// Units beyond which they are a crowd.
pub const FEW: usize = 64;

/// Warps by what they do, in the order of [`WarpState::ALL`].
pub type Counts = [u32; WarpState::ALL.len()];

/// The units of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// `gpu0`, `host`.
    pub device: String,
    pub units: Vec<Unit>,
}

/// One compute unit or core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    pub agent: ComponentId,
    pub counts: Counts,
}

impl Crowd {
    /// The devices of these units, in their order.
    pub fn of(names: &Components, units: impl Iterator<Item = Unit>) -> Vec<Self> {
        let mut crowds: Vec<Self> = Vec::new();
        for unit in units {
            let device = names.device(unit.agent);
            if crowds.last().is_none_or(|last| last.device != device) {
                crowds.push(Self { device: device.to_owned(), units: Vec::new() });
            }
            if let Some(last) = crowds.last_mut() {
                last.units.push(unit);
            }
        }
        crowds
    }

    /// All its warps.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for unit in &self.units {
            all.iter_mut().zip(unit.counts).for_each(|(sum, own)| *sum += own);
        }
        all
    }
}

/// Has no work, or has done it.
#[must_use]
pub fn is_idle(state: WarpState) -> bool {
    matches!(state, WarpState::None | WarpState::Done)
}

impl Unit {
    /// A compute unit or core as it is; none of anything else.
    #[must_use]
    pub fn of(machine: &dyn Inspect, agent: ComponentId) -> Option<Self> {
        Some(Self { agent, counts: machine.warp_counts(agent)? })
    }

    /// Whether one of its warps is at work.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !is_idle(self.most())
    }

    /// What most of its warps do that have work; whether it has none any more, or never had, if they have none.
    #[must_use]
    pub fn most(&self) -> WarpState {
        let count = |state: WarpState| self.counts.get(state as usize).copied().unwrap_or(0);
        let busy = WarpState::ALL.into_iter().filter(|state| !is_idle(*state) && count(*state) > 0);
        let done = if count(WarpState::Done) > 0 { WarpState::Done } else { WarpState::None };
        busy.max_by_key(|state| count(*state)).unwrap_or(done)
    }
}

/// So many signs dealt over counts by their share, and at least one to each that is not zero while there are enough.
#[must_use]
pub fn shares(counts: &Counts, signs: u32) -> Counts {
    let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let mut dealt = Counts::default();
    if all == 0 {
        return dealt;
    }
    for (own, count) in dealt.iter_mut().zip(counts) {
        let share = u64::from(*count) * u64::from(signs) / all;
        *own = (share as u32).max(u32::from(*count > 0));
    }
    // What is left over, or was given out too much, is that of the most.
    let given: u32 = dealt.iter().sum();
    if let Some(most) = dealt.iter_mut().max_by_key(|own| **own) {
        *most = (*most + signs).saturating_sub(given);
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(WarpState, u32)]) -> Counts {
        let mut counts = Counts::default();
        for (state, count) in of {
            counts[*state as usize] = *count;
        }
        counts
    }

    #[test]
    fn signs_are_dealt_by_share_and_none_is_forgotten() {
        let all = counts(&[(WarpState::Memory, 4000), (WarpState::Ready, 90), (WarpState::Done, 6)]);
        let dealt = shares(&all, 40);
        assert_eq!(dealt.iter().sum::<u32>(), 40);
        let of = |state: WarpState| dealt[state as usize];
        assert_eq!((of(WarpState::Ready), of(WarpState::Done), of(WarpState::Memory)), (1, 1, 38));
        assert_eq!(shares(&Counts::default(), 40), Counts::default());
    }

    #[test]
    fn a_unit_is_known_by_what_most_of_its_busy_warps_do() {
        let unit = |of: &[(WarpState, u32)]| Unit { agent: ComponentId(0), counts: counts(of) }.most();
        assert_eq!(unit(&[(WarpState::Done, 60), (WarpState::Memory, 3)]), WarpState::Memory);
        assert_eq!(unit(&[(WarpState::None, 60), (WarpState::Done, 4)]), WarpState::Done);
        assert_eq!(unit(&[(WarpState::None, 64)]), WarpState::None);
    }
}
