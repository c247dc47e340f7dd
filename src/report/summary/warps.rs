//! Where warps spent their time.

use std::collections::BTreeSet;

use super::table::Table;
use super::values::Values;
use crate::model::component::{Component, ComponentKind};
use crate::model::inspect::Inspect;
use crate::model::text::key_word;
use crate::model::warp::WarpState;

/// Groups that fit beside each other.
const GROUPS: usize = 6;

/// Shares of the time in which warps had work, by state: all, and each GPU and the host that had any.
pub fn table(machine: &dyn Inspect, values: &Values) -> Table {
    let agents = machine.components().iter().map(|(_, component)| component);
    let agents = agents.filter(|one| matches!(one.kind, ComponentKind::Cu | ComponentKind::Core));
    let groups: BTreeSet<&str> = agents.map(Component::device).collect();
    let key = |group: &str, state: WarpState| format!("{group}warp_share.{}", key_word(state.name()));
    let worked = |group: &&str| values.get(&key(&format!("{group}."), WarpState::Memory)).is_finite();
    let worked: Vec<&str> = groups.into_iter().filter(worked).collect();
    let shown = if worked.len() > GROUPS { &[] } else { worked.as_slice() };
    let mut table = Table::new(["warp time", "all"].into_iter().chain(shown.iter().copied()));
    for state in WarpState::ALL.into_iter().filter(|state| values.is_some(&key("", *state))) {
        let each = shown.iter().map(|group| values.percent(&key(&format!("{group}."), state)));
        table.row(state.name(), std::iter::once(values.percent(&key("", state))).chain(each));
    }
    table
}
