//! Whether all deliveries come to an end: from every state, without new accesses, whatever the order.
//!
//! States from which every order of delivery ends are taken away, last ones first (Kahn). What is left leads into a cycle: a
//! livelock if no order leads out of it to a state with nothing under way, and otherwise starvation, which an unfair order
//! keeps up.

use super::search::Edge;

/// A cycle of deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its states, in order.
    pub states: Vec<u32>,
    /// Another order leads out of it.
    pub is_escapable: bool,
}

/// Predecessors of every state, by deliveries.
struct Reverse {
    /// Where those of each state begin in the list.
    first: Vec<u32>,
    list: Vec<u32>,
}

impl Reverse {
    fn new(numbers: usize, edges: &[Vec<Edge>]) -> Self {
        let mut first = vec![0u32; numbers + 1];
        for &(_, to) in edges.iter().flatten() {
            first[to as usize + 1] += 1;
        }
        for number in 0..numbers {
            first[number + 1] += first[number];
        }
        let mut next = first.clone();
        let mut list = vec![0; first[numbers] as usize];
        for &(from, to) in edges.iter().flatten() {
            let place = &mut next[to as usize];
            list[*place as usize] = from;
            *place += 1;
        }
        Self { first, list }
    }

    fn of(&self, state: u32) -> &[u32] {
        let at = state as usize;
        &self.list[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// A cycle among the deliveries of states numbered below `numbers`, if there is one.
#[must_use]
pub fn cycle(numbers: usize, edges: &[Vec<Edge>]) -> Option<Cycle> {
    let reverse = Reverse::new(numbers, edges);
    let mut left = vec![0u32; numbers];
    for &(from, _) in edges.iter().flatten() {
        left[from as usize] += 1;
    }
    let mut ended: Vec<u32> = (0..numbers as u32).filter(|&state| left[state as usize] == 0).collect();
    let mut count = 0;
    while let Some(state) = ended.pop() {
        count += 1;
        for &before in reverse.of(state) {
            left[before as usize] -= 1;
            if left[before as usize] == 0 {
                ended.push(before);
            }
        }
    }
    if count == numbers {
        return None;
    }
    let states = round(&left, edges);
    let is_escapable = escapes(&left, &reverse, states.first().copied().unwrap_or_default());
    Some(Cycle { states, is_escapable })
}

/// Follows deliveries among the states that are left until one comes again.
fn round(left: &[u32], edges: &[Vec<Edge>]) -> Vec<u32> {
    let is_left = |state: u32| left[state as usize] > 0;
    let mut after = vec![u32::MAX; left.len()];
    for &(from, to) in edges.iter().flatten() {
        if is_left(from) && is_left(to) && to < after[from as usize] {
            after[from as usize] = to;
        }
    }
    let Some(start) = (0..left.len() as u32).find(|&state| is_left(state)) else { return Vec::new() };
    let mut seen = std::collections::BTreeMap::new();
    let (mut way, mut at) = (Vec::new(), start);
    while !seen.contains_key(&at) {
        seen.insert(at, way.len());
        way.push(at);
        at = after[at as usize];
    }
    way.split_off(seen.get(&at).copied().unwrap_or(0))
}

/// Whether some order leads from `state` to one from which all orders end.
fn escapes(left: &[u32], reverse: &Reverse, state: u32) -> bool {
    let mut reached: Vec<bool> = left.iter().map(|&left| left == 0).collect();
    let mut open: Vec<u32> = (0..left.len() as u32).filter(|&state| reached[state as usize]).collect();
    while let Some(at) = open.pop() {
        for &before in reverse.of(at) {
            if !std::mem::replace(&mut reached[before as usize], true) {
                open.push(before);
            }
        }
    }
    reached[state as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_end_have_no_cycle() {
        assert_eq!(cycle(4, &[vec![(0, 1), (0, 2)], vec![(1, 3), (2, 3)]]), None);
        assert_eq!(cycle(3, &[]), None);
    }

    #[test]
    fn a_cycle_without_a_way_out_is_told_from_one_with() {
        let inside = vec![(0, 1), (1, 2), (2, 1)];
        let found = cycle(4, std::slice::from_ref(&inside)).unwrap();
        assert_eq!(found, Cycle { states: vec![1, 2], is_escapable: false });
        let found = cycle(4, &[inside, vec![(2, 3)]]).unwrap();
        assert_eq!(found, Cycle { states: vec![1, 2], is_escapable: true });
    }
}
