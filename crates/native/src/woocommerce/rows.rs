//! Functions and constants for writing these tools as rows. This module must not know any tool.

/// The set of tools that change the shop.
pub(super) const WRITE: &str = "write";

/// Writes each tool as a line: its name, title, description and arguments; then the request and the shape of the answer.
macro_rules! rows {
    ($($name:literal, $title:literal, $about:literal, $arguments:expr; $verb:ident $route:literal => $shape:expr;)*) => {
        &[$($crate::tools::titled(
            $name,
            $title,
            $about,
            &$arguments,
            &[$crate::rest::$verb("woocommerce", $route).step()],
            $shape,
        )
        .phase($crate::woocommerce::rows::phase_of(stringify!($verb)))),*]
    };
}
pub(super) use rows;

/// The set of a tool whose request has this verb: only reading tools are always offered.
pub(super) const fn phase_of(verb: &str) -> &'static str {
    if matches!(verb.as_bytes(), b"get") { "" } else { WRITE }
}
