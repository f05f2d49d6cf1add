//! The target of a dialect request, and the lookup that determines if the caller can see it; used only for the
//! record of calls. This module must not know the dialects' rows.

use std::sync::Arc;

use engine::catalogue::{ListKind, View};
use engine::dialect::DialectRequest;
use proto::mcp::Method;

/// Returns the kind of a request's target, and the param that names the target.
pub(super) fn named(ask: &DialectRequest) -> Option<(ListKind, &'static str)> {
    match Method::from_name(&ask.method()) {
        Some(Method::ToolsCall) => Some((ListKind::Tools, "name")),
        Some(Method::PromptsGet) => Some((ListKind::Prompts, "name")),
        Some(Method::ResourcesRead) => Some((ListKind::Resources, "uri")),
        _ => None,
    }
}

/// The result of looking up a request's target.
pub(super) enum TargetLookup {
    /// The caller may use the target, or the request has no target.
    Here,
    /// The target exists, but only other callers may use it. The text names the target's server; empty if the server is unknown.
    Hidden(Arc<str>),
    /// The target belongs to this server, which is unavailable.
    Away(Arc<str>),
    Nowhere,
}

impl TargetLookup {
    pub(super) fn of(ask: &DialectRequest, view: &View) -> Self {
        let frame = ask.frame();
        let about = named(ask).and_then(|(kind, key)| Some((kind, frame.string(frame.param(key).ok()??)?)));
        let Some((kind, name)) = about else { return Self::Here };
        let is_here = match kind {
            ListKind::Tools => view.has_tool(&name),
            ListKind::Prompts => view.prompt(&name).is_some(),
            ListKind::Resources | ListKind::Templates => view.resource(&name).is_some(),
        };
        let away = || view.absence_behind(&name).filter(|_| kind != ListKind::Resources);
        match (is_here, away()) {
            (true, _) => Self::Here,
            (false, Some((server, _))) => Self::Away(server.into()),
            (false, None) => match view.withheld_by(kind, &name) {
                Some(server) => Self::Hidden(server.into()),
                None => Self::Nowhere,
            },
        }
    }
}
