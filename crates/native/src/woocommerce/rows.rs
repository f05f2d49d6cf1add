//! Functions and constants for writing these tools as rows. This module must not know any tool.

use crate::rest::{Check, EDITING, KeptState, KeptValues, RestRequest, Step, get};
use crate::wordpress::keeps;

use super::arguments::STOCK_MEMBERS;
use super::personal_data::MISSING;

/// The set of tools that change the shop.
pub(super) const WRITE: &str = "write";

/// Writes each tool as a line: its name, title, description and arguments; then the request, for a change the texts whose markup it
/// keeps and the values that cannot be restored, and the shape of the answer.
macro_rules! rows {
    ($($name:literal, $title:literal, $about:literal, $arguments:expr;
       $verb:ident $route:literal $(keeps [$($text:literal)*] except [$($lost:literal)*])? => $shape:expr;)*) => {
        &[$($crate::tools::titled(
            $name,
            $title,
            $about,
            &$arguments,
            &[
                $($crate::woocommerce::rows::kept($route, &[$($text),*], &[$($lost),*]),)?
                $crate::rest::$verb("woocommerce", $route).step(),
            ],
            $shape,
        )
        .phase($crate::woocommerce::rows::phase_of(stringify!($verb)))),*]
    };
}
pub(super) use rows;

/// The set of a tool whose request has this verb: only reading tools are always offered.
pub(super) const fn phase_of(verb: &str) -> &'static str {
    if matches!(verb.as_bytes(), b"get" | b"editable") { "" } else { WRITE }
}

/// Keeps the values that a change to the item at this route replaces, except some, and refuses new texts that would lose blocks
/// or shortcodes of the current ones.
pub(super) const fn kept(
    route: &'static str,
    texts: &'static [&'static str],
    except: &'static [&'static str],
) -> Step {
    let kept = KeptValues { together: STOCK_MEMBERS, except, ..KEPT };
    Step::Check(check(get("woocommerce", route).with(EDITING), texts, kept))
}

/// The values that are kept of an item without particularities. Addresses refuse an empty email address.
pub(super) const KEPT: KeptValues =
    KeptValues { together: &[], except: &[], never_empty: &["email"], removed: MISSING };

/// The check of a change to the item that this request reads.
pub(super) const fn check(ask: RestRequest, judged: &'static [&'static str], kept: KeptValues) -> Check {
    Check { ask: ask.alone(), judged, keeping: KeptState::Values(kept), judge: keeps }
}
