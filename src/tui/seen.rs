//! What a drawing put where: what the mouse and the cursor find, and how far panes can be scrolled; and what the user has seen of a story.

use ratatui::layout::Rect;

use super::layout::Placed;
use super::target::Target;
use crate::debug::frame::wish::Pane;
use crate::model::time::EventNumber;

/// What a drawing put where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub panes: Vec<Placed>,
    pub hits: Vec<Hit>,
    pub extents: Vec<Extent>,
    /// Rows of the overlay's content and rows in view.
    pub overlay: (u16, u16),
    /// Where the terminal's cursor belongs, if a prompt is open.
    pub cursor: Option<(u16, u16)>,
}

/// How much of a pane's content is in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub pane: Pane,
    /// Rows of the whole content.
    pub rows: u16,
    /// Rows and columns scrolled away.
    pub up: u16,
    pub left: u16,
}

/// An item on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub pane: Pane,
    pub area: Rect,
    pub target: Target,
}

/// What of a story the user has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// How many pieces were told before the last that came: those that follow are new.
    pub pieces: usize,
    /// Where the run stands, and where it stood before that.
    pub at: EventNumber,
    pub since: EventNumber,
}
