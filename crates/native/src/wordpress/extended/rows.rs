//! Functions and constants for writing these tools as rows. This module must not know any tool.

/// The name of the set of these tools.
pub(in crate::wordpress) const PHASE: &str = "extended";

/// Writes each tool as a line: its name, title, description and arguments; then the request, the route of the content whose markup
/// the request must keep, and the part of the answer to show.
macro_rules! rows {
    ($($name:expr, $title:expr, $about:expr, $arguments:expr;
       $verb:ident $route:expr $(, keeps $kept:expr)? => $shape:expr;)*) => {
        &[$($crate::tools::titled(
            $name,
            $title,
            $about,
            &$arguments,
            &[$($crate::wordpress::markup::keeps_markup("index", $kept),)? $crate::rest::$verb("index", $route).step()],
            $shape,
        )
        .phase($crate::wordpress::extended::PHASE)),*]
    };
}
pub(super) use rows;

/// Revisions and autosaves of items of a type.
macro_rules! versions {
    ($one:literal, $route:literal, $id:expr, $place:literal, $post:expr) => {
        $crate::wordpress::extended::rows! {
            concat!("wp_get_", $one, "_revisions"), concat!("List ", $one, " revisions"),
                concat!("Returns a list of revisions of a ", $one, "."),
                [$id, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
                get concat!($route, "/", $place, "/revisions") => VERSIONS;
            concat!("wp_get_", $one, "_revision"), concat!("Get a ", $one, " revision"),
                concat!("Returns one revision of a ", $one, " with its content."), [$id, VERSION, CONTEXT];
                content concat!($route, "/", $place, "/revisions/{version}") => VERSION_SHOWN;
            concat!("wp_delete_", $one, "_revision"), concat!("Delete a ", $one, " revision"),
                concat!("Permanently deletes one revision of a ", $one, "."), [$id, VERSION];
                purge concat!($route, "/", $place, "/revisions/{version}") => Shape::Whole;
            concat!("wp_get_", $one, "_autosaves"), concat!("List ", $one, " autosaves"),
                concat!("Returns the autosaves of a ", $one, "."), [$id, CONTEXT];
                get concat!($route, "/", $place, "/autosaves") => VERSIONS;
            concat!("wp_get_", $one, "_autosave"), concat!("Get a ", $one, " autosave"),
                concat!("Returns one autosave of a ", $one, " with its content."), [$id, VERSION, CONTEXT];
                content concat!($route, "/", $place, "/autosaves/{version}") => VERSION_SHOWN;
            concat!("wp_create_", $one, "_autosave"), concat!("Autosave a ", $one),
                concat!("Saves an autosave of a ", $one, " without publishing it, and returns the autosave."), $post;
                post concat!($route, "/", $place, "/autosaves"), keeps concat!($route, "/", $place) => VERSION_SHOWN;
        }
    };
}
pub(super) use versions;
