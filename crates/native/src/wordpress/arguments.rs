//! Arguments that many of the tools have.

use crate::tools::{Argument, flag, int, integers, list, object, text};

pub(super) const PER_PAGE: Argument = int("per_page", "How many on a page.").or_int(10).least(1).most(100);
pub(super) const PAGE: Argument = int("page", "Which page of the list.").or_int(1).least(1);
pub(super) const SEARCH: Argument = text("search", "Only those that have this text.");
pub(super) const FORCE: Argument =
    flag("force", "Whether it is removed at once rather than put into the bin.").or_flag(false);

pub(super) const fn id(about: &'static str) -> Argument {
    int("id", about).required().least(1)
}

pub(super) const INCLUDE: Argument = integers("include", "Only those with these numbers.");
pub(super) const EXCLUDE: Argument = integers("exclude", "Those with these numbers are left out.");
pub(super) const OFFSET: Argument = int("offset", "How many are skipped before the first.").least(0);
pub(super) const ORDER: Argument = text("order", "Rising or falling.").among(&["asc", "desc"]);
pub(super) const POSTS_BY: Argument = text("orderby", "What the list is ordered by.").among(&[
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
pub(super) const PAGES_BY: Argument = text("orderby", "What the list is ordered by.").among(&[
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
pub(super) const VERSIONS_BY: Argument = text("orderby", "What the list is ordered by.").among(&[
    "date",
    "id",
    "include",
    "relevance",
    "slug",
    "include_slugs",
    "title",
]);
pub(super) const TERMS_BY: Argument = text("orderby", "What the list is ordered by.").among(&[
    "id",
    "include",
    "name",
    "slug",
    "include_slugs",
    "term_group",
    "description",
    "count",
]);
pub(super) const AFTER: Argument = text("after", "Only those after this time, such as 2026-05-31T00:00:00.");
pub(super) const BEFORE: Argument = text("before", "Only those before this time.");
pub(super) const MODIFIED_AFTER: Argument =
    text("modified_after", "Only those that were changed after this time.");
pub(super) const MODIFIED_BEFORE: Argument =
    text("modified_before", "Only those that were changed before this time.");
pub(super) const AUTHORS: Argument = integers("author", "Only those by the users with these numbers.");
pub(super) const NOT_AUTHORS: Argument =
    integers("author_exclude", "Those by the users with these numbers are left out.");
pub(super) const SLUGS: Argument = list("slug", "Only those with these names in their addresses.");
pub(super) const SEARCH_IN: Argument = list(
    "search_columns",
    "Where the text is looked for: post_title, post_content, post_excerpt; all when left out.",
);
pub(super) const SEMANTICS: Argument =
    text("search_semantics", "The text is looked for as it stands rather than word by word.")
        .among(&["exact"]);
pub(super) const TAX_RELATION: Argument =
    text("tax_relation", "Whether all of the filters by terms must fit, or one.").among(&["AND", "OR"]);
pub(super) const IN_CATEGORIES: Argument =
    integers("categories", "Only those in the categories with these numbers.");
pub(super) const NOT_CATEGORIES: Argument =
    integers("categories_exclude", "Those in the categories with these numbers are left out.");
pub(super) const WITH_TAGS: Argument = integers("tags", "Only those with the tags of these numbers.");
pub(super) const NOT_TAGS: Argument =
    integers("tags_exclude", "Those with the tags of these numbers are left out.");
pub(super) const STICKY: Argument = flag("sticky", "Only those that stay on top, or only the others.");
pub(super) const IGNORES_STICKY: Argument =
    flag("ignore_sticky", "Whether those that stay on top are listed like all others.");
pub(super) const PLACED: Argument = int("menu_order", "Only those in this place among their neighbours.");
pub(super) const PARENTS: Argument = integers("parent", "Only those below the ones with these numbers.");
pub(super) const NOT_PARENTS: Argument =
    integers("parent_exclude", "Those below the ones with these numbers are left out.");
pub(super) const CONTEXT: Argument =
    text("context", "For reading or for editing; the latter shows more to those who may edit.")
        .among(&["view", "embed", "edit"]);

pub(super) const SLUG: Argument = text("slug", "The name in addresses; made from the title when left out.");
pub(super) const DATE: Argument = text(
    "date",
    "When it is published, in the site's time, such as 2026-05-31T09:00:00; a time to come waits.",
);
pub(super) const DATE_GMT: Argument = text("date_gmt", "The same in UTC, in place of `date`.");
pub(super) const AUTHOR: Argument = int("author", "The number of the user who is its author.").least(1);
pub(super) const IMAGE: Argument = int("featured_media", "The number of the featured image.").least(0);
pub(super) const CATEGORIES: Argument = integers("categories", "The numbers of its categories.");
pub(super) const TAGS: Argument = integers("tags", "The numbers of its tags.");
pub(super) const META: Argument =
    object("meta", "Further fields by name, as far as the site has registered them.");
pub(super) const PARENT: Argument = int("parent", "The number of the one above it; 0 for none.").least(0);
pub(super) const MENU_ORDER: Argument = int("menu_order", "Its place among its neighbours.");
pub(super) const TEMPLATE: Argument = text("template", "The theme's template that shows it.");
pub(super) const PASSWORD: Argument = text("password", "The password that readers need.");
pub(super) const STICKS: Argument = flag("sticky", "Whether it stays on top of lists.");
/// The formats that posts may have (WordPress, `get_post_format_slugs`).
const FORMATS: &[&str] =
    &["standard", "aside", "chat", "gallery", "link", "image", "quote", "status", "video", "audio"];
pub(super) const FORMAT: Argument = text("format", "The format.").among(FORMATS);
pub(super) const OF_FORMATS: Argument = list("format", "Only those of these formats, such as aside.");
pub(super) const OF_PASSWORD: Argument = text("password", "The password, where it has one.");
pub(super) const EXCERPT_LENGTH: Argument =
    int("excerpt_length", "How many words an excerpt has that the site makes itself.").least(0);
pub(super) const HIDE_EMPTY: Argument = flag("hide_empty", "Whether those that nothing has are left out.");
pub(super) const OF_POST: Argument = int("post", "Only those of the post with this number.").least(1);
pub(super) const COMMENTS: Argument =
    text("comment_status", "Whether it can be commented on.").among(&["open", "closed"]);
pub(super) const PINGS: Argument =
    text("ping_status", "Whether other sites may announce that they link to it.").among(&["open", "closed"]);
pub(super) const OF_STATUS: Argument =
    text("status", "Only those of this status; published ones when left out.")
        .among(&["publish", "future", "draft", "pending", "private", "trash", "any"]);
