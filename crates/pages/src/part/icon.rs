//! The icons: Lucide 1.62.0 (ISC, some MIT; `icons/LICENSE`), written into the page while the crate is built.

use maud::{Markup, PreEscaped, Render, html};

macro_rules! icons {
    ($($id:ident = $file:literal,)+) => {
        /// An icon. It stands beside a word, so screen readers skip it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Glyph { $($id,)+ }

        impl Glyph {
            fn paths(self) -> &'static str {
                match self { $(Self::$id => include_str!(concat!("../../icons/", $file, ".svg")),)+ }
            }
        }
    };
}

icons! {
    Overview = "layout-dashboard",
    Server = "server",
    Tool = "wrench",
    Profile = "layers",
    Playground = "flask-conical",
    Calls = "scroll-text",
    Live = "activity",
    Session = "plug",
    Key = "key-round",
    Access = "shield-check",
    Limit = "gauge",
    Login = "user-check",
    Configuration = "file-cog",
    Connect = "cable",
    Doctor = "stethoscope",
    Replica = "network",
    Check = "check",
    Good = "circle-check",
    Warning = "triangle-alert",
    Bad = "circle-x",
    Note = "info",
    Clock = "clock",
    Resting = "moon",
    Busy = "loader",
    Off = "power-off",
    Lock = "lock",
    Copy = "copy",
    Next = "chevron-right",
    Previous = "chevron-left",
    Go = "arrow-right",
    Search = "search",
    Add = "plus",
    Remove = "trash-2",
    Refresh = "refresh-cw",
    Download = "download",
    Menu = "menu",
    LogOut = "log-out",
    Hidden = "eye-off",
    Shown = "eye",
    Edit = "pencil",
    Deny = "ban",
    Unknown = "circle-help",
    Pause = "pause",
    Run = "play",
    Send = "send",
    Compare = "git-compare",
    Up = "arrow-up-right",
    Fall = "arrow-down-right",
    Waiting = "hourglass",
    Terminal = "terminal",
    Clone = "copy-plus",
    Stop = "hand",
    Close = "x",
}

impl Render for Glyph {
    fn render(&self) -> Markup {
        html! { svg.i viewBox="0 0 24 24" width="16" height="16" aria-hidden="true" { (PreEscaped(self.paths().trim_end())) } }
    }
}
