//! Arguments that many of these tools have, as this set describes them. It must not know a tool.

use crate::tools::Argument;
use crate::wordpress::arguments as shared;

pub(super) use shared::id;

pub(super) const PER_PAGE: Argument = shared::PER_PAGE.saying("Number of items per page.");
pub(super) const PAGE: Argument = shared::PAGE.saying("Page number.");
pub(super) const SEARCH: Argument = shared::SEARCH.saying("Return only items that contain this text.");
pub(super) const FORCE: Argument = shared::FORCE.saying("Delete permanently instead of moving to the trash.");
pub(super) const INCLUDE: Argument = shared::INCLUDE.saying("Return only items with these IDs.");
pub(super) const EXCLUDE: Argument = shared::EXCLUDE.saying("Exclude items with these IDs.");
pub(super) const OFFSET: Argument = shared::OFFSET.saying("Number of items to skip.");
pub(super) const ORDER: Argument = shared::ORDER.saying("Sort order.");
pub(super) const POSTS_BY: Argument = shared::POSTS_BY.saying("Field to sort by.");
pub(super) const PAGES_BY: Argument = shared::PAGES_BY.saying("Field to sort by.");
pub(super) const VERSIONS_BY: Argument = shared::VERSIONS_BY.saying("Field to sort by.");
pub(super) const TERMS_BY: Argument = shared::TERMS_BY.saying("Field to sort by.");
pub(super) const AFTER: Argument =
    shared::AFTER.saying("Return only items dated after this time, such as 2026-05-31T00:00:00.");
pub(super) const BEFORE: Argument =
    shared::BEFORE.saying("Return only items dated before this time, such as 2026-05-31T00:00:00.");
pub(super) const MODIFIED_AFTER: Argument =
    shared::MODIFIED_AFTER.saying("Return only items modified after this time, such as 2026-05-31T00:00:00.");
pub(super) const MODIFIED_BEFORE: Argument = shared::MODIFIED_BEFORE
    .saying("Return only items modified before this time, such as 2026-05-31T00:00:00.");
pub(super) const AUTHORS: Argument = shared::AUTHORS.saying("Return only items by the users with these IDs.");
pub(super) const NOT_AUTHORS: Argument =
    shared::NOT_AUTHORS.saying("Exclude items by the users with these IDs.");
pub(super) const SLUGS: Argument = shared::SLUGS.saying("Return only items with these slugs.");
pub(super) const SEARCH_IN: Argument =
    shared::SEARCH_IN.saying("Fields to search: post_title, post_content, post_excerpt. Default: all.");
pub(super) const SEMANTICS: Argument =
    shared::SEMANTICS.saying("Search mode: `exact` matches the whole text instead of single words.");
pub(super) const TAX_RELATION: Argument =
    shared::TAX_RELATION.saying("Combination of term filters: AND requires all of them, OR any of them.");
pub(super) const PLACED: Argument = shared::PLACED.saying("Return only items with this menu position.");
pub(super) const PARENTS: Argument =
    shared::PARENTS.saying("Return only children of the items with these IDs.");
pub(super) const NOT_PARENTS: Argument =
    shared::NOT_PARENTS.saying("Exclude children of the items with these IDs.");
pub(super) const CONTEXT: Argument = shared::CONTEXT.saying(
    "Response context: `view`, `embed` (fewer fields) or `edit` (more fields; requires permission to edit).",
);
pub(super) const SLUG: Argument =
    shared::SLUG.saying("Slug, used in URLs. Default: derived from the title or name.");
pub(super) const DATE: Argument = shared::DATE.saying("Publication date in the site's time zone, such as 2026-05-31T09:00:00. A future date schedules publication.");
pub(super) const DATE_GMT: Argument = shared::DATE_GMT.saying("Date in UTC, in place of `date`.");
pub(super) const AUTHOR: Argument = shared::AUTHOR.saying("User ID of the author.");
pub(super) const IMAGE: Argument = shared::IMAGE.saying("Media ID of the featured image; 0 for none.");
pub(super) const META: Argument = shared::META.saying("Registered meta fields by name.");
pub(super) const PARENT: Argument = shared::PARENT.saying("ID of the parent; 0 for none.");
pub(super) const MENU_ORDER: Argument = shared::MENU_ORDER.saying("Position among siblings.");
pub(super) const TEMPLATE: Argument =
    shared::TEMPLATE.saying("File name of the theme template that renders the item.");
pub(super) const PASSWORD: Argument = shared::PASSWORD.saying("Password required to read the content.");
pub(super) const OF_PASSWORD: Argument =
    shared::OF_PASSWORD.saying("Password of the item, if it is password-protected.");
pub(super) const EXCERPT_LENGTH: Argument =
    shared::EXCERPT_LENGTH.saying("Number of words in automatically generated excerpts.");
pub(super) const HIDE_EMPTY: Argument =
    shared::HIDE_EMPTY.saying("Exclude items that are assigned to nothing.");
pub(super) const OF_POST: Argument =
    shared::OF_POST.saying("Return only items assigned to the post with this ID.");
pub(super) const COMMENTS: Argument =
    shared::COMMENTS.saying("Accept new comments (`open`) or not (`closed`).");
pub(super) const PINGS: Argument =
    shared::PINGS.saying("Accept pingbacks and trackbacks (`open`) or not (`closed`).");
pub(super) const OF_STATUS: Argument =
    shared::OF_STATUS.saying("Return only items with this status. Default: publish.");
