//! How these tools are written as rows. It must not know a tool.

/// The name of the set.
pub(in crate::wordpress) const PHASE: &str = "extended";

/// Tools as lines: a name, what it does, its arguments; then the request, the route of content whose markup it keeps, and what of
/// the answer is shown.
macro_rules! rows {
    ($($name:expr, $about:literal, $arguments:expr; $verb:ident $route:expr $(, keeps $kept:expr)? => $shape:expr;)*) => {
        &[$($crate::tools::tool(
            $name,
            $about,
            &$arguments,
            &[$($crate::wordpress::markup::keeps_markup("index", $kept),)? $crate::rest::$verb("index", $route).step()],
            $shape,
        )
        .phase($crate::wordpress::extended::PHASE)),*]
    };
}
pub(super) use rows;

/// Earlier versions of things of a type, and what was saved while they were written.
macro_rules! versions {
    ($one:literal, $route:literal, $id:expr, $place:literal, $post:expr) => {
        $crate::wordpress::extended::rows! {
            concat!("wp_get_", $one, "_revisions"), "Lists earlier versions.",
                [$id, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
                get concat!($route, "/", $place, "/revisions") => VERSIONS;
            concat!("wp_get_", $one, "_revision"), "An earlier version with its content.", [$id, VERSION, CONTEXT];
                content concat!($route, "/", $place, "/revisions/{version}") => VERSION_SHOWN;
            concat!("wp_delete_", $one, "_revision"), "Removes an earlier version for good.", [$id, VERSION];
                purge concat!($route, "/", $place, "/revisions/{version}") => Shape::Whole;
            concat!("wp_get_", $one, "_autosaves"), "Lists what was saved while it was written.", [$id, CONTEXT];
                get concat!($route, "/", $place, "/autosaves") => VERSIONS;
            concat!("wp_get_", $one, "_autosave"), "What was saved while it was written.", [$id, VERSION, CONTEXT];
                content concat!($route, "/", $place, "/autosaves/{version}") => VERSION_SHOWN;
            concat!("wp_create_", $one, "_autosave"), "Saves a version without putting it in force.", $post;
                post concat!($route, "/", $place, "/autosaves"), keeps concat!($route, "/", $place) => VERSION_SHOWN;
        }
    };
}
pub(super) use versions;
