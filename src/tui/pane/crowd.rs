//! The warps of many compute units: a bar for each device, a letter for each unit of one device.

use crate::debug::frame::Frame;
use crate::debug::frame::crowd::{Counts, Crowd, Unit, shares};
use crate::model::warp::WarpState;

use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Columns of the names of devices.
const NAMES: u16 = 6;

/// Columns of what most warps of a device do, in words.
const WORDS: u16 = 33;

/// Draws them, and returns the row below.
pub fn draw(frame: &Frame, canvas: &mut Canvas) -> u16 {
    let mut y = 0;
    // Where something is selected and there is little room, its own device is enough.
    let is_short = usize::from(canvas.height()) < 2 * frame.crowds.len();
    let only = shown(frame).filter(|_| is_short && frame.selection.component.is_some());
    for crowd in frame.crowds.iter().filter(|crowd| only.is_none_or(|only| only.device == crowd.device)) {
        device(canvas, y, crowd);
        y += 1;
    }
    match shown(frame) {
        Some(crowd) => units(frame, canvas, y + 1, crowd),
        None => y,
    }
}

/// The device whose units are shown: that of the selected component, or the first that has warps at work.
fn shown(frame: &Frame) -> Option<&Crowd> {
    let device = frame.selection.component.map(|component| frame.info.components.device(component));
    let chosen = frame.crowds.iter().find(|crowd| Some(crowd.device.as_str()) == device);
    let at_work = |crowd: &&Crowd| crowd.units.iter().any(Unit::is_busy);
    chosen.or_else(|| frame.crowds.iter().find(at_work)).or_else(|| frame.crowds.first())
}

/// A bar in which each letter stands for a share of its warps that were given work.
fn device(canvas: &mut Canvas, y: u16, crowd: &Crowd) {
    let mut counts = crowd.counts();
    if let Some(without) = counts.get_mut(WarpState::None as usize) {
        *without = 0;
    }
    canvas.field(1, y, NAMES, &crowd.device, Role::Strong);
    if let Some(first) = crowd.units.first() {
        canvas.item(1, y, NAMES, Target::Component(first.agent));
    }
    let wordy = canvas.width() > NAMES + WORDS + 20;
    let room = canvas.width().saturating_sub(NAMES + 2 + if wordy { WORDS + 1 } else { 0 });
    let mut x = 1 + NAMES;
    for (state, signs) in WarpState::ALL.into_iter().zip(shares(&counts, u32::from(room))) {
        let letters: String = std::iter::repeat_n(state.letter(), signs as usize).collect();
        x = canvas.text(x, y, &letters, role(state));
    }
    if counts.iter().all(|count| *count == 0) {
        canvas.field(1 + NAMES, y, room, "no work yet", Role::Dim);
    } else if wordy {
        canvas.text_right(canvas.width(), y, &most(&counts), Role::Text);
    }
}

/// How a warp's state is told apart.
pub(super) fn role(state: WarpState) -> Role {
    match state {
        WarpState::None | WarpState::Done => Role::Dim,
        WarpState::Ready | WarpState::Running => Role::Good,
        WarpState::Memory
        | WarpState::Fence
        | WarpState::Barrier
        | WarpState::Translation
        | WarpState::SimdFull => Role::Waiting,
        WarpState::MshrFull
        | WarpState::LinkFull
        | WarpState::FarFault
        | WarpState::ProtectionFault
        | WarpState::TlbBlocked => Role::Bad,
    }
}

/// `78 % memory of 640 given work`: of the warps that were given work.
fn most(counts: &Counts) -> String {
    let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let most = WarpState::ALL.into_iter().zip(counts).max_by_key(|(_, count)| **count);
    most.filter(|_| all > 0).map_or_else(String::new, |(state, count)| {
        format!("{} % {} of {all} given work", u64::from(*count) * 100 / all, state.name())
    })
}

/// A letter for each unit.
fn units(frame: &Frame, canvas: &mut Canvas, y: u16, crowd: &Crowd) -> u16 {
    let warps: u32 = crowd.counts().iter().sum();
    let text = format!(
        "{}: {warps} warps; a letter for each of {} units, by what most of its busy warps do",
        crowd.device,
        crowd.units.len()
    );
    canvas.field(1, y, canvas.width().saturating_sub(1), &text, Role::Dim);
    let across = usize::from(canvas.width().saturating_sub(2)).clamp(1, 64);
    let mut y = y + 1;
    for row in crowd.units.chunks(across) {
        for (at, unit) in row.iter().enumerate() {
            let (x, state) = (1 + at as u16, unit.most());
            let chosen = frame.selection.component == Some(unit.agent);
            let role = if chosen { Role::Focus } else { role(state) };
            canvas.text(x, y, &state.letter().to_string(), role);
            canvas.item(x, y, 1, Target::Component(unit.agent));
        }
        y += 1;
    }
    y
}
