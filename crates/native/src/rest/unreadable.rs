//! The trouble with answers that are no JSON. It must not know what was asked.

use super::place::Places;
use super::unread::{Unread, beginning, kind};
use crate::tools::{Condition, Trouble};

/// The trouble with it; `writes` when the request was to change something.
pub(super) fn trouble(places: &dyn Places, body: &[u8], writes: bool) -> Trouble {
    let kind = kind(body);
    let hint = places.unread(kind);
    let what = match kind {
        Unread::Page => "the answer is a web page and no JSON".to_owned(),
        Unread::Noise => {
            format!("the answer is no JSON, since other text stands before it: {:?}", beginning(body))
        }
        Unread::Packed => "the answer is no JSON: it is packed, although nobody asked for that".to_owned(),
        Unread::Other => format!("the answer is no JSON: it begins with {:?}", beginning(body)),
    };
    let done = if writes { "; what was asked may have been done all the same" } else { "" };
    Trouble::new(Condition::UpstreamError, format!("{what} ({hint}){done}"))
}
