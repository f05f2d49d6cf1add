//! Failures for answers that are not JSON. This module must not know what was requested.

use super::place::RequestTargets;
use super::unread::{UnreadableKind, beginning, kind};
use crate::tools::{CallFailure, Condition};

/// The failure for an answer that is not JSON; `writes` is true if the request was meant to change something.
pub(super) fn failure(places: &dyn RequestTargets, body: &[u8], writes: bool) -> CallFailure {
    let kind = kind(body);
    let hint = places.unread(kind);
    let what = match kind {
        UnreadableKind::Page => "the answer is a web page, not JSON".to_owned(),
        UnreadableKind::Noise => {
            format!("the answer is not valid JSON: other text precedes it: {:?}", beginning(body))
        }
        UnreadableKind::Packed => {
            "the answer is not JSON: it is compressed, although no compression was requested".to_owned()
        }
        UnreadableKind::Other => format!("the answer is not JSON: it begins with {:?}", beginning(body)),
    };
    let done = if writes { "; the request may have been executed nevertheless" } else { "" };
    CallFailure::new(Condition::UpstreamError, format!("{what} ({hint}){done}"))
}
