//! Functions and constants for writing these tools as rows. This module must not know any tool.

use crate::rest::{Check, EDITING, Step, get};
use crate::wordpress::keeps;

/// The set of tools that change the shop.
pub(super) const WRITE: &str = "write";

/// Writes each tool as a line: its name, title, description and arguments; then the request, the texts whose markup the request
/// keeps, and the shape of the answer.
macro_rules! rows {
    ($($name:literal, $title:literal, $about:literal, $arguments:expr; $verb:ident $route:literal $(keeps $($text:ident)+)? => $shape:expr;)*) => {
        &[$($crate::tools::titled(
            $name,
            $title,
            $about,
            &$arguments,
            &[$($($crate::woocommerce::rows::$text($route),)+)? $crate::rest::$verb("woocommerce", $route).step()],
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

/// Refuses a new description that would turn blocks or shortcodes of the current one into plain HTML.
pub(super) const fn description(route: &'static str) -> Step {
    let ask = get("woocommerce", route).alone().with(EDITING);
    let judge = |current: &_, values: &_| keeps("description", current, values);
    Step::Check(Check { ask, given: "description", keeps: false, judge })
}

/// Refuses a new short description that would turn blocks or shortcodes of the current one into plain HTML.
pub(super) const fn short_description(route: &'static str) -> Step {
    let ask = get("woocommerce", route).alone().with(EDITING);
    let judge = |current: &_, values: &_| keeps("short_description", current, values);
    Step::Check(Check { ask, given: "short_description", keeps: false, judge })
}
