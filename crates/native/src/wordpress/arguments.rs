//! Arguments that many of the tools have.

use crate::tools::{ToolArgument, flag, int, integers, list, object, text};

pub(super) const PER_PAGE: ToolArgument =
    int("per_page", "Number of items per page.").or_int(10).least(1).most(100);
pub(super) const PAGE: ToolArgument = int("page", "Page number.").or_int(1).least(1);
pub(super) const SEARCH: ToolArgument = text("search", "Return only items that contain this text.");
pub(super) const FORCE: ToolArgument =
    flag("force", "Delete permanently instead of moving to the trash.").or_flag(false);

pub(super) const fn id(about: &'static str) -> ToolArgument {
    int("id", about).required().least(1)
}

pub(super) const INCLUDE: ToolArgument = integers("include", "Return only items with these IDs.");
pub(super) const EXCLUDE: ToolArgument = integers("exclude", "Exclude items with these IDs.");
pub(super) const OFFSET: ToolArgument = int("offset", "Number of items to skip.").least(0);
pub(super) const ORDER: ToolArgument = text("order", "Sort order.").among(&["asc", "desc"]);
pub(super) const POSTS_BY: ToolArgument = text("orderby", "Field to sort by.").among(&[
    "author",
    "date",
    "id",
    "include",
    "modified",
    "parent",
    "relevance",
    "slug",
    "include_slugs",
    "title",
]);
pub(super) const PAGES_BY: ToolArgument = text("orderby", "Field to sort by.").among(&[
    "author",
    "date",
    "id",
    "include",
    "modified",
    "parent",
    "relevance",
    "slug",
    "include_slugs",
    "title",
    "menu_order",
]);
pub(super) const VERSIONS_BY: ToolArgument = text("orderby", "Field to sort by.").among(&[
    "date",
    "id",
    "include",
    "relevance",
    "slug",
    "include_slugs",
    "title",
]);
pub(super) const TERMS_BY: ToolArgument = text("orderby", "Field to sort by.").among(&[
    "id",
    "include",
    "name",
    "slug",
    "include_slugs",
    "term_group",
    "description",
    "count",
]);
pub(super) const AFTER: ToolArgument =
    text("after", "Return only items dated after this time, such as 2026-05-31T00:00:00.");
pub(super) const BEFORE: ToolArgument =
    text("before", "Return only items dated before this time, such as 2026-05-31T00:00:00.");
pub(super) const MODIFIED_AFTER: ToolArgument =
    text("modified_after", "Return only items modified after this time, such as 2026-05-31T00:00:00.");
pub(super) const MODIFIED_BEFORE: ToolArgument =
    text("modified_before", "Return only items modified before this time, such as 2026-05-31T00:00:00.");
pub(super) const AUTHORS: ToolArgument =
    integers("author", "Return only items written by users with these IDs.");
pub(super) const NOT_AUTHORS: ToolArgument =
    integers("author_exclude", "Exclude items written by users with these IDs.");
pub(super) const SLUGS: ToolArgument = list("slug", "Return only items with these slugs.");
pub(super) const SEARCH_IN: ToolArgument =
    list("search_columns", "Fields to search: post_title, post_content, post_excerpt. Default: all.");
pub(super) const SEMANTICS: ToolArgument = text(
    "search_semantics",
    "Search mode: `exact` requires each word to equal the whole title, excerpt or content.",
)
.among(&["exact"]);
pub(super) const TAX_RELATION: ToolArgument =
    text("tax_relation", "Combination of term filters: AND requires all of them, OR any of them.")
        .among(&["AND", "OR"]);
pub(super) const IN_CATEGORIES: ToolArgument =
    integers("categories", "Return only items in the categories with these IDs.");
pub(super) const NOT_CATEGORIES: ToolArgument =
    integers("categories_exclude", "Exclude items in the categories with these IDs.");
pub(super) const WITH_TAGS: ToolArgument =
    integers("tags", "Return only items that have the tags with these IDs.");
pub(super) const NOT_TAGS: ToolArgument =
    integers("tags_exclude", "Exclude items that have the tags with these IDs.");
pub(super) const STICKY: ToolArgument =
    flag("sticky", "Return only sticky posts (true) or only other posts (false).");
pub(super) const IGNORES_STICKY: ToolArgument =
    flag("ignore_sticky", "List sticky posts in normal order instead of first.");
pub(super) const PLACED: ToolArgument = int("menu_order", "Return only items with this menu position.");
pub(super) const PARENTS: ToolArgument =
    integers("parent", "Return only children of the items with these IDs.");
pub(super) const NOT_PARENTS: ToolArgument =
    integers("parent_exclude", "Exclude children of the items with these IDs.");
pub(super) const CONTEXT: ToolArgument = text(
    "context",
    "Response context: `view`, `embed` (fewer fields) or `edit` (more fields; requires permission to edit).",
)
.among(&["view", "embed", "edit"]);

pub(super) const SLUG: ToolArgument =
    text("slug", "Slug, used in URLs. Default: derived from the title or name.");
pub(super) const DATE: ToolArgument = text(
    "date",
    "Publication date in the site's time zone, such as 2026-05-31T09:00:00. A future date schedules publication.",
);
pub(super) const DATE_GMT: ToolArgument = text("date_gmt", "Date in UTC, in place of `date`.");
pub(super) const AUTHOR: ToolArgument = int("author", "User ID of the author.").least(1);
pub(super) const IMAGE: ToolArgument =
    int("featured_media", "Media ID of the featured image; 0 for none.").least(0);
pub(super) const CATEGORIES: ToolArgument = integers("categories", "IDs of the categories to assign.");
pub(super) const TAGS: ToolArgument = integers("tags", "IDs of the tags to assign.");
pub(super) const META: ToolArgument = object("meta", "Registered meta fields by name.");
pub(super) const PARENT: ToolArgument = int("parent", "ID of the parent; 0 for none.").least(0);
pub(super) const MENU_ORDER: ToolArgument = int("menu_order", "Position among siblings.");
pub(super) const TEMPLATE: ToolArgument =
    text("template", "File name of the theme template that renders the item.");
pub(super) const PASSWORD: ToolArgument = text("password", "Password required to read the content.");
pub(super) const STICKS: ToolArgument = flag("sticky", "Keep the post at the top of lists.");
/// The formats that posts may have (WordPress, `get_post_format_slugs`).
const FORMATS: &[&str] =
    &["standard", "aside", "chat", "gallery", "link", "image", "quote", "status", "video", "audio"];
pub(super) const FORMAT: ToolArgument = text("format", "Post format.").among(FORMATS);
pub(super) const OF_FORMATS: ToolArgument =
    list("format", "Return only posts with these formats, such as aside.");
pub(super) const OF_PASSWORD: ToolArgument =
    text("password", "Password of the item, if it is password-protected.");
pub(super) const EXCERPT_LENGTH: ToolArgument =
    int("excerpt_length", "Number of words in automatically generated excerpts.").least(0);
pub(super) const HIDE_EMPTY: ToolArgument =
    flag("hide_empty", "Exclude terms that are not assigned to any post.");
pub(super) const OF_POST: ToolArgument =
    int("post", "Return only items assigned to the post with this ID.").least(1);
pub(super) const COMMENTS: ToolArgument =
    text("comment_status", "Accept new comments (`open`) or not (`closed`).").among(&["open", "closed"]);
pub(super) const PINGS: ToolArgument =
    text("ping_status", "Accept pingbacks and trackbacks (`open`) or not (`closed`).")
        .among(&["open", "closed"]);
pub(super) const OF_STATUS: ToolArgument =
    text("status", "Return only items with this status. Default: publish.")
        .among(&["publish", "future", "draft", "pending", "private", "trash", "any"]);
