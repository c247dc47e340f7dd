//! Lanes of a link over time, how busy they were, and what its balancer decided last.

use crate::debug::frame::hardware::digit;
use crate::debug::frame::{Frame, text};
use crate::model::component::ComponentId;
use crate::model::lanes::{Flow, LaneDirection};
use crate::model::link_view::{BalanceView, LaneSample, LinkView};
use crate::tui::canvas::Canvas;
use crate::tui::glyphs;
use crate::tui::theme::Role;

/// Rows about one link, both its directions.
pub const ROWS: usize = 3;

/// The links after whose row their lanes are shown: the second direction of each, or where there is not so much room that
/// of the selected link, else of the one whose lanes turned last.
pub fn detailed(frame: &Frame, height: u16) -> Vec<ComponentId> {
    let seconds: Vec<(&LinkView, &BalanceView)> = frame
        .links
        .iter()
        .filter_map(|link| Some((link, link.balance.as_ref()?)))
        .filter(|(link, balance)| balance.other < link.link && !balance.samples.is_empty())
        .collect();
    let all = seconds.iter().map(|(link, _)| link.link).collect::<Vec<_>>();
    if frame.links.len() + ROWS * all.len() <= usize::from(height) {
        return all;
    }
    let selected = frame.selection.component;
    let is_selected = |link: &LinkView, balance: &BalanceView| {
        selected == Some(link.link) || selected == Some(balance.other)
    };
    let turned = |balance: &BalanceView| {
        balance.samples.iter().rev().find(|sample| sample.decision.to.is_some()).map(|sample| sample.end)
    };
    let chosen = seconds.iter().find(|(link, balance)| is_selected(link, balance));
    let latest = || seconds.iter().max_by_key(|(_, balance)| turned(balance));
    chosen.or_else(latest).map(|(link, _)| link.link).into_iter().collect()
}

/// Draws from row `y` on and returns the row after.
pub fn draw(frame: &Frame, canvas: &mut Canvas, y: u16, link: &LinkView) -> u16 {
    let Some(balance) = &link.balance else { return y };
    let x = 3;
    // A word, and twice a direction with its samples.
    let room = canvas.width().saturating_sub(x + 7 + 4 + 3 + 3 + 1) / 2;
    let skip = balance.samples.len().saturating_sub(usize::from(room));
    let samples = balance.samples.get(skip..).unwrap_or_default();
    let rows: [(&str, &dyn Fn(Flow) -> char); 2] =
        [("lanes", &|flow| digit(flow.lanes)), ("use", &|flow| used(flow, balance.threshold))];
    for (row, (word, sign)) in (y..).zip(rows) {
        canvas.text(x, row, word, Role::Dim);
        let mut at = x + 7;
        for direction in LaneDirection::ALL {
            at = canvas.text(at, row, direction.name(), Role::Dim) + 1;
            at = strip(canvas, at, row, samples, direction, balance.threshold, sign);
            let now = frame.links.iter().find(|other| is_direction(other, link, direction));
            if let Some(now) = now.filter(|_| row == y) {
                canvas.text(at, row, &digit(now.lanes).to_string(), Role::Strong);
            }
            at += 3;
        }
    }
    decision(frame, canvas, y + 2, x, balance)
}

/// Whether it is this direction of the same link as `one`.
fn is_direction(link: &LinkView, one: &LinkView, direction: LaneDirection) -> bool {
    link.balance.as_ref().is_some_and(|balance| {
        balance.direction == direction && (link.link == one.link || balance.other == one.link)
    })
}

fn strip(
    canvas: &mut Canvas,
    mut x: u16,
    y: u16,
    samples: &[LaneSample],
    direction: LaneDirection,
    threshold: u32,
    sign: &dyn Fn(Flow) -> char,
) -> u16 {
    for sample in samples {
        let flow = sample.flows.of(direction);
        let role = if flow.utilisation >= threshold { Role::Bad } else { Role::Text };
        x = canvas.text(x, y, &sign(flow).to_string(), role);
    }
    x
}

/// A bar, or `!` where the direction was saturated.
fn used(flow: Flow, threshold: u32) -> char {
    if flow.utilisation >= threshold { '!' } else { glyphs::bar(f64::from(flow.utilisation) / 100.0) }
}

/// The last sample with what was decided by it, and the lanes that turn.
fn decision(frame: &Frame, canvas: &mut Canvas, y: u16, x: u16, balance: &BalanceView) -> u16 {
    let Some(sample) = balance.samples.last() else { return y };
    let cycle = frame.time.cycle(sample.end);
    let threshold = balance.threshold;
    let mut said = format!("cycle {cycle}: {} (full from {threshold} %)", text::lane_decision(sample));
    if let Some(turning) = &balance.turning {
        said.push_str(&format!("; {}", text::lanes_turning(turning, frame.time)));
    }
    let role = if sample.decision.to.is_some() { Role::Changed } else { Role::Text };
    canvas.paragraph(x, y, &said, role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_one_sign_each() {
        assert_eq!([0, 8, 15, 35, 36].map(digit), ['0', '8', 'f', 'z', '+']);
    }

    #[test]
    fn a_saturated_sample_is_told_without_colour() {
        let used = |utilisation| used(Flow { utilisation, lanes: 8 }, 99);
        assert_eq!([0, 98, 99].map(used), ['▁', '█', '!']);
    }
}
