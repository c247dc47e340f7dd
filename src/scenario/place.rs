//! Names in a scenario resolved against its machine's components.

use crate::config::Document;
use crate::config::document::At;
use crate::diagnostic::Result;
use crate::model::component::{Component, ComponentId, ComponentKind, Components, canonical, is_beneath};
use crate::query::Pattern;

/// Finds components for names in a document.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub document: &'a Document,
    pub components: &'a Components,
}

impl<'a> Place<'a> {
    /// The one compute unit or core that a name means.
    pub fn agent(self, name: &At<String>) -> Result<(ComponentId, &'a Component)> {
        let fits = |kind| matches!(kind, ComponentKind::Cu | ComponentKind::Core);
        self.one(name, "compute unit or core", fits)
    }

    /// The warp of this number of an agent that has so many.
    pub fn warp(self, number: &At<u64>, agent: &Component, slots: usize) -> Result<u32> {
        let warp = u32::try_from(number.value).ok().filter(|warp| (*warp as usize) < slots);
        warp.ok_or_else(|| {
            let message = format!("{} has no warp {}", agent.path, number.value);
            let error = self.document.complain(Some(&number.span), message);
            error.expected(format!("0 to {}", slots.saturating_sub(1))).into()
        })
    }

    /// The one cache or directory that a name means.
    pub fn node(self, name: &At<String>) -> Result<(ComponentId, &'a Component)> {
        self.one(name, "cache or directory", ComponentKind::is_node)
    }

    /// The child of `parent` that a name means.
    pub fn child(self, parent: ComponentId, name: &At<String>) -> Result<&'a Component> {
        let is_child = |(_, component): &(_, &Component)| component.parents.contains(&parent);
        let children: Vec<_> = self.components.iter().filter(is_child).map(|(id, _)| id).collect();
        let what = format!("child of {}", self.components.path(parent));
        let found = self.matching(name, |id, _| children.contains(&id));
        self.only(name, &what, &found, |id, _| children.contains(&id)).map(|(_, component)| component)
    }

    /// That a prefix of paths means parts of GPUs that give a memory what they hold when they are flushed; returns it as the paths
    /// write it.
    pub fn flushed(self, name: &At<String>) -> Result<String> {
        let group = canonical(&name.value);
        let is_meant = |component: &Component| is_beneath(&component.path, &group);
        let is_home = |id: &ComponentId| {
            let parent = self.components.get(*id);
            parent.is_some_and(|parent| matches!(parent.kind, ComponentKind::Hmd | ComponentKind::Memory))
        };
        let gives = |(id, component): (ComponentId, &Component)| {
            !self.components.is_host(id) && component.parents.iter().any(is_home)
        };
        if self.components.iter().any(|(id, component)| is_meant(component) && gives((id, component))) {
            return Ok(group);
        }
        if self.components.iter().any(|(_, component)| is_meant(component)) {
            let message = format!("what {} holds goes to no memory when it is flushed", name.value);
            let tops = self.components.iter().find(|(id, component)| gives((*id, component)));
            let example = tops.map_or_else(String::new, |(_, top)| format!(", such as {}", top.path));
            let error = self.document.complain(Some(&name.span), message);
            return Err(error.expected(format!("a GPU, or what is in front of a memory{example}")).into());
        }
        let groups: Vec<&str> = self
            .components
            .iter()
            .filter_map(|(_, c)| c.path.split_once('.'))
            .map(|(group, _)| group)
            .collect();
        let error = self.document.complain(Some(&name.span), format!("nothing is beneath {}", name.value));
        Err(error.nearest(&name.value, groups).into())
    }

    fn one(
        self,
        name: &At<String>,
        what: &str,
        fits: impl Fn(ComponentKind) -> bool,
    ) -> Result<(ComponentId, &'a Component)> {
        let found = self.matching(name, |_, component| fits(component.kind));
        self.only(name, what, &found, |_, component| fits(component.kind))
    }

    /// Components that fit: the one of exactly this path, else those that the pattern matches.
    fn matching(
        self,
        name: &At<String>,
        fits: impl Fn(ComponentId, &Component) -> bool,
    ) -> Vec<(ComponentId, &'a Component)> {
        let fitting = || self.components.iter().filter(|(id, component)| fits(*id, component));
        if let Some(exact) = fitting().find(|(_, component)| component.path == name.value) {
            return vec![exact];
        }
        let Some(pattern) = Pattern::parse(&name.value) else { return Vec::new() };
        fitting().filter(|(_, component)| pattern.matches(&component.path)).collect()
    }

    fn only(
        self,
        name: &At<String>,
        what: &str,
        found: &[(ComponentId, &'a Component)],
        fits: impl Fn(ComponentId, &Component) -> bool,
    ) -> Result<(ComponentId, &'a Component)> {
        let complain = |message: String| self.document.complain(Some(&name.span), message);
        let paths = |list: &[(ComponentId, &'a Component)]| {
            let paths: Vec<_> = list.iter().take(8).map(|(_, component)| component.path.as_str()).collect();
            paths.join(", ")
        };
        match *found {
            [only] => Ok(only),
            [] => {
                let fitting: Vec<_> = self.components.iter().filter(|(id, c)| fits(*id, c)).collect();
                let error = complain(format!("there is no {what} {}", name.value));
                let error = error.expected(format!("one of {}", paths(&fitting)));
                Err(error.nearest(&name.value, fitting.iter().map(|(_, c)| c.path.as_str())).into())
            }
            _ => {
                let error = complain(format!("{} means more than one {what}", name.value));
                Err(error.expected(format!("one of {}", paths(found))).into())
            }
        }
    }
}
