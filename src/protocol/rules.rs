//! The rules of the engine beyond its tables: what makes them right where several requests are under way at once. Each was
//! found by exploring every order of small machines, with what goes wrong without it. Places that keep one name its number; most can be
//! switched off (`model::fault`).

/// A rule: its number, what it says, and what goes wrong without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub number: u32,
    pub says: &'static str,
    pub without: &'static str,
}

const fn rule(number: u32, says: &'static str, without: &'static str) -> Rule {
    Rule { number, says, without }
}

/// They take for granted that a child's writebacks, probe answers and grant acknowledgements keep one order.
pub const RULES: [Rule; 14] = [
    rule(
        1,
        "a node that waits for its parent's grant answers that one's probes at once, by its stable state",
        "a store waits for its grant while the probe before it waits for the store: a deadlock",
    ),
    rule(
        2,
        "a node that asks its children lets its parent's probe wait until they have answered",
        "it answers that it has nothing while a child still has",
    ),
    rule(
        3,
        "a node asks for no block of which its writeback is not acknowledged",
        "the request overtakes the writeback, and old data are granted",
    ),
    rule(
        4,
        "a grant is acknowledged; until then its parent neither probes the child nor serves others for the block",
        "a probe overtakes the grant, and there are two owners",
    ),
    rule(
        5,
        "what asked is performed as its grant comes, before that is acknowledged; what to send is decided as a request is served",
        "a copy that was lost meanwhile would need a negative answer",
    ),
    rule(
        6,
        "a write grant carries data, laid under the requester's own dirty bytes",
        "a sharer keeps old bytes that another has written, or loses its own",
    ),
    rule(
        7,
        "E is granted only if nobody else has the block and the granting node is itself E or M, or the root",
        "a cache writes at once what others still have",
    ),
    rule(
        8,
        "a writeback is accepted in every state, at once, and acknowledged",
        "it stands before the answer to a probe: a deadlock",
    ),
    rule(
        9,
        "a child leaves the directory as its writeback or its answer comes, not as a probe is sent to it",
        "what it writes back meanwhile is lost",
    ),
    rule(
        10,
        "a writeback is no answer to a probe: whoever is probed answers",
        "the late answer takes a child out that has the block again",
    ),
    rule(
        11,
        "who evicts has nothing any more as soon as its writeback is sent",
        "nothing: it would wait in more states",
    ),
    rule(
        12,
        "M and O have dirty masks too, and every merge is under the mask",
        "whole blocks that are merged lose what others have n-stored",
    ),
    rule(
        13,
        "who gives data to a read probe clears its mask, and its parent merges them before it grants",
        "a later writeback brings bytes back that another has overwritten",
    ),
    rule(
        14,
        "dirty data of an N child turn E of its parent into M, and S into N",
        "a parent in S answers a write probe without them, and they are lost",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fault::Fault;

    #[test]
    fn what_switches_rules_off_names_ones_that_there_are() {
        assert!(RULES.iter().zip(1..).all(|(rule, number)| rule.number == number));
        let off: Vec<u32> = Fault::NAMES
            .iter()
            .filter_map(|name| Fault::about(name).split_once("(rule ")?.1.split_once(" off)")?.0.parse().ok())
            .collect();
        let without = |number| !off.contains(&number);
        assert!(off.iter().all(|number| RULES.iter().any(|rule| rule.number == *number)), "{off:?}");
        // Of these a wrong version could not be told from a right one.
        assert_eq!((1..=14).filter(|number| without(*number)).collect::<Vec<_>>(), [5, 11]);
    }
}
