//! The rest of WordPress's own REST API, as tools that are switched on as a set.
//!
//! | file | is for |
//! |---|---|
//! | `content` | posts, pages, things of any type; their revisions and autosaves |
//! | `terms` | terms of any taxonomy; types, taxonomies, statuses; comments |
//! | `media` | changing media |
//! | `people` | users and their application passwords |
//! | `site` | settings, themes, plugins, search, health, batches |
//! | `design` | blocks, patterns, templates, styles, fonts, icons |
//! | `menus` | menus, navigation, widgets |

mod content;
mod design;
mod media;
mod menus;
mod people;
mod site;
mod terms;

use crate::tools::Tool;

/// The name of the set.
pub(super) const PHASE: &str = "extended";

/// The tables, in the order of the list.
pub(super) const TABLES: &[&[Tool]] = &[
    content::POSTS,
    content::POST_VERSIONS,
    content::PAGE_VERSIONS,
    content::ANY,
    media::TOOLS,
    media::SIZES,
    terms::TERMS,
    terms::KINDS,
    terms::COMMENTS,
    people::USERS,
    people::PASSWORDS,
    site::SETTINGS,
    site::CODE,
    site::HEALTH,
    design::BLOCKS,
    design::TEMPLATES,
    design::PARTS,
    design::STYLES,
    design::FONTS,
    design::MORE,
    menus::NAVIGATION,
    menus::MENUS,
    menus::WIDGETS,
];

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
use rows;

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
use versions;
