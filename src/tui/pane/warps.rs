//! Warps: a letter each, by what it does or waits for; the selected compute unit warp by warp.

use crate::debug::frame::Frame;
use crate::model::component::ComponentId;
use crate::model::inspect::{AgentView, WarpView};
use crate::model::warp::WarpState;

use super::age;
use super::crowd::{self, role};
use crate::report::number::counted;
use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Columns of the states, at least.
const STATES: u16 = 11;

#[must_use]
pub fn title(frame: &Frame) -> String {
    chosen(frame).map_or(String::new(), |agent| frame.info.components.path(agent.agent).to_owned())
}

/// The agent that is shown warp by warp: the selected one, or that of the selected L1.
fn chosen(frame: &Frame) -> Option<&AgentView> {
    let names = &frame.info.components;
    let path = names.path(frame.selection.component?);
    let agent = path.strip_suffix(".l1").unwrap_or(path);
    frame.agents.iter().find(|view| names.path(view.agent) == agent)
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if !frame.crowds.is_empty() {
        let y = crowd::draw(frame, canvas);
        let y = legend(frame, canvas, y);
        match chosen(frame) {
            Some(agent) => each(frame, canvas, y + 1, agent),
            None => busiest(frame, canvas, y + 1),
        }
        return;
    }
    if frame.agents.is_empty() {
        canvas.text(1, 0, "This machine has no compute units or cores", Role::Dim);
        return;
    }
    let width = names_width(frame);
    let slots = frame.agents.iter().map(|agent| agent.warps.len()).max().unwrap_or(1).clamp(1, 64) as u16;
    // Several agents side by side, as many as fit.
    let step = width + slots + 4;
    let across = (canvas.width() / step).max(1);
    let mut y = 0;
    for (nth, agent) in frame.agents.iter().enumerate() {
        let x = 1 + (nth as u16 % across) * step;
        y = nth as u16 / across;
        strip(frame, canvas, x, y, agent, width);
    }
    y = legend(frame, canvas, y + 1);
    if let Some(agent) = chosen(frame) {
        each(frame, canvas, y + 1, agent);
    } else {
        busiest(frame, canvas, y + 1);
    }
}

/// A row for each warp of the chosen agent.
fn each(frame: &Frame, canvas: &mut Canvas, y: u16, agent: &AgentView) {
    let states = states_width(agent.warps.iter());
    for (number, warp) in agent.warps.iter().enumerate() {
        let y = y.saturating_add(number as u16);
        one(frame, canvas, y, states, (agent.agent, number as u32, warp));
    }
}

fn names_width(frame: &Frame) -> u16 {
    let names = &frame.info.components;
    frame.agents.iter().map(|agent| names.path(agent.agent).len()).max().unwrap_or(4).min(14) as u16
}

fn strip(frame: &Frame, canvas: &mut Canvas, x: u16, y: u16, agent: &AgentView, width: u16) {
    canvas.field(x, y, width, frame.info.components.path(agent.agent), Role::Text);
    canvas.item(x, y, width, Target::Component(agent.agent));
    let mut at = x + width + 1;
    for (number, warp) in agent.warps.iter().take(64).enumerate() {
        let start = at;
        at = canvas.text(at, y, &warp.state.letter().to_string(), role(warp.state));
        canvas.item(start, y, 1, target(agent.agent, number as u32, warp));
    }
}

fn target(agent: ComponentId, warp: u32, view: &WarpView) -> Target {
    Target::Warp { agent, warp, txn: view.waits.first().copied(), page: view.page }
}

/// The letters of the states that warps can be in here.
fn legend(frame: &Frame, canvas: &mut Canvas, y: u16) -> u16 {
    let (mut x, mut row) = (1, y);
    let can_be = |state: &WarpState| frame.info.has_tlbs || !state.is_for_page();
    for state in WarpState::ALL.into_iter().filter(can_be) {
        let text = format!("{} {}", state.letter(), state.name());
        if x + text.len() as u16 > canvas.width() && x > 1 {
            (x, row) = (1, row + 1);
        }
        x = canvas.text(x, row, &text, Role::Dim) + 2;
    }
    row + 1
}

/// The warps of an agent that wait or compute, with their numbers.
fn waiting(agent: &AgentView) -> impl Iterator<Item = (u32, &WarpView)> {
    let is_still =
        |warp: &WarpView| matches!(warp.state, WarpState::None | WarpState::Done | WarpState::Ready);
    (0..).zip(&agent.warps).filter(move |(_, warp)| !is_still(warp))
}

/// Without a chosen agent: every warp that waits.
fn busiest(frame: &Frame, canvas: &mut Canvas, y: u16) {
    let states = states_width(frame.agents.iter().flat_map(waiting).map(|(_, warp)| warp));
    let mut y = y;
    for agent in &frame.agents {
        for (number, warp) in waiting(agent) {
            one(frame, canvas, y, states, (agent.agent, number, warp));
            y = y.saturating_add(1);
        }
    }
}

/// Columns for the states of these warps: no name is cut, and all rows are aligned.
fn states_width<'a>(warps: impl Iterator<Item = &'a WarpView>) -> u16 {
    warps.map(|warp| 2 + warp.state.name().len() as u16).max().unwrap_or(0).max(STATES)
}

fn one(
    frame: &Frame,
    canvas: &mut Canvas,
    y: u16,
    states: u16,
    (agent, number, warp): (ComponentId, u32, &WarpView),
) {
    let name = format!("{} warp {number}", frame.info.components.path(agent));
    let mut x = canvas.field(1, y, 18, &name, Role::Text) + 1;
    let state = format!("{} {}", warp.state.letter(), warp.state.name());
    x = canvas.field(x, y, states, &state, role(warp.state)) + 1;
    let instruction = warp.instruction.as_deref().unwrap_or("-");
    // A warp may wait for several, of which the instruction is the newest.
    let txn = match warp.waits.as_slice() {
        [] => String::new(),
        // One whose page is not translated has none yet, and one that does not wait has them beside what it does.
        txns if warp.page.is_some() || !warp.state.waits_for_accesses() => {
            format!("  besides {} in flight", txns.len())
        }
        [txn] => format!("  txn {}", txn.0),
        [oldest, others @ ..] => format!("  waits for txn {} +{}", oldest.0, others.len()),
    };
    let work = warp.work.as_deref().map_or(String::new(), |work| format!("  task {work}"));
    let text =
        format!("{instruction}{txn}  {}  {} done{work}", counted(age(frame, warp.since), "cycle"), warp.done);
    canvas.field(x, y, canvas.width().saturating_sub(x), &text, Role::Text);
    canvas.item(1, y, 18, target(agent, number, warp));
}
