//! Terms of any taxonomy; types, taxonomies and statuses; comments.

use super::rows;
use crate::rest::{Shape, edit};
use crate::tools::{Argument, Literal, Tool, html, int, integers, text};
use crate::wordpress::arguments::{
    AFTER, AUTHOR, AUTHORS, BEFORE, CONTEXT, DATE_GMT, EXCLUDE, HIDE_EMPTY, INCLUDE, META, NOT_AUTHORS,
    NOT_PARENTS, OF_POST, OFFSET, ORDER, PAGE, PARENTS, PER_PAGE, SEARCH, SLUG, SLUGS, TERMS_BY, id,
};

const TERM: Shape = Shape::One("id name slug description count parent taxonomy link meta");
const TERM_LINES: Shape = Shape::List("terms", "id name slug description count parent taxonomy link");
const ID: Argument = id("Its number.");
const NAME: Argument = text("name", "The name.");
const ABOUT: Argument = text("description", "What it is about.");
const TAXONOMY: Argument = text(
    "taxonomy",
    "The taxonomy's name in routes (`rest_base` in wp_get_taxonomies), such as categories, tags or wp_pattern_category.",
)
.required();
const ABOVE: Argument =
    int("parent", "The number of the one above it, where there are levels; 0 for none.").least(0);

pub(super) const TERMS: &[Tool] = rows! {
    "wp_update_category", "Changes a category; what is left out stays.", [ID, NAME, ABOUT, SLUG, ABOVE, META];
        edit "/wp/v2/categories/{id}" => TERM;
    "wp_get_tag", "One tag.", [ID, CONTEXT];
        get "/wp/v2/tags/{id}" => TERM;
    "wp_update_tag", "Changes a tag; what is left out stays.", [ID, NAME, ABOUT, SLUG, META];
        edit "/wp/v2/tags/{id}" => TERM;
    "wp_delete_tag", "Removes a tag for good; its posts stay.", [ID];
        purge "/wp/v2/tags/{id}" => Shape::Whole;
    "wp_get_terms", "Lists terms of any taxonomy.",
        [TAXONOMY, PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, ORDER, TERMS_BY, SLUGS,
         HIDE_EMPTY, OF_POST,
         int("parent", "Only those below this one, where there are levels.").least(0), CONTEXT];
        get "/wp/v2/{taxonomy}" => TERM_LINES;
    "wp_get_term", "One term of any taxonomy.", [TAXONOMY, ID, CONTEXT];
        get "/wp/v2/{taxonomy}/{id}" => TERM;
    "wp_create_term", "Makes a term of any taxonomy.", [TAXONOMY, NAME.required(), ABOUT, SLUG, ABOVE, META];
        post "/wp/v2/{taxonomy}" => TERM;
    "wp_update_term", "Changes a term of any taxonomy; what is left out stays.",
        [TAXONOMY, ID, NAME, ABOUT, SLUG, ABOVE, META];
        edit "/wp/v2/{taxonomy}/{id}" => TERM;
    "wp_delete_term", "Removes a term of any taxonomy for good; what has it stays.", [TAXONOMY, ID];
        purge "/wp/v2/{taxonomy}/{id}" => Shape::Whole;
};

const TYPE: &str =
    "slug name description hierarchical has_archive rest_base rest_namespace taxonomies supports";
const KIND: &str = "slug name description hierarchical rest_base rest_namespace types";
const STATE: &str = "slug name public queryable date_floating";

pub(super) const KINDS: &[Tool] = rows! {
    "wp_get_post_types", "Lists the types of content that the site has.", [CONTEXT];
        get "/wp/v2/types" => Shape::Map("types", TYPE);
    "wp_get_post_type", "One type of content.",
        [text("type", "Its name, such as post or page.").required(), CONTEXT];
        get "/wp/v2/types/{type}" => Shape::One(TYPE);
    "wp_get_taxonomies", "Lists the ways in which the site sorts its content.",
        [text("type", "Only those of this type of content, such as post."), CONTEXT];
        get "/wp/v2/taxonomies" => Shape::Map("taxonomies", KIND);
    "wp_get_taxonomy", "One way of sorting.",
        [text("taxonomy", "Its name, such as category or post_tag.").required(), CONTEXT];
        get "/wp/v2/taxonomies/{taxonomy}" => Shape::One(KIND);
    "wp_get_statuses", "Lists the statuses that posts may have.", [CONTEXT];
        get "/wp/v2/statuses" => Shape::Map("statuses", STATE);
    "wp_get_status", "One status.", [text("status", "Its name, such as publish.").required(), CONTEXT];
        get "/wp/v2/statuses/{status}" => Shape::One(STATE);
};

const COMMENT: Shape = Shape::One(
    "id post parent author author_name author_email author_url date content.raw|rendered status type link",
);
const MODERATED: Shape = Shape::One("id post status author_name link");
const SAYS: Argument = html("content", "What it says.");
const WHO: Argument = text("author_name", "The name of the one who writes, where it is no user.");
const WHO_MAIL: Argument = text("author_email", "That one's e-mail address.");
const WHO_URL: Argument = text("author_url", "That one's own address on the web.");

const WHERE: Argument = text("author_ip", "The address (IP) from which it was written.");
const WITH: Argument = text("author_user_agent", "The program with which it was written.");

macro_rules! moderation {
    ($status:literal) => {
        &[edit("index", "/wp/v2/comments/{id}")
            .with(&[crate::rest::fixed("status", Literal::Text($status))])
            .step()]
    };
}

pub(super) const COMMENTS: &[Tool] = &[
    rows! {
        "wp_get_comment", "One comment.", [ID, CONTEXT, text("password", "The post's password, where it has one.")];
            content "/wp/v2/comments/{id}" => COMMENT;
    }[0],
    rows! {
        "wp_create_comment", "Writes a comment.",
            [int("post", "The number of the post.").required().least(1), SAYS.required(),
             int("parent", "The number of the comment that it answers.").least(0),
             AUTHOR, WHO, WHO_MAIL, WHO_URL, WHERE, WITH, text("date", "When it was written, in the site's time."),
             DATE_GMT, text("status", "Its status, for those who may say it.").among(&["approved", "hold", "spam"]),
             META];
            post "/wp/v2/comments" => COMMENT;
    }[0],
    rows! {
        "wp_update_comment", "Changes a comment; what is left out stays.",
            [ID, SAYS, int("post", "The number of the post.").least(1), int("parent", "The comment that it answers."),
             AUTHOR, WHO, WHO_MAIL, WHO_URL, WHERE, WITH, text("date", "When it was written, in the site's time."),
             DATE_GMT, text("status", "Its status.").among(&["approved", "hold", "spam", "unspam", "trash", "untrash"]), META];
            edit "/wp/v2/comments/{id}" => COMMENT;
    }[0],
    crate::tools::tool(
        "wp_hold_comment",
        "Takes a comment's approval back.",
        &[ID],
        moderation!("hold"),
        MODERATED,
    )
    .phase(super::PHASE),
    crate::tools::tool(
        "wp_unspam_comment",
        "Says that a comment is no spam.",
        &[ID],
        moderation!("unspam"),
        MODERATED,
    )
    .phase(super::PHASE),
    crate::tools::tool(
        "wp_trash_comment",
        "Puts a comment into the bin.",
        &[ID],
        moderation!("trash"),
        MODERATED,
    )
    .phase(super::PHASE),
    crate::tools::tool(
        "wp_restore_comment",
        "Takes a comment out of the bin.",
        &[ID],
        moderation!("untrash"),
        MODERATED,
    )
    .phase(super::PHASE),
    rows! {
        "wp_find_comments", "Lists comments by more than the post and the status.",
            [PER_PAGE, PAGE, SEARCH, AFTER, BEFORE, AUTHORS, NOT_AUTHORS,
             text("author_email", "Only those of this e-mail address."), INCLUDE, EXCLUDE, OFFSET, ORDER,
             text("orderby", "What the list is ordered by.")
                 .among(&["date", "date_gmt", "id", "include", "post", "parent", "type"]),
             PARENTS, NOT_PARENTS, integers("post", "Only those on the posts with these numbers."),
             text("status", "Only those of this status.").among(&["approve", "hold", "spam", "trash", "all"]),
             text("type", "Only those of this type, such as comment or pingback."),
             text("password", "The post's password, where it has one."), CONTEXT];
            get "/wp/v2/comments" => Shape::List(
                "comments", "id post parent author author_name date content.rendered status type link");
    }[0],
];
