//! The arguments of changes that refer to other items of a site. This module must not know which tools have them.

use crate::rest::Reference;

/// The arguments of changes whose unknown IDs WordPress ignores.
pub(crate) const REFERENCES: &[Reference] = &[
    Reference {
        argument: "categories",
        noun: "category",
        base: "wp",
        route: "/categories",
        lister: "wp_get_categories",
    },
    Reference { argument: "tags", noun: "tag", base: "wp", route: "/tags", lister: "wp_get_tags" },
    Reference {
        argument: "featured_media",
        noun: "media item",
        base: "wp",
        route: "/media",
        lister: "wp_get_media",
    },
];
