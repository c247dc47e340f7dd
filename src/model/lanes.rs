//! Lanes of a link that may change their direction ("Beyond the Socket: NUMA-Aware GPUs", section 4).

/// A direction of a link, from the device whose link it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneDirection {
    /// From the device (egress).
    Out,
    /// To the device (ingress).
    In,
}

impl LaneDirection {
    pub const ALL: [Self; 2] = [Self::Out, Self::In];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
        }
    }

    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// Where lanes are on their way from one direction to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LanePhase {
    /// They take no new packets; what is on them arrives first.
    Quiesce,
    /// They are turned round, and belong to neither direction.
    Turn,
    /// They belong to the other direction.
    Done,
}

impl LanePhase {
    pub const ALL: [Self; 3] = [Self::Quiesce, Self::Turn, Self::Done];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quiesce => "quiesce",
            Self::Turn => "turn",
            Self::Done => "done",
        }
    }
}

/// Why lanes change their direction, or stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneReason {
    /// Neither direction is saturated.
    Unsaturated,
    /// One direction is saturated, and the other is not.
    Saturated,
    /// The same, but the other has its last lane.
    LastLane,
    /// Both are saturated, and the lanes are unequal: back towards symmetry.
    Equalise,
    /// Both are saturated, and the lanes are equal: nothing to turn.
    Balanced,
    /// Lanes are on their way already.
    Turning,
    /// A kernel was launched: symmetric again.
    Launch,
    /// The lanes are fixed.
    Static,
}

impl LaneReason {
    /// Those for which lanes turn.
    pub const TURNING: [Self; 3] = [Self::Saturated, Self::Equalise, Self::Launch];

    /// Those that a sample ends with.
    pub const SAMPLED: [Self; 7] = [
        Self::Unsaturated,
        Self::Saturated,
        Self::LastLane,
        Self::Equalise,
        Self::Balanced,
        Self::Turning,
        Self::Static,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsaturated => "unsaturated",
            Self::Saturated => "saturated",
            Self::LastLane => "last-lane",
            Self::Equalise => "equalise",
            Self::Balanced => "balanced",
            Self::Turning => "turning",
            Self::Launch => "launch",
            Self::Static => "static",
        }
    }

    /// What it means, in few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Unsaturated => "neither direction is saturated",
            Self::Saturated => "one direction is saturated, the other is not",
            Self::LastLane => "the last lane never turns",
            Self::Equalise => "both are saturated: back towards symmetry",
            Self::Balanced => "both are saturated: nothing to turn",
            Self::Turning => "lanes are turning already",
            Self::Launch => "a kernel was launched: symmetric again",
            Self::Static => "the lanes are fixed",
        }
    }
}

/// One direction of a link at the end of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Percent of the sample in which it was busy, rounded down.
    pub utilisation: u32,
    pub lanes: u32,
}

/// Both directions of a link at the end of a sample: what its balancer decides by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flows {
    pub out: Flow,
    pub into: Flow,
}

impl Flows {
    #[must_use]
    pub fn of(&self, direction: LaneDirection) -> Flow {
        match direction {
            LaneDirection::Out => self.out,
            LaneDirection::In => self.into,
        }
    }
}

/// What is to become of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneDecision {
    /// The direction that gets a lane of the other.
    pub to: Option<LaneDirection>,
    pub reason: LaneReason,
}

/// Lanes go on in their change of direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneReversal {
    pub to: LaneDirection,
    pub phase: LanePhase,
    pub reason: LaneReason,
    /// How many turn.
    pub count: u32,
    /// The lanes that packets can take from now on, and the utilisation in the last sample, of those that there were then.
    pub flows: Flows,
}

impl LaneReversal {
    /// The last sample with the lanes that there were in it.
    #[must_use]
    pub fn sampled(&self) -> Flows {
        let lanes = |direction: LaneDirection| {
            let Flow { utilisation, lanes } = self.flows.of(direction);
            let lanes = match (direction == self.to, self.phase) {
                (true, LanePhase::Done) => lanes.saturating_sub(self.count),
                (true, _) => lanes,
                (false, _) => lanes + self.count,
            };
            Flow { utilisation, lanes }
        };
        Flows { out: lanes(LaneDirection::Out), into: lanes(LaneDirection::In) }
    }
}

/// A direction of a link became saturated, or is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation {
    pub is_saturated: bool,
    pub flow: Flow,
}
