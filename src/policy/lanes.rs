//! Which direction of a link gets a lane of the other: the link load balancer of "Beyond the Socket: NUMA-Aware GPUs",
//! section 4.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::lanes::{Flow, Flows, LaneDecision, LaneDirection, LaneReason};

/// Who decides about the lanes of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LanePolicy {
    /// Nobody: a direction keeps its lanes.
    Static,
    /// The balancer of section 4, by default with its samples of 5,000 cycles and 99 %.
    #[default]
    Dynamic,
}

/// "If the lanes in one direction are not saturated, while the lanes in the opposite direction are 99% saturated, the link
/// load balancer [...] reverses the direction of one of the unsaturated lanes", until "all but one lane is configured in a
/// single direction. If both ingress and egress links are saturated and in an asymmetric configuration, links are then
/// reconfigured back toward a symmetric configuration". `threshold` is the utilisation that counts as saturated, in percent.
#[must_use]
pub fn decide(policy: LanePolicy, flows: Flows, threshold: u32) -> LaneDecision {
    let stay = |reason| LaneDecision { to: None, reason };
    if policy == LanePolicy::Static {
        return stay(LaneReason::Static);
    }
    let is_saturated = |flow: Flow| flow.utilisation >= threshold;
    match (is_saturated(flows.out), is_saturated(flows.into)) {
        (false, false) => stay(LaneReason::Unsaturated),
        (true, true) => match flows.out.lanes.cmp(&flows.into.lanes) {
            std::cmp::Ordering::Equal => stay(LaneReason::Balanced),
            std::cmp::Ordering::Less => turn(LaneDirection::Out, LaneReason::Equalise),
            std::cmp::Ordering::Greater => turn(LaneDirection::In, LaneReason::Equalise),
        },
        (out, _) => {
            let to = if out { LaneDirection::Out } else { LaneDirection::In };
            if flows.of(to.opposite()).lanes > 1 {
                turn(to, LaneReason::Saturated)
            } else {
                stay(LaneReason::LastLane)
            }
        }
    }
}

fn turn(to: LaneDirection, reason: LaneReason) -> LaneDecision {
    LaneDecision { to: Some(to), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decision(out: (u32, u32), into: (u32, u32)) -> (Option<LaneDirection>, LaneReason) {
        let flow = |(utilisation, lanes)| Flow { utilisation, lanes };
        let decision = decide(LanePolicy::Dynamic, Flows { out: flow(out), into: flow(into) }, 99);
        (decision.to, decision.reason)
    }

    #[test]
    fn the_cases_of_section_4() {
        use LaneDirection::{In, Out};
        assert_eq!(decision((98, 8), (30, 8)), (None, LaneReason::Unsaturated));
        assert_eq!(decision((99, 8), (30, 8)), (Some(Out), LaneReason::Saturated));
        assert_eq!(decision((98, 14), (100, 2)), (Some(In), LaneReason::Saturated));
        assert_eq!(decision((100, 15), (98, 1)), (None, LaneReason::LastLane));
        assert_eq!(decision((100, 8), (100, 8)), (None, LaneReason::Balanced));
        assert_eq!(decision((100, 5), (99, 11)), (Some(Out), LaneReason::Equalise));
        assert_eq!(decision((100, 9), (99, 7)), (Some(In), LaneReason::Equalise));
    }

    #[test]
    fn static_lanes_stay() {
        let busy = Flow { utilisation: 100, lanes: 4 };
        let idle = Flow { utilisation: 0, lanes: 4 };
        assert_eq!(decide(LanePolicy::Static, Flows { out: busy, into: idle }, 99).to, None);
    }

    proptest! {
        #[test]
        fn the_last_lane_never_turns_and_sides_are_alike(
            out in (0u32..=100, 1u32..=16), into in (0u32..=100, 1u32..=16),
        ) {
            let (to, reason) = decision(out, into);
            if let Some(to) = to {
                let losing = if to == LaneDirection::Out { into.1 } else { out.1 };
                prop_assert!(losing > 1);
            }
            prop_assert_eq!(decision(into, out), (to.map(LaneDirection::opposite), reason));
        }
    }
}
