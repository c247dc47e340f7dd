//! Whether the protocols of a machine's caches can do what is asked of them where they stand.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Builder;
use crate::config::machine::Organisation;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::node::{NodeConfig, Role};
use crate::protocol::store::Store;
use crate::protocol::table::{Cell, Row, Step};

impl Builder<'_> {
    pub(super) fn check_protocols(&self) -> Result<()> {
        for (config, _) in self.configs.iter().filter(|(config, _)| config.role != Role::Root) {
            self.check_masks(config)?;
            self.check_accesses(config)?;
            self.check_steps(config)?;
            self.check_stack(config)?;
            self.check_shared(config)?;
        }
        self.check_pairs()?;
        self.check_beside()
    }

    /// A cache that keeps back what is stored in it must know which bytes those are: others store what stands beside them.
    fn check_masks(&self, config: &NodeConfig) -> Result<()> {
        let table = &config.table;
        if config.mask_bytes <= 1 || !table.hides_stores(config.role != Role::Leaf) {
            return Ok(());
        }
        let message = format!(
            "{} keeps to {}, in which stores stay where others do not see them, and a bit of the mask stands for {} B: what others \
             store beside them would be lost",
            self.components.path(config.id),
            table.name,
            config.mask_bytes
        );
        Err(Box::new(Diagnostic::new(message).expected("gpu.memory.mask_bytes = 1")))
    }

    /// A cache that has accesses of its own needs a table that says what becomes of them.
    fn check_accesses(&self, config: &NodeConfig) -> Result<()> {
        let misses = |action: &Action| !config.table.cell(State::I, *action, false).is_some_and(is_of_cache);
        let accesses = [Action::Load, Action::Store, Action::NStore];
        let Some(action) = accesses.into_iter().find(misses).filter(|_| config.role == Role::Leaf) else {
            return Ok(());
        };
        let (path, name, action) = (self.components.path(config.id), &config.table.name, action.name());
        let message = format!(
            "{path} keeps to {name}, which does not say what becomes of {action} in an L1 where it misses"
        );
        Err(Box::new(Diagnostic::new(message).expected("a protocol with rows of [cache] for an L1")))
    }

    /// What only a memory that is a cache of another does must be in the table of such a memory.
    fn check_steps(&self, config: &NodeConfig) -> Result<()> {
        let cells = |row: &Row| if config.role == Role::Leaf { row.leaf } else { row.inner };
        let tagged = config.table.rows.iter().find_map(|row| {
            let cell = cells(row).into_iter().flatten().find(|cell| !is_of_cache(*cell))?;
            Some((row.state, cell.step.name()))
        });
        let Some((state, step)) = tagged.filter(|_| config.tags.is_none()) else { return Ok(()) };
        let (path, table) = (self.components.path(config.id), &config.table);
        let message = format!("{path} keeps to {}, whose row {state} has `{step}`", table.name);
        let expected = "another step: only a GPU memory with tags (gpu.tags) does that";
        Err(Box::new(Diagnostic::new(message).expected(expected)))
    }

    /// A stack that keeps blocks of the host's memory, which no fence empties, has to be told when they change.
    fn check_stack(&self, config: &NodeConfig) -> Result<()> {
        let is_stack = self.components.get(config.id).is_some_and(|part| part.kind == ComponentKind::Smd);
        let keeps = config.table.rows.iter().any(|row| row.inner.iter().any(Option::is_some));
        if !is_stack || !keeps || config.table.has_directory() {
            return Ok(());
        }
        let message = format!(
            "{} keeps to {}, which has no [directory]: its blocks would grow stale",
            self.components.path(config.id),
            config.table.name
        );
        let expected = "a protocol with a [directory], or gpu.memory.home = \"numa\"";
        Err(Box::new(Diagnostic::new(message).expected(expected)))
    }

    /// An L2 that keeps lines of other sockets, of which nobody tells it, has to be emptied by an acquire.
    fn check_shared(&self, config: &NodeConfig) -> Result<()> {
        let numa = self.spec.gpu.as_ref().and_then(|gpu| gpu.numa.as_ref());
        let keeps_remote = numa.is_some_and(|numa| {
            matches!(numa.organisation, Organisation::Shared | Organisation::Partitioned)
        });
        let is_l2 = self.components.get(config.id).is_some_and(|part| part.kind == ComponentKind::L2);
        let table = &config.table;
        let lasts = |row: &Row| {
            let cell = |action| table.cell(row.state, action, true);
            cell(Action::Load).is_some_and(|cell| cell.step == Step::Hit) && cell(Action::Acquire).is_none()
        };
        if !keeps_remote || !is_l2 || table.has_directory() || !table.rows.iter().any(lasts) {
            return Ok(());
        }
        let message = format!(
            "{} keeps to {}, whose lines outlast an acquire: those of other sockets would grow stale",
            self.components.path(config.id),
            table.name
        );
        let expected =
            "gpu.l2.protocol = \"gpu-coherent\" or \"gpu-write-through\", or gpu.numa.l2 = \"memory-side\"";
        Err(Box::new(Diagnostic::new(message).expected(expected)))
    }

    /// Each cache and what is below it have to go together. Pairs that are alike are looked at once: eight sockets have 65,536.
    fn check_pairs(&self) -> Result<()> {
        let configs: FxHashMap<ComponentId, (usize, &NodeConfig)> =
            self.configs.iter().zip(0..).map(|((config, _), place)| (config.id, (place, config))).collect();
        let children = |of: &NodeConfig| -> Vec<&NodeConfig> {
            let known = of.children.iter().filter_map(|child| configs.get(child).copied());
            let mut known: Vec<_> = known.collect();
            known.sort_unstable_by_key(|(place, _)| *place);
            known.into_iter().map(|(_, child)| child).collect()
        };
        let kind = |of: &NodeConfig| (Arc::as_ptr(&of.table), of.block, of.role, of.tags.is_some());
        let asks = |of: &NodeConfig| (Arc::as_ptr(&of.table), of.children.is_empty());
        let stack = |of: &NodeConfig| -> BTreeSet<_> { children(of).into_iter().map(asks).collect() };
        let stacks: FxHashMap<ComponentId, _> =
            configs.iter().map(|(id, (_, config))| (*id, (asks(config), stack(config)))).collect();
        let mut seen = FxHashSet::default();
        for (parent, _) in &self.configs {
            for child in children(parent) {
                if seen.insert((kind(parent), kind(child), stacks.get(&child.id))) {
                    self.check_pair(parent, child)?;
                }
            }
        }
        Ok(())
    }

    fn check_pair(&self, parent: &NodeConfig, child: &NodeConfig) -> Result<()> {
        let (table, above) = (&parent.table, &child.table);
        let (to, from) = (self.components.path(parent.id), self.components.path(child.id));
        if child.block > parent.block {
            let (blocks, lines) = (parent.block, child.block);
            let message = format!("{to} has blocks of {blocks} B, and {from} above it lines of {lines} B");
            let expected = "lines no larger than the blocks below them";
            return Err(Box::new(Diagnostic::new(message).expected(expected)));
        }
        let requests = || self.requests_of(child);
        let mut rules = requests().flat_map(|kind| table.directory(kind));
        let unknown = rules.find(|rule| above.row(rule.grant).is_none()).map(|rule| {
            let grant = rule.grant;
            format!("grants {grant}, a state that {}, the protocol of {from}, does not have", above.name)
        });
        let unanswered = requests().find(|kind| table.directory(*kind).is_empty()).map(|kind| {
            format!("has no answer to a {} of {}, the protocol of {from}", kind.name(), above.name)
        });
        let action = |kind: MessageKind| match kind {
            MessageKind::Write => Action::Store,
            MessageKind::ReadNc => Action::NStore,
            _ => Action::Load,
        };
        let is_cache = parent.role == Role::Inner && parent.tags.is_none();
        // A request that is handed on grants nothing.
        let grants =
            |cell: Cell| matches!(cell.step, Step::Hit | Step::Ask(_) | Step::Fetch | Step::Allocate);
        let is_heard = |kind: &MessageKind| table.cell(State::I, action(*kind), true).is_some_and(grants);
        let unheard = requests().find(|kind| is_cache && !is_heard(kind)).map(|kind| {
            format!("has nothing to grant for a {} of {}, the protocol of {from}", kind.name(), above.name)
        });
        let allocates =
            above.cell(State::I, Action::NStore, true).is_some_and(|cell| cell.step == Step::Allocate);
        let is_told = is_cache && table.has_directory();
        let unasked = (is_told && allocates && child.role == Role::Inner).then(|| {
            format!(
                "keeps account of what caches above it hold, and {}, the protocol of {from}, stores to lines that it has not asked for",
                above.name
            )
        });
        let Some(wrong) = unknown.or(unanswered).or(unheard).or(unasked) else { return Ok(()) };
        let message = format!("{to} keeps to {}, which {wrong}", table.name);
        let expected = if table.name == above.name {
            "an answer to what its own caches ask: a rule of [directory], and cells that grant"
        } else {
            "protocols that go together, or one and the same for both (`protocol` is for all that have none of their own, such as `gpu.l1.protocol`)"
        };
        Err(Box::new(Diagnostic::new(message).expected(expected)))
    }

    /// What a cache may ask its parent for, on its own account or to perform what those above it pass up.
    fn requests_of(&self, cache: &NodeConfig) -> impl Iterator<Item = MessageKind> {
        let above = self.configs.iter().filter(|(config, _)| cache.children.contains(&config.id));
        let passed = above.flat_map(|(config, _)| config.table.passes_up(!config.children.is_empty()));
        let performed = passed.flat_map(|action| cache.table.requests_to_perform(action));
        cache.table.requests(!cache.children.is_empty()).chain(performed)
    }

    /// Where a GPU takes no part in coherence, whatever the CPU stores has to be coherent.
    fn check_beside(&self) -> Result<()> {
        let takes_no_part = |(config, _): &&(NodeConfig, Store)| config.table.uncached.is_some();
        let hides = |(config, _): &&(NodeConfig, Store)| {
            self.components.is_host(config.id) && config.table.is_noncoherent()
        };
        let Some((hiding, _)) = self.configs.iter().find(hides) else { return Ok(()) };
        let Some((apart, _)) = self.configs.iter().find(takes_no_part) else { return Ok(()) };
        let message = format!(
            "{} keeps to {}, in which stores may be hidden from others, and {} takes no part in its coherence",
            self.components.path(hiding.id),
            hiding.table.name,
            self.components.path(apart.id)
        );
        Err(Box::new(
            Diagnostic::new(message).expected("a protocol of the host without a non-coherent state"),
        ))
    }
}

/// Whether a cache may do what a cell says; the other steps are of a memory that is one.
fn is_of_cache(cell: Cell) -> bool {
    !matches!(cell.step, Step::Relay | Step::Both)
}
