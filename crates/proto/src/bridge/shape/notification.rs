//! Notifications in both directions: which of them the other era defines, and in which form.

use bytes::Bytes;

use super::edit::{Draft, string};
use crate::era::{Asks, Elicitation, Era, Tasks};
use crate::json::quote;
use crate::mcp::{Notice, meta};
use crate::rpc::Frame;

/// A visit to a URL has been completed (2025-11-25).
const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
/// The list of roots has changed (2024-10-07 to 2025-11-25).
const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
/// The notification about a changed task in the experimental form of tasks. The next constant is the same
/// notification in the extension.
const TASK_STATUS: &str = "notifications/tasks/status";
const TASK: &str = "notifications/tasks";

/// Translates a server's notification for a client of `to`; `None` if that era does not define it.
pub fn notification(frame: &Frame, from: &Era, to: &Era) -> Option<Bytes> {
    if from == to {
        return Some(frame.text().clone());
    }
    let method = frame.method();
    let has_place = match &*method {
        ELICITATION_COMPLETE => to.shapes.elicitation == Elicitation::UrlWithId,
        _ => match Notice::from_name(&method) {
            // With this notification, a server withdraws its questions and ends listen streams. The notification passes only to
            // eras that have one of these.
            Some(Notice::Cancelled) => {
                to.shapes.cancellation && from.asks == Asks::Requests && to.asks == Asks::Requests
            }
            Some(Notice::Acknowledged) => !to.has_sessions(),
            _ => has_tasks(&method, to),
        },
    };
    has_place.then(|| said(frame, from, to))
}

/// Translates a client's notification for a server of `to`; `None` if that era does not define it.
pub fn client_notification(frame: &Frame, from: &Era, to: &Era) -> Option<Bytes> {
    if from == to {
        return Some(frame.text().clone());
    }
    let method = frame.method();
    let has_place = match &*method {
        ROOTS_CHANGED => to.shapes.roots && to.asks == Asks::Requests,
        _ => match Notice::from_name(&method) {
            Some(Notice::Initialized) => to.has_sessions(),
            Some(Notice::Cancelled) => to.shapes.cancellation,
            // The progress of a client's answer to a server's question.
            Some(Notice::Progress) => from.asks == Asks::Requests && to.asks == Asks::Requests,
            _ => has_tasks(&method, to),
        },
    };
    has_place.then(|| said(frame, from, to))
}

/// Returns true unless a notification is about a form of tasks that `to` does not have.
fn has_tasks(method: &str, to: &Era) -> bool {
    match method {
        TASK_STATUS => to.shapes.tasks == Tasks::Experiment,
        TASK => to.shapes.tasks == Tasks::Extension,
        _ => true,
    }
}

fn said(frame: &Frame, from: &Era, to: &Era) -> Bytes {
    let Some(mut message) = Draft::of(frame.text()) else { return frame.text().clone() };
    let notice = Notice::from_name(&frame.method());
    message.rewrite("params", |params| {
        let mut params = Draft::of(params)?;
        match notice {
            Some(Notice::Message) => level(&mut params, from, to),
            Some(Notice::Progress) if to.shapes.strict => params.remove("message"),
            _ => {}
        }
        if to.has_sessions() && !from.has_sessions() {
            params.remove_within("_meta", ENVELOPE);
        }
        params.finish()
    });
    message.finish_or(frame.text())
}

/// Metadata that only messages without a session carry.
const ENVELOPE: &[&str] = &[
    meta::SUBSCRIPTION_ID,
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    meta::LOG_LEVEL,
    meta::SERVER_INFO,
];

/// Rewrites a member `level` that `to` does not define.
pub(super) fn level(params: &mut Draft<'_>, from: &Era, to: &Era) {
    if let Some(known) = params.get("level").and_then(string).and_then(|level| nearest(&level, from, to)) {
        params.set("level", quote(known));
    }
}

/// The nearest level of `to` below a level of `from` that `to` does not define.
fn nearest(level: &str, from: &Era, to: &Era) -> Option<&'static str> {
    if to.shapes.levels.contains(&level) {
        return None;
    }
    let at = from.shapes.levels.iter().position(|known| *known == level)?;
    let below = from.shapes.levels[..at].iter().rev();
    below.copied().find(|known| to.shapes.levels.contains(known))
}
