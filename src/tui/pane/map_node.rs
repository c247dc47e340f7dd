//! What the map shows of one node: its name, and the state of the selected block there, who holds it, or what its warps do.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::debug::frame::crowd::is_idle;
use crate::debug::frame::map::{MapNode, Mark};
use crate::model::component::ComponentKind;
use crate::model::state::State;
use crate::model::warp::WarpState;
use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};

/// One node of a level, as text.
pub struct Cell<'a> {
    pub node: &'a MapNode,
    pub label: String,
    pub letters: String,
    /// The letters where there is little room.
    pub brief: String,
    pub role: Role,
}

impl Cell<'_> {
    /// The letters alone, with the sign that a name would have.
    pub fn marked(&self) -> String {
        if self.node.touched { "▸".to_owned() + self.brief.trim_start() } else { self.brief.clone() }
    }

    /// The name of the node; returns the column after it.
    pub fn label(&self, canvas: &mut Canvas, x: u16, y: u16) -> u16 {
        let role = if self.node.touched { Role::Changed } else { Role::Text };
        canvas.text(x, y, &self.label, role)
    }
}

/// Of one among many, one character: a node that waits is `>`, a directory its owner or first holder (`-` if nobody), an agent the state
/// of most of its warps that have something to do.
pub fn letter(node: &MapNode) -> char {
    match &node.mark {
        Mark::Warps(counts) => telling(counts).map_or('.', |(state, _)| state.letter()),
        Mark::State { now, target: Some(to), .. } if Some(*to) != *now => '>',
        Mark::None | Mark::State { now: None, .. } => '.',
        Mark::State { now: Some(state), .. } => state.letter(),
        Mark::Holders { owner, sharers, .. } => {
            let holder = owner.as_ref().or(sharers.first());
            holder.and_then(|name| name.trim_start_matches("gpu").chars().next()).unwrap_or('-')
        }
    }
}

/// What a node shows: `▸` in front if the last event happened there.
pub fn cell<'a>(frame: &Frame, node: &'a MapNode) -> Cell<'a> {
    let here = if node.touched { "▸" } else { "" };
    let name = if node.kind == ComponentKind::L1 {
        node.label.strip_suffix(".l1").unwrap_or(&node.label)
    } else {
        &node.label
    };
    let (letters, brief) = letters(frame, node);
    let knot = numbers(frame, node);
    let role = role(frame, node);
    Cell { node, label: here.to_owned() + name, letters: letters + &knot, brief: brief + &knot, role }
}

/// What the letters of a node stand out as.
pub fn role(frame: &Frame, node: &MapNode) -> Role {
    let mut knot = frame.deadlock.iter().flat_map(|knot| &knot.edges);
    if knot.any(|edge| edge.at == node.id) {
        return Role::Bad;
    }
    match &node.mark {
        Mark::State { now: None, target: None, .. } if node.was.is_some() => Role::Changed,
        Mark::None | Mark::Warps(_) | Mark::State { now: None, target: None, .. } => Role::Dim,
        Mark::State { now, target: Some(to), .. } if Some(*to) != *now => Role::Waiting,
        Mark::State { .. } if node.was.is_some() => Role::Changed,
        Mark::State { busy: true, .. } | Mark::Holders { busy: true, .. } => Role::Waiting,
        Mark::State { now, .. } => now.map_or(Role::Dim, theme::state),
        Mark::Holders { .. } => Role::Strong,
    }
}

/// The state of the block at a node, who holds it, or what its warps do: in full, and in brief.
fn letters(frame: &Frame, node: &MapNode) -> (String, String) {
    let changed = if node.was.is_some() { "*" } else { "" };
    let both = |text: String| (text.clone(), text);
    match &node.mark {
        Mark::Warps(counts) => both(warps(counts)),
        // What is no longer here has changed as well.
        Mark::State { now: None, target: None, .. } if node.was.is_some() => both("[I*]".into()),
        Mark::State { now: None, target: None, .. } if frame.selection.block.is_some() => both("[.]".into()),
        Mark::None | Mark::State { now: None, target: None, .. } => both(String::new()),
        Mark::State { now, target: Some(to), .. } if Some(*to) != *now => {
            both(format!("[{}>{}]", now.map_or('.', State::letter), to.letter()))
        }
        Mark::State { now, .. } => both(format!("[{}{changed}]", now.map_or('.', State::letter))),
        Mark::Holders { owner, sharers, .. } => {
            let text = holders(owner.as_deref(), sharers);
            let brief = text.replace("gpu", "");
            (text, brief)
        }
    }
}

/// `{gpu0! gpu1}`: who holds the block; the owner has the exclamation mark.
fn holders(owner: Option<&str>, sharers: &[String]) -> String {
    let owner_first = owner.map(|owner| format!("{owner}!"));
    let others = sharers.iter().filter(|name| Some(name.as_str()) != owner).cloned();
    let names: Vec<String> = owner_first.into_iter().chain(others).collect();
    format!("{{{}}}", names.join(","))
}

/// Holders that do not fit stand without commas, if each is a digit: `{0!123}`.
pub fn crowded(letters: &str, room: u16) -> String {
    let digits = |part: &str| part.trim_end_matches('!').len() < 2;
    let short = letters.trim_matches(['▸', '{', '}']).split(',').all(digits);
    if short && letters.width() > usize::from(room) { letters.replace(',', "") } else { letters.to_owned() }
}

/// The warp state that most warps are in, of those that have something to do if any has; of two the same that the warps pane tells.
fn telling(counts: &[(WarpState, u32)]) -> Option<(WarpState, u32)> {
    let most = |busy: bool| {
        let counts = counts.iter().copied().filter(|(state, _)| !busy || !is_idle(*state));
        counts.max_by_key(|(state, count)| (*count, *state as usize))
    };
    most(true).or_else(|| most(false))
}

/// The most telling warp state of an agent: ` m` for one warp, ` 12m` for twelve.
fn warps(counts: &[(WarpState, u32)]) -> String {
    match telling(counts) {
        None => " .".into(),
        Some((state, 1)) => format!(" {}", state.letter()),
        Some((state, count)) => format!(" {count}{}", state.letter()),
    }
}

/// The numbers of the sentences in which a node waits: `#1#3`.
fn numbers(frame: &Frame, node: &MapNode) -> String {
    let knot = frame.deadlock.iter().flat_map(|knot| knot.edges.iter().enumerate());
    knot.filter(|(_, edge)| edge.at == node.id)
        .fold(String::new(), |text, (nth, _)| text + &format!("#{}", nth + 1))
}

/// A node without its name.
pub fn plain(canvas: &mut Canvas, (x, y): (u16, u16), node: &MapNode, letters: &str, role: Role) -> u16 {
    let end = canvas.text(x, y, letters, role);
    canvas.item(x, y, end - x, Target::Component(node.id));
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_warps_are_told_before_idle_ones() {
        assert_eq!(warps(&[(WarpState::Ready, 3), (WarpState::Done, 37)]), " 3r");
        assert_eq!(warps(&[(WarpState::Memory, 1), (WarpState::Ready, 2), (WarpState::Done, 37)]), " 2r");
        assert_eq!(warps(&[(WarpState::Memory, 2), (WarpState::Fence, 1), (WarpState::Done, 37)]), " 2m");
        assert_eq!(warps(&[]), " .");
    }
}
