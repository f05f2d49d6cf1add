//! What a request of a dialect's client names, and whether that is there for who asks: for the record of calls alone. It must
//! not know rows.

use std::sync::Arc;

use engine::catalogue::{ListKind, View};
use engine::dialect::Ask;
use proto::mcp::Method;

/// The kind of thing that a request is about, and the param that names it.
pub(super) fn named(ask: &Ask) -> Option<(ListKind, &'static str)> {
    match Method::from_name(&ask.method()) {
        Some(Method::ToolsCall) => Some((ListKind::Tools, "name")),
        Some(Method::PromptsGet) => Some((ListKind::Prompts, "name")),
        Some(Method::ResourcesRead) => Some((ListKind::Resources, "uri")),
        _ => None,
    }
}

/// Where that is what a request is about.
pub(super) enum Found {
    /// Where who asks can use it, or nothing is named.
    Here,
    /// Where only others can.
    Hidden,
    /// At this server, which is not there.
    Away(Arc<str>),
    Nowhere,
}

impl Found {
    pub(super) fn of(ask: &Ask, view: &View) -> Self {
        let frame = ask.frame();
        let about = named(ask).and_then(|(kind, key)| Some((kind, frame.string(frame.param(key).ok()??)?)));
        let Some((kind, name)) = about else { return Self::Here };
        let is_here = match kind {
            ListKind::Tools => view.tool(&name).is_some(),
            ListKind::Prompts => view.prompt(&name).is_some(),
            ListKind::Resources | ListKind::Templates => view.resource(&name).is_some(),
        };
        let away = || view.absence_behind(&name).filter(|_| kind != ListKind::Resources);
        match (is_here, away()) {
            (true, _) => Self::Here,
            (false, Some((server, _))) => Self::Away(server.into()),
            (false, None) if view.hides(kind, &name) => Self::Hidden,
            (false, None) => Self::Nowhere,
        }
    }
}
