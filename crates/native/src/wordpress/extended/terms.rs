//! Terms of any taxonomy; types, taxonomies and statuses; comments.

use super::arguments::{
    AFTER, AUTHOR, AUTHORS, BEFORE, CONTEXT, DATE_GMT, EXCLUDE, HIDE_EMPTY, INCLUDE, META, NOT_AUTHORS,
    NOT_PARENTS, OF_POST, OFFSET, ORDER, PAGE, PARENTS, PER_PAGE, SEARCH, SLUG, SLUGS, TERMS_BY, id,
};
use super::rows;
use crate::rest::{Shape, edit};
use crate::tools::{Literal, ToolArgument, ToolRow, html, int, integers, text};

const TERM: Shape = Shape::One("id name slug description count parent taxonomy link meta");
const TERM_LINES: Shape = Shape::List("terms", "id name slug description count parent taxonomy link");
const ID: ToolArgument = id("ID of the category, tag, term or comment.");
const NAME: ToolArgument = text("name", "Name.");
const ABOUT: ToolArgument = text("description", "Description.");
const TAXONOMY: ToolArgument = text(
    "taxonomy",
    "REST base of the taxonomy (`rest_base` in wp_get_taxonomies), such as categories, tags or wp_pattern_category.",
)
.required();
const ABOVE: ToolArgument =
    int("parent", "ID of the parent term in a hierarchical taxonomy; 0 for none.").least(0);

pub(super) const TERMS: &[ToolRow] = rows! {
    "wp_update_category", "Update a category", "Updates a category and returns it. Omitted fields keep their values.", [ID, NAME, ABOUT, SLUG, ABOVE, META];
        edit "/wp/v2/categories/{id}" => TERM;
    "wp_get_tag", "Get a tag", "Returns one tag.", [ID, CONTEXT];
        get "/wp/v2/tags/{id}" => TERM;
    "wp_update_tag", "Update a tag", "Updates a tag and returns it. Omitted fields keep their values.", [ID, NAME, ABOUT, SLUG, META];
        edit "/wp/v2/tags/{id}" => TERM;
    "wp_delete_tag", "Delete a tag", "Permanently deletes a tag. Its posts are kept.", [ID];
        purge "/wp/v2/tags/{id}" => Shape::Whole;
    "wp_get_terms", "List terms of any taxonomy", "Returns a page of the terms of any taxonomy.",
        [TAXONOMY, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, ORDER, TERMS_BY, SLUGS,
         HIDE_EMPTY, OF_POST,
         int("parent", "Return only children of the term with this ID, in a hierarchical taxonomy.").least(0), CONTEXT];
        get "/wp/v2/{taxonomy}" => TERM_LINES;
    "wp_get_term", "Get a term of any taxonomy", "Returns one term of any taxonomy.", [TAXONOMY, ID, CONTEXT];
        get "/wp/v2/{taxonomy}/{id}" => TERM;
    "wp_create_term", "Create a term of any taxonomy", "Creates a term in any taxonomy and returns it.", [TAXONOMY, NAME.required(), ABOUT, SLUG, ABOVE, META];
        post "/wp/v2/{taxonomy}" => TERM;
    "wp_update_term", "Update a term of any taxonomy", "Updates a term of any taxonomy and returns it. Omitted fields keep their values.",
        [TAXONOMY, ID, NAME, ABOUT, SLUG, ABOVE, META];
        edit "/wp/v2/{taxonomy}/{id}" => TERM;
    "wp_delete_term", "Delete a term of any taxonomy", "Permanently deletes a term of any taxonomy. Items that have the term are kept.", [TAXONOMY, ID];
        purge "/wp/v2/{taxonomy}/{id}" => Shape::Whole;
};

const TYPE: &str =
    "slug name description hierarchical has_archive rest_base rest_namespace taxonomies supports";
const KIND: &str = "slug name description hierarchical rest_base rest_namespace types";
const STATE: &str = "slug name public queryable date_floating";

pub(super) const KINDS: &[ToolRow] = rows! {
    "wp_get_post_types", "List post types", "Returns the post types of the site.", [CONTEXT];
        get "/wp/v2/types" => Shape::Map("types", TYPE);
    "wp_get_post_type", "Get a post type", "Returns one post type.",
        [text("type", "Name of the post type, such as post or page.").required(), CONTEXT];
        get "/wp/v2/types/{type}" => Shape::One(TYPE);
    "wp_get_taxonomies", "List taxonomies", "Returns the taxonomies of the site, such as categories and tags.",
        [text("type", "Return only taxonomies of this post type, such as post."), CONTEXT];
        get "/wp/v2/taxonomies" => Shape::Map("taxonomies", KIND);
    "wp_get_taxonomy", "Get a taxonomy", "Returns one taxonomy.",
        [text("taxonomy", "Name of the taxonomy, such as category or post_tag.").required(), CONTEXT];
        get "/wp/v2/taxonomies/{taxonomy}" => Shape::One(KIND);
    "wp_get_statuses", "List post statuses", "Returns the post statuses of the site.", [CONTEXT];
        get "/wp/v2/statuses" => Shape::Map("statuses", STATE);
    "wp_get_status", "Get a post status", "Returns one post status.", [text("status", "Name of the status, such as publish.").required(), CONTEXT];
        get "/wp/v2/statuses/{status}" => Shape::One(STATE);
};

const COMMENT: Shape = Shape::One(
    "id post parent author author_name author_email author_url date content.raw|rendered status type link",
);
const MODERATED: Shape = Shape::One("id post status author_name link");
const SAYS: ToolArgument = html("content", "Content.");
const WHO: ToolArgument =
    text("author_name", "Name of the comment's author, if the author is not a user of the site.");
const WHO_MAIL: ToolArgument = text("author_email", "Email address of the comment's author.");
const WHO_URL: ToolArgument = text("author_url", "URL of the comment author's website.");

const WHERE: ToolArgument = text("author_ip", "IP address of the comment's author.");
const WITH: ToolArgument = text("author_user_agent", "User agent of the comment's author.");

macro_rules! moderation {
    ($status:literal) => {
        &[edit("index", "/wp/v2/comments/{id}")
            .with(&[crate::rest::fixed("status", Literal::Text($status))])
            .step()]
    };
}

pub(super) const COMMENTS: &[ToolRow] = &[
    rows! {
        "wp_get_comment", "Get a comment", "Returns one comment with its content.", [ID, CONTEXT, text("password", "Password of the post, if it is password-protected.")];
            content "/wp/v2/comments/{id}" => COMMENT;
    }[0],
    rows! {
        "wp_create_comment", "Create a comment", "Creates a comment on a post and returns it.",
            [int("post", "ID of the post.").required().least(1), SAYS.required(),
             int("parent", "ID of the parent comment; 0 for none.").least(0),
             AUTHOR, WHO, WHO_MAIL, WHO_URL, WHERE, WITH, text("date", "Date of the comment in the site's time zone."),
             DATE_GMT, text("status", "Status of the comment; requires permission to moderate.").among(&["approved", "hold", "spam"]),
             META];
            post "/wp/v2/comments" => COMMENT;
    }[0],
    rows! {
        "wp_update_comment", "Update a comment", "Updates a comment and returns it. Omitted fields keep their values.",
            [ID, SAYS, int("post", "ID of the post.").least(1), int("parent", "ID of the parent comment; 0 for none."),
             AUTHOR, WHO, WHO_MAIL, WHO_URL, WHERE, WITH, text("date", "Date of the comment in the site's time zone."),
             DATE_GMT, text("status", "Status of the comment.").among(&["approved", "hold", "spam", "unspam", "trash", "untrash"]), META];
            edit "/wp/v2/comments/{id}" => COMMENT;
    }[0],
    crate::tools::titled(
        "wp_hold_comment",
        "Hold a comment",
        "Withdraws the approval of a comment, which then awaits moderation, and returns its summary.",
        &[ID],
        moderation!("hold"),
        MODERATED,
    )
    .phase(super::PHASE),
    crate::tools::titled(
        "wp_unspam_comment",
        "Mark a comment as not spam",
        "Marks a comment as not spam and returns its summary.",
        &[ID],
        moderation!("unspam"),
        MODERATED,
    )
    .phase(super::PHASE),
    crate::tools::titled(
        "wp_trash_comment",
        "Trash a comment",
        "Moves a comment to the trash and returns its summary.",
        &[ID],
        moderation!("trash"),
        MODERATED,
    )
    .phase(super::PHASE),
    crate::tools::titled(
        "wp_restore_comment",
        "Restore a comment",
        "Restores a comment from the trash and returns its summary.",
        &[ID],
        moderation!("untrash"),
        MODERATED,
    )
    .phase(super::PHASE),
    rows! {
        "wp_find_comments", "Find comments", "Returns a page of comments that match filters such as author, date, parent and type.",
            [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, AUTHORS, NOT_AUTHORS,
             text("author_email", "Return only comments by authors with this email address."), INCLUDE, EXCLUDE, OFFSET, ORDER,
             text("orderby", "Field to sort by.")
                 .among(&["date", "date_gmt", "id", "include", "post", "parent", "type"]),
             PARENTS, NOT_PARENTS, integers("post", "Return only comments on the posts with these IDs."),
             text("status", "Return only comments with this status.").among(&["approve", "hold", "spam", "trash", "all"]),
             text("type", "Return only comments of this type, such as comment or pingback."),
             text("password", "Password of the post, if it is password-protected."), CONTEXT];
            get "/wp/v2/comments" => Shape::List(
                "comments", "id post parent author author_name date content.rendered status type link");
    }[0],
];
