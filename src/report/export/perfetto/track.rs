//! Processes and threads of a trace: groups of components, components and warps.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::component::{ComponentId, Components};

/// A thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Track {
    pub process: u32,
    pub thread: u32,
}

/// The tracks of a machine.
#[derive(Clone, Debug)]
pub struct Tracks {
    groups: Vec<String>,
    /// The process of every component, from 1.
    processes: Vec<u32>,
    /// Threads that have been used.
    used: BTreeSet<Track>,
    warps: BTreeMap<(ComponentId, u32), Track>,
}

impl Tracks {
    /// A process for every first word of a path.
    #[must_use]
    pub fn new(components: &Components) -> Self {
        let (mut groups, mut processes) = (Vec::<String>::new(), Vec::new());
        for (_, component) in components.iter() {
            let group = component.device();
            let known = groups.iter().position(|known| known == group);
            let index = known.unwrap_or_else(|| {
                groups.push(group.to_owned());
                groups.len() - 1
            });
            processes.push(index as u32 + 1);
        }
        Self { groups, processes, used: BTreeSet::new(), warps: BTreeMap::new() }
    }

    /// The names of the processes, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<String> {
        self.groups.clone()
    }

    /// The track of a component, whether it is used or not.
    #[must_use]
    pub fn component_without_name(&self, id: ComponentId) -> Track {
        Track { process: self.processes.get(id.index()).copied().unwrap_or(0), thread: id.0 + 1 }
    }

    /// The track of a component, and whether this is its first use.
    pub fn component(&mut self, id: ComponentId) -> (Track, bool) {
        let track = self.component_without_name(id);
        (track, self.used.insert(track))
    }

    /// The track of a warp, and whether this is its first use. Warps come after all components.
    pub fn warp(&mut self, of: ComponentId, warp: u32) -> (Track, bool) {
        let next = (self.processes.len() + self.warps.len()) as u32 + 1;
        let process = self.component_without_name(of).process;
        let mut new = false;
        let track = *self.warps.entry((of, warp)).or_insert_with(|| {
            new = true;
            Track { process, thread: next }
        });
        (track, new)
    }

    /// Where a thread stands in its process: warps by component and number, not by their first use.
    #[must_use]
    pub fn order(&self, track: Track) -> u64 {
        let warp = self.warps.iter().find(|(_, known)| **known == track);
        match warp {
            Some(((of, warp), _)) => (u64::from(of.0) + 1) << 16 | (u64::from(*warp) + 1),
            None => u64::from(track.thread) << 16,
        }
    }
}
