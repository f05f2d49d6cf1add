//! Posts, pages, items of any type; their revisions and autosaves.

use super::arguments::{
    AFTER, AUTHOR, BEFORE, COMMENTS, CONTEXT, DATE, DATE_GMT, EXCERPT_LENGTH, EXCLUDE, FORCE, INCLUDE,
    MENU_ORDER, META, MODIFIED_AFTER, MODIFIED_BEFORE, OF_PASSWORD, OF_STATUS, OFFSET, ORDER, PAGE, PARENT,
    PASSWORD, PER_PAGE, PINGS, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS, SLUG, SLUGS, TAX_RELATION, TEMPLATE,
    VERSIONS_BY, id,
};
use super::{PHASE, rows, versions};
use crate::rest::{Shape, content, edit};
use crate::tools::{Form, ToolArgument, ToolRow, html, int, object, text, titled};

pub(super) const VERSION: ToolArgument =
    int("version", "ID of the revision or autosave.").required().least(1);
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

const TITLE: ToolArgument = text("title", "Title.");
const CONTENT: ToolArgument = html("content", "Content as HTML or block markup.");
const EXCERPT: ToolArgument = text("excerpt", "Excerpt.");
const STATUS: ToolArgument =
    text("status", "Status.").among(&["draft", "publish", "pending", "private", "future"]);
const BACK_AS: ToolArgument = text("status", "Status after restoring.")
    .or_text("draft")
    .among(&["draft", "publish", "pending", "private"]);
const ID: ToolArgument = id("ID of the item.");

pub(super) const POSTS: &[ToolRow] = &[
    titled(
        "wp_restore_post",
        "Restore a post",
        "Restores a post from the trash and returns its summary.",
        &[ID, BACK_AS],
        &[edit("index", "/wp/v2/posts/{id}").step()],
        SAVED,
    )
    .phase(PHASE),
    titled(
        "wp_get_page",
        "Get a page",
        "Returns a page with its content.",
        &[ID, CONTEXT, OF_PASSWORD, EXCERPT_LENGTH],
        &[content("index", "/wp/v2/pages/{id}").step()],
        ONE,
    )
    .phase(PHASE),
    titled(
        "wp_restore_page",
        "Restore a page",
        "Restores a page from the trash and returns its summary.",
        &[ID, BACK_AS],
        &[edit("index", "/wp/v2/pages/{id}").step()],
        SAVED,
    )
    .phase(PHASE),
];

pub(super) const POST_VERSIONS: &[ToolRow] = versions! {
    "post", "/wp/v2/posts", ID, "{id}",
    [ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, AUTHOR, COMMENTS, PINGS, META]
};

pub(super) const PAGE_VERSIONS: &[ToolRow] = versions! {
    "page", "/wp/v2/pages", ID, "{id}",
    [ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, AUTHOR, COMMENTS, PINGS, META, PARENT,
     MENU_ORDER]
};

const TYPE: ToolArgument = text(
    "type",
    "REST base of the post type (`rest_base` in wp_get_post_types), such as posts, blocks, navigation, menu-items or products.",
)
.required();

/// Filters that only some types have. They are sent unchanged, but never override another argument.
const FILTERS: ToolArgument = object(
    "filters",
    "Additional filters by name, such as {author: 3}, or a taxonomy of the post type with its term IDs.",
)
.form(Form::Spread);
const FIELDS: ToolArgument = object(
    "fields",
    "Additional fields by name, such as author, parent, featured_media, or a taxonomy of the post type with its term IDs.",
)
.form(Form::Fields);

/// Items of any type that the site exposes at `wp/v2`.
pub(super) const ANY: &[ToolRow] = rows! {
    "wp_get_items", "List items of any type", "Returns a page of items of any post type, such as posts, blocks or products.",
        [TYPE, PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, MODIFIED_AFTER, MODIFIED_BEFORE, INCLUDE, EXCLUDE, OFFSET, ORDER,
         POSTS_BY, SLUGS, OF_STATUS, CONTEXT, SEARCH_IN, SEMANTICS, TAX_RELATION, FILTERS];
        get "/wp/v2/{type}" => LINES;
    "wp_get_item", "Get an item of any type", "Returns one item of any post type with its content.", [TYPE, ID, CONTEXT, OF_PASSWORD, EXCERPT_LENGTH];
        content "/wp/v2/{type}/{id}" => ONE;
    "wp_create_item", "Create an item of any type", "Creates an item of any post type and returns its summary.",
        [TYPE, TITLE, CONTENT, EXCERPT, STATUS.or_text("draft"), SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE, META,
         FIELDS];
        post "/wp/v2/{type}" => SAVED;
    "wp_update_item", "Update an item of any type", "Updates an item of any post type and returns its summary. Omitted fields keep their values.",
        [TYPE, ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, TEMPLATE, META, FIELDS];
        edit "/wp/v2/{type}/{id}", keeps "/wp/v2/{type}/{id}" => SAVED;
    "wp_delete_item", "Delete an item of any type", "Moves an item of any post type to the trash, or deletes it permanently with `force`.", [TYPE, ID, FORCE];
        delete "/wp/v2/{type}/{id}" => Shape::Whole;
    "wp_get_item_revisions", "List revisions of an item", "Returns a list of revisions of an item of any post type.",
        [TYPE, ID, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, VERSIONS_BY, CONTEXT];
        get "/wp/v2/{type}/{id}/revisions" => VERSIONS;
    "wp_get_item_revision", "Get a revision of an item", "Returns one revision of an item of any post type with its content.", [TYPE, ID, VERSION, CONTEXT];
        content "/wp/v2/{type}/{id}/revisions/{version}" => VERSION_SHOWN;
    "wp_delete_item_revision", "Delete a revision of an item", "Permanently deletes one revision of an item of any post type.", [TYPE, ID, VERSION];
        purge "/wp/v2/{type}/{id}/revisions/{version}" => Shape::Whole;
    "wp_get_item_autosaves", "List autosaves of an item", "Returns the autosaves of an item of any post type.", [TYPE, ID, CONTEXT];
        get "/wp/v2/{type}/{id}/autosaves" => VERSIONS;
    "wp_get_item_autosave", "Get an autosave of an item", "Returns one autosave of an item of any post type with its content.", [TYPE, ID, VERSION, CONTEXT];
        content "/wp/v2/{type}/{id}/autosaves/{version}" => VERSION_SHOWN;
    "wp_create_item_autosave", "Autosave an item", "Creates an autosave of an item of any post type without publishing the changes, and returns the autosave.",
        [TYPE, ID, TITLE, CONTENT, EXCERPT, STATUS, SLUG, DATE, DATE_GMT, PASSWORD, META, FIELDS];
        post "/wp/v2/{type}/{id}/autosaves", keeps "/wp/v2/{type}/{id}" => VERSION_SHOWN;
};
