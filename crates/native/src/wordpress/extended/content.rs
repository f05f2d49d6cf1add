//! Posts, pages, things of any type; their revisions and autosaves.

use super::{PHASE, rows, versions};
use crate::rest::{Shape, content, edit};
use crate::tools::{Argument, Form, Tool, html, int, object, text, tool};
use crate::wordpress::arguments::{
    AFTER, AUTHOR, BEFORE, COMMENTS, CONTEXT, DATE, DATE_GMT, EXCERPT_LENGTH, EXCLUDE, FORCE, INCLUDE,
    MENU_ORDER, META, MODIFIED_AFTER, MODIFIED_BEFORE, OF_PASSWORD, OF_STATUS, OFFSET, ORDER, PAGE, PARENT,
    PASSWORD, PER_PAGE, PINGS, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TAX_RELATION, TEMPLATE,
    VERSIONS_BY, id,
};

pub(super) const VERSION: Argument = int("version", "The number of the version.").required().least(1);
pub(super) const VERSIONS: Shape =
    Shape::List("versions", "id parent author date modified slug title.rendered");
pub(super) const VERSION_SHOWN: Shape =
    Shape::One("id parent author date modified title.raw|rendered content.raw|rendered excerpt.raw|rendered");

const ONE: Shape = Shape::One(
    "id type title.raw|rendered content.raw|rendered excerpt.raw|rendered slug link status date modified author parent \
     menu_order template featured_media comment_status categories tags meta",
);
const SAVED: Shape = Shape::One("id type title.rendered slug link status date modified");
const LINES: Shape =
    Shape::List("items", "id type title.rendered slug link status date modified author parent");

const TITLE: Argument = text("title", "The title.");
const CONTENT: Argument = html("content", "The content, in HTML or blocks.");
const EXCERPT: Argument = text("excerpt", "The excerpt.");
const STATUS: Argument =
    text("status", "The status.").among(&["draft", "publish", "pending", "private", "future"]);
const BACK_AS: Argument = text("status", "The status that it gets.")
    .or_text("draft")
    .among(&["draft", "publish", "pending", "private"]);
const ID: Argument = id("Its number.");

pub(super) const POSTS: &[Tool] = &[
    tool(
        "wp_restore_post",
        "Takes a post out of the bin.",
        &[ID, BACK_AS],
        &[edit("index", "/wp/v2/posts/{id}").step()],
        SAVED,
    )
    .phase(PHASE),
    tool(
        "wp_get_page",
        "A page with its content.",
        &[ID, CONTEXT, OF_PASSWORD, EXCERPT_LENGTH],
        &[content("index", "/wp/v2/pages/{id}").step()],
        ONE,
    )
    .phase(PHASE),
    tool(
        "wp_restore_page",
        "Takes a page out of the bin.",
        &[ID, BACK_AS],
        &[edit("index", "/wp/v2/pages/{id}").step()],
        SAVED,
    )
    .phase(PHASE),
];

pub(super) const POST_VERSIONS: &[Tool] = versions! {
    "post", "/wp/v2/posts", ID, "{id}",
    [ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, AUTHOR, COMMENTS, PINGS, META]
};

pub(super) const PAGE_VERSIONS: &[Tool] = versions! {
    "page", "/wp/v2/pages", ID, "{id}",
    [ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, AUTHOR, COMMENTS, PINGS, META, PARENT,
     MENU_ORDER]
};

const TYPE: Argument = text(
    "type",
    "The type's name in routes (`rest_base` in wp_get_post_types), such as posts, blocks, navigation, menu-items or \
     products.",
)
.required();

/// What only some types have. It goes along as it is, but never in place of another argument.
const FILTERS: Argument = object(
    "filters",
    "Further filters by name, such as {author: 3} or a taxonomy of the type with the numbers of its terms.",
)
.form(Form::Spread);
const FIELDS: Argument = object(
    "fields",
    "Further fields by name, such as author, parent, featured_media, or a taxonomy of the type with the numbers of its \
     terms.",
)
.form(Form::Spread);

/// Things of any type that the site shows at `wp/v2`.
pub(super) const ANY: &[Tool] = rows! {
    "wp_get_items", "Lists things of any type.",
        [TYPE, PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, MODIFIED_AFTER, MODIFIED_BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER,
         POSTS_BY, SLUGS, OF_STATUS, CONTEXT, SEARCH_IN, SEMANTICS, TAX_RELATION, FILTERS];
        get "/wp/v2/{type}" => LINES;
    "wp_get_item", "One thing of any type, with its content.", [TYPE, ID, CONTEXT, OF_PASSWORD, EXCERPT_LENGTH];
        content "/wp/v2/{type}/{id}" => ONE;
    "wp_create_item", "Makes something of any type.",
        [TYPE, TITLE, CONTENT, EXCERPT, STATUS.or_text("draft"), SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE, META,
         FIELDS];
        post "/wp/v2/{type}" => SAVED;
    "wp_update_item", "Changes something of any type; what is left out stays.",
        [TYPE, ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE, META, FIELDS];
        edit "/wp/v2/{type}/{id}", keeps "/wp/v2/{type}/{id}" => SAVED;
    "wp_delete_item", "Puts something of any type into the bin, or removes it.", [TYPE, ID, FORCE];
        delete "/wp/v2/{type}/{id}" => Shape::Whole;
    "wp_get_item_revisions", "Lists earlier versions of something of any type.",
        [TYPE, ID, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
        get "/wp/v2/{type}/{id}/revisions" => VERSIONS;
    "wp_get_item_revision", "An earlier version of something of any type.", [TYPE, ID, VERSION, CONTEXT];
        content "/wp/v2/{type}/{id}/revisions/{version}" => VERSION_SHOWN;
    "wp_delete_item_revision", "Removes an earlier version of something of any type for good.", [TYPE, ID, VERSION];
        purge "/wp/v2/{type}/{id}/revisions/{version}" => Shape::Whole;
    "wp_get_item_autosaves", "Lists what was saved while something of any type was written.", [TYPE, ID, CONTEXT];
        get "/wp/v2/{type}/{id}/autosaves" => VERSIONS;
    "wp_get_item_autosave", "What was saved while something of any type was written.", [TYPE, ID, VERSION, CONTEXT];
        content "/wp/v2/{type}/{id}/autosaves/{version}" => VERSION_SHOWN;
    "wp_create_item_autosave", "Saves a version of something of any type without putting it in force.",
        [TYPE, ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, META, FIELDS];
        post "/wp/v2/{type}/{id}/autosaves", keeps "/wp/v2/{type}/{id}" => VERSION_SHOWN;
};
