//! Which panes stand where: eleven layouts, each for small, middle and large screens.

use ratatui::layout::Rect;

use crate::debug::frame::Frame;
use crate::debug::frame::wish::Pane::{
    self, Breakpoints, Caches, Directory, Lesson, Links, Log, Map, Mshrs, Pages, Protocol, Timeline,
    Transaction, Waits, Warps,
};
use crate::model::component::ComponentKind;

/// An arrangement of panes.
#[derive(Clone, Debug)]
pub enum Tree {
    Pane(Pane),
    /// One above the other.
    Rows(Vec<Slot>),
    /// Side by side.
    Columns(Vec<Slot>),
}

/// A place in an arrangement.
#[derive(Clone, Debug)]
pub struct Slot {
    pub tree: Tree,
    /// Rows or columns, borders included, below which it is left out.
    pub min: u16,
    /// Rows or columns beyond which it does not grow while others can.
    pub max: u16,
    /// Its share of the room that is left.
    pub share: u16,
}

/// A pane's place on the screen, borders included. Neighbours share a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub pane: Pane,
    pub area: Rect,
}

/// What stands in a layout, from top to bottom.
type Panes = fn(&Screen) -> Vec<Slot>;

/// The layouts `F1` to `F11`.
const LAYOUTS: [(&str, Panes); 11] = [
    ("overview", |screen| screen.overview()),
    ("coherence", |screen| screen.coherence()),
    ("links", |screen| screen.links()),
    ("warps", |screen| screen.warps()),
    ("transaction", |screen| screen.transaction()),
    ("caches", |screen| screen.caches()),
    ("protocol", |screen| screen.protocol()),
    ("log", |screen| screen.log()),
    ("lesson", |screen| screen.lesson()),
    ("paging", |screen| screen.paging()),
    ("permissions", |screen| screen.permissions()),
];

/// Their names.
#[must_use]
pub fn names() -> [&'static str; LAYOUTS.len()] {
    LAYOUTS.map(|(name, _)| name)
}

/// Other names of layouts: what a layout is good for, and its own name.
const ALSO: [(&str, &str); 1] = [("numa", "links")];

/// The number of the layout of this name, from 0.
#[must_use]
pub fn find(name: &str) -> Option<usize> {
    let also = ALSO.iter().find(|(other, _)| *other == name);
    let own = also.map_or(name, |(_, own)| own);
    LAYOUTS.iter().position(|(known, _)| *known == own)
}

/// The layout to begin with: where pages come and go, that is the story; where what may be done with them changes, it is about the
/// copies of their lines, too.
#[must_use]
pub fn first(frame: &Frame) -> usize {
    let (components, has_permissions) = (&frame.info.components, frame.pages.permissions.is_some());
    let moves =
        |kind| matches!(kind, ComponentKind::Gmmu | ComponentKind::Driver | ComponentKind::CopyEngine);
    let name = match components.iter().any(|(_, part)| moves(part.kind)) {
        _ if has_permissions => "permissions",
        true => "paging",
        false => "overview",
    };
    find(name).unwrap_or(0)
}

/// The smallest screen that is drawn.
pub const SMALLEST: (u16, u16) = (60, 16);

/// Rows of one protocol table of six states, borders included: where others need the room, the first is enough.
const TABLE: u16 = 10;

fn slot(pane: Pane, min: u16, max: u16, share: u16) -> Slot {
    Slot { tree: Tree::Pane(pane), min, max, share }
}

fn rows(min: u16, share: u16, slots: Vec<Slot>) -> Slot {
    Slot { tree: Tree::Rows(slots), min, max: u16::MAX, share }
}

fn columns(min: u16, max: u16, share: u16, slots: Vec<Slot>) -> Slot {
    Slot { tree: Tree::Columns(slots), min, max, share }
}

/// Rows that each pane's content would like; `None` for any number.
pub type Natural<'a> = dyn Fn(Pane) -> Option<u16> + 'a;

/// How much room a screen gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Room {
    Small,
    Middle,
    Large,
}

/// What decides where panes stand.
struct Screen<'a> {
    room: Room,
    /// Without a lesson others take its place.
    has_lesson: bool,
    natural: &'a Natural<'a>,
}

impl Screen<'_> {
    /// Rows that a pane wants, borders included.
    fn want(&self, pane: Pane) -> u16 {
        // A large screen has room for what was said before, too.
        if pane == Lesson && self.has_lesson && self.room == Room::Large {
            return u16::MAX;
        }
        (self.natural)(pane).map_or(u16::MAX, |rows| rows.saturating_add(2))
    }

    fn is_small(&self) -> bool {
        self.room == Room::Small
    }

    /// The lesson, or what else tells what happens.
    fn story(&self) -> Pane {
        if self.has_lesson { Lesson } else { Transaction }
    }

    /// The lesson, or another pane.
    fn lesson_or(&self, other: Pane) -> Pane {
        if self.has_lesson { Lesson } else { other }
    }

    fn timeline(&self) -> Slot {
        slot(Timeline, 3, if self.is_small() { 3 } else { 4 }, 1)
    }

    /// Two panes side by side, with their shares of the width and that of both of the height.
    fn wide(&self, left: (Pane, u16), right: (Pane, u16), share: u16) -> Slot {
        let max = self.want(left.0).max(self.want(right.0));
        columns(6, max, share, vec![slot(left.0, 30, u16::MAX, left.1), slot(right.0, 30, u16::MAX, right.1)])
    }

    /// The same, as wide as each other.
    fn pair(&self, left: Pane, right: Pane, share: u16) -> Slot {
        self.wide((left, 1), (right, 1), share)
    }

    fn overview(&self) -> Vec<Slot> {
        match self.room {
            Room::Small => {
                let directory = slot(Directory, 5, self.want(Directory), 3);
                vec![self.pair(Map, self.story(), 3), directory, self.timeline()]
            }
            Room::Middle => vec![
                self.wide((Map, 3), (Directory, 4), 3),
                self.wide((Transaction, 5), (self.lesson_or(Protocol), 4), 3),
                slot(Log, 4, u16::MAX, 2),
                self.timeline(),
            ],
            Room::Large => vec![self.all_of_it(), slot(Log, 5, u16::MAX, 1), self.timeline()],
        }
    }

    /// Three columns of all that a large screen has room for.
    fn all_of_it(&self) -> Slot {
        let left = vec![slot(Map, 8, self.want(Map), 2), slot(Transaction, 8, u16::MAX, 3)];
        let middle = vec![
            slot(Directory, 8, self.want(Directory), 2),
            slot(Lesson, 8, u16::MAX, 2),
            slot(Protocol, 8, self.want(Protocol).min(TABLE), 2),
        ];
        let right = vec![
            slot(Links, 5, self.want(Links), 1),
            slot(Mshrs, 5, self.want(Mshrs), 1),
            slot(Warps, 5, u16::MAX, 1),
        ];
        columns(20, u16::MAX, 4, vec![rows(40, 3, left), rows(40, 3, middle), rows(30, 2, right)])
    }

    fn coherence(&self) -> Vec<Slot> {
        if self.is_small() {
            let directory = slot(Directory, 6, self.want(Directory), 2);
            return vec![directory, slot(Transaction, 6, u16::MAX, 2), self.timeline()];
        }
        vec![
            slot(Directory, 8, self.want(Directory), 2),
            self.wide((Transaction, 5), (Protocol, 5), 3),
            slot(Log, 4, u16::MAX, 2),
            self.timeline(),
        ]
    }

    fn links(&self) -> Vec<Slot> {
        vec![self.pair(Links, Caches, 3), self.pair(Mshrs, Map, 2), self.timeline()]
    }

    fn warps(&self) -> Vec<Slot> {
        if self.is_small() {
            return vec![slot(Warps, 6, u16::MAX, 2), slot(Mshrs, 5, self.want(Mshrs), 1), self.timeline()];
        }
        vec![slot(Warps, 8, u16::MAX, 3), self.pair(Mshrs, Transaction, 2), self.timeline()]
    }

    fn transaction(&self) -> Vec<Slot> {
        let whole = |share| slot(Transaction, 8, u16::MAX, share);
        if self.is_small() {
            return vec![whole(2), slot(Waits, 5, self.want(Waits), 2), self.timeline()];
        }
        vec![whole(3), self.pair(Waits, Log, 2), self.timeline()]
    }

    fn caches(&self) -> Vec<Slot> {
        vec![self.pair(Caches, Mshrs, 3), slot(Links, 4, self.want(Links), 1), self.timeline()]
    }

    fn protocol(&self) -> Vec<Slot> {
        let table = slot(Protocol, 8, self.want(Protocol), 2);
        vec![table, slot(Directory, 5, u16::MAX, 1), self.timeline()]
    }

    fn log(&self) -> Vec<Slot> {
        let breakpoints = slot(Breakpoints, 4, self.want(Breakpoints), 1);
        vec![slot(Log, 6, u16::MAX, 3), breakpoints, self.timeline()]
    }

    fn lesson(&self) -> Vec<Slot> {
        if self.is_small() {
            let directory = slot(Directory, 5, self.want(Directory), 1);
            return vec![slot(Lesson, 8, u16::MAX, 2), directory, self.timeline()];
        }
        vec![self.pair(Lesson, Map, 2), self.pair(Directory, Protocol, 2), self.timeline()]
    }

    fn paging(&self) -> Vec<Slot> {
        if self.is_small() {
            let pages = slot(Pages, 6, self.want(Pages), 3);
            return vec![pages, self.pair(self.story(), Mshrs, 2), self.timeline()];
        }
        let [first, second, third] = if self.has_lesson {
            [(Pages, Lesson, 3), (Transaction, Mshrs, 3), (Warps, Links, 1)]
        } else {
            [(Pages, Transaction, 3), (Mshrs, Links, 2), (Warps, Protocol, 2)]
        };
        let pairs = [first, second, third].map(|(left, right, share)| self.pair(left, right, share));
        pairs.into_iter().chain([self.timeline()]).collect()
    }

    fn permissions(&self) -> Vec<Slot> {
        if self.is_small() {
            let directory = slot(Directory, 5, self.want(Directory), 3);
            return vec![self.pair(Pages, self.story(), 3), directory, self.timeline()];
        }
        vec![
            self.pair(Pages, self.lesson_or(Mshrs), 3),
            self.pair(Transaction, Directory, 3),
            self.pair(Warps, if self.has_lesson { Mshrs } else { Protocol }, 2),
            self.timeline(),
        ]
    }
}

/// The layout of this number (from 0) for a body of this size.
#[must_use]
pub fn layout(number: usize, body: Rect, has_lesson: bool, natural: &Natural) -> Tree {
    let room = match (body.width, body.height) {
        (160.., 44..) => Room::Large,
        (104.., 30..) => Room::Middle,
        _ => Room::Small,
    };
    let screen = Screen { room, has_lesson, natural };
    let (_, panes) = LAYOUTS.get(number).unwrap_or(&LAYOUTS[0]);
    Tree::Rows(panes(&screen))
}

/// Places the panes of `tree` in `body`; panes that `skip` names, and those for which there is no room, are left out.
#[must_use]
pub fn place(tree: &Tree, body: Rect, skip: &dyn Fn(Pane) -> bool) -> Vec<Placed> {
    let mut placed = Vec::new();
    split(tree, body, skip, &mut placed);
    placed
}

fn split(tree: &Tree, area: Rect, skip: &dyn Fn(Pane) -> bool, placed: &mut Vec<Placed>) {
    match tree {
        Tree::Pane(pane) => {
            if !skip(*pane) && area.width >= 2 && area.height >= 2 {
                placed.push(Placed { pane: *pane, area });
            }
        }
        Tree::Rows(slots) => {
            for (slot, (start, length)) in share_out(slots, area.height, skip) {
                split(&slot.tree, Rect::new(area.x, area.y + start, area.width, length), skip, placed);
            }
        }
        Tree::Columns(slots) => {
            for (slot, (start, length)) in share_out(slots, area.width, skip) {
                split(&slot.tree, Rect::new(area.x + start, area.y, length, area.height), skip, placed);
            }
        }
    }
}

fn is_empty(tree: &Tree, skip: &dyn Fn(Pane) -> bool) -> bool {
    match tree {
        Tree::Pane(pane) => skip(*pane),
        Tree::Rows(slots) | Tree::Columns(slots) => slots.iter().all(|slot| is_empty(&slot.tree, skip)),
    }
}

/// A slot on its way to its length. Lengths leave out the border that a slot shares with the next.
struct Growing<'a> {
    slot: &'a Slot,
    length: i32,
}

impl Growing<'_> {
    /// How much it may still grow.
    fn appetite(&self) -> i32 {
        (i32::from(self.slot.max) - 1 - self.length).max(0)
    }
}

/// Start and length of each slot along `total`; neighbours overlap by their common border.
fn share_out<'a>(slots: &'a [Slot], total: u16, skip: &dyn Fn(Pane) -> bool) -> Vec<(&'a Slot, (u16, u16))> {
    let kept = slots.iter().filter(|slot| !is_empty(&slot.tree, skip));
    let mut kept: Vec<Growing> = kept.map(|slot| Growing { slot, length: i32::from(slot.min) - 1 }).collect();
    // The last border is shared with nobody.
    let room = i32::from(total) - 1;
    let need = |kept: &[Growing]| kept.iter().map(|one| one.length).sum::<i32>();
    while kept.len() > 1 && need(&kept) > room {
        // The timeline stands last and is the smallest: what stands before it goes first.
        let victim = if kept.len() > 2 { kept.len() - 2 } else { 1 };
        kept.remove(victim);
    }
    let left = room - need(&kept);
    grow(&mut kept, left);
    let mut start = 0;
    let mut out = Vec::new();
    for one in kept {
        let length = one.length.clamp(0, room - start);
        out.push((one.slot, (start as u16, length as u16 + 1)));
        start += length;
    }
    out
}

/// Deals `left` out by shares, up to what each wants; what nobody wants goes to the largest share.
fn grow(kept: &mut [Growing], mut left: i32) {
    while left > 0 {
        let shares: i32 =
            kept.iter().filter(|one| one.appetite() > 0).map(|one| i32::from(one.slot.share)).sum();
        if shares == 0 {
            let largest = kept.iter().map(|one| one.slot.share).max();
            if let Some(one) = kept.iter_mut().find(|one| Some(one.slot.share) == largest) {
                one.length += left;
            }
            return;
        }
        let step = (left / shares).max(1);
        for one in kept.iter_mut() {
            let more = (step * i32::from(one.slot.share)).min(left).min(one.appetite());
            one.length += more;
            left -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::debug::frame::session::Info;
    use crate::model::component::{ComponentId, Components};
    use crate::model::page_view::PermissionsView;

    fn all(number: usize, width: u16, height: u16) -> Vec<Placed> {
        let body = Rect::new(0, 0, width, height);
        place(&layout(number, body, true, &|_| Some(9)), body, &|_| false)
    }

    #[test]
    fn a_machine_opens_in_the_layout_that_shows_its_story() {
        let (mut components, mut frame) = (Components::default(), Frame::default());
        let mut opens = |path: &str, kind, permissions| {
            components.add(path, kind);
            frame.info = Arc::new(Info { components: Arc::new(components.clone()), ..Info::default() });
            frame.pages.permissions = permissions;
            names()[first(&frame)]
        };
        assert_eq!(opens("gpu0.l2.0", ComponentKind::L2, None), "overview");
        assert_eq!(opens("gpu0.copy", ComponentKind::CopyEngine, None), "paging");
        let permissions = PermissionsView {
            driver: ComponentId(0),
            page: 4096,
            is_on: true,
            has_given_up: false,
            counts: Default::default(),
            group: 1,
            cells: Vec::new(),
            faults: Vec::new(),
            by_cores: 0,
            by_gpus: 0,
            recent: None,
        };
        assert_eq!(opens("gpu0.driver", ComponentKind::Driver, Some(permissions)), "permissions");
    }

    #[test]
    fn a_layout_is_found_by_what_it_is_good_for() {
        assert_eq!(find("numa"), find("links"));
        assert!(find("links").is_some() && find("nuna").is_none());
    }

    #[test]
    fn panes_fill_the_body_and_share_only_borders() {
        for number in 0..10 {
            for (width, height) in [(80, 20), (120, 36), (200, 56), (60, 12), (300, 100)] {
                let placed = all(number, width, height);
                assert!(!placed.is_empty());
                let bottom = placed.iter().map(|one| one.area.bottom()).max();
                let right = placed.iter().map(|one| one.area.right()).max();
                assert_eq!((right, bottom), (Some(width), Some(height)), "layout {number} {width}x{height}");
                for (nth, one) in placed.iter().enumerate() {
                    for other in &placed[nth + 1..] {
                        let common = one.area.intersection(other.area);
                        assert!(common.is_empty() || common.width == 1 || common.height == 1);
                        assert_ne!(one.pane, other.pane);
                    }
                }
            }
        }
    }

    #[test]
    fn a_pane_without_content_leaves_its_room() {
        let body = Rect::new(0, 0, 80, 20);
        let placed = place(&layout(0, body, true, &|_| Some(9)), body, &|pane| pane == Pane::Lesson);
        assert_eq!(placed.iter().find(|one| one.pane == Pane::Map).map(|one| one.area.width), Some(80));
    }

    #[test]
    fn the_first_layout_at_80_by_24_shows_the_machine_the_lesson_and_the_directory() {
        let panes: Vec<Pane> = all(0, 80, 21).iter().map(|one| one.pane).collect();
        assert_eq!(panes, [Pane::Map, Pane::Lesson, Pane::Directory, Pane::Timeline]);
    }
}
