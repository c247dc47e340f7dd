//! What the screen itself can do: the names that a keymap may bind, next to commands.

macro_rules! actions {
    ($($action:ident $name:literal),+ $(,)?) => {
        /// Something that the screen does by itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action { $($action),+ }

        impl Action {
            pub const ALL: &[Self] = &[$(Self::$action),+];

            /// Its name in a keymap file.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$action => $name),+ }
            }

            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|action| action.name() == name)
            }
        }
    };
}

actions! {
    Up "up",
    Down "down",
    Left "left",
    Right "right",
    Top "top",
    Bottom "bottom",
    PageUp "page-up",
    PageDown "page-down",
    Select "select",
    Cancel "cancel",
    NextPane "next-pane",
    PreviousPane "previous-pane",
    Zoom "zoom",
    Layout1 "layout-1",
    Layout2 "layout-2",
    Layout3 "layout-3",
    Layout4 "layout-4",
    Layout5 "layout-5",
    Layout6 "layout-6",
    Layout7 "layout-7",
    Layout8 "layout-8",
    Layout9 "layout-9",
    Layout10 "layout-10",
    Layout11 "layout-11",
    Prompt "prompt",
    Filter "filter",
    Predict "predict",
    Why "why",
    Cause "cause",
    Uncause "uncause",
    Play "play",
    Faster "faster",
    Slower "slower",
    Interrupt "interrupt",
    Suspend "suspend",
    Redraw "redraw",
    Help "help",
    Quit "quit",
}

impl Action {
    /// The layout that it shows, from 0.
    #[must_use]
    pub fn layout(self) -> Option<usize> {
        let first = Self::Layout1 as usize;
        (first..=Self::Layout11 as usize).contains(&(self as usize)).then(|| self as usize - first)
    }
}
