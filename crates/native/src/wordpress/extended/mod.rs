//! The rest of WordPress's own REST API, as tools that one set enables.
//!
//! | file | is for |
//! |---|---|
//! | `content` | posts, pages, items of any type; their revisions and autosaves |
//! | `terms` | terms of any taxonomy; types, taxonomies, statuses; comments |
//! | `media` | changing media |
//! | `people` | users and their application passwords |
//! | `site` | settings, themes, plugins, search, embeds, health |
//! | `batch` | batches of changes |
//! | `design` | blocks, patterns, templates, styles, fonts, icons |
//! | `menus` | menus, navigation, widgets |

mod batch;
mod content;
mod design;
mod media;
mod menus;
mod people;
mod rows;
mod site;
mod terms;

use super::arguments;
use crate::tools::ToolRow;
pub(super) use rows::PHASE;
use rows::{rows, versions};

/// The tables, in the order of the list.
pub(super) const TABLES: &[&[ToolRow]] = &[
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
    batch::TOOLS,
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
