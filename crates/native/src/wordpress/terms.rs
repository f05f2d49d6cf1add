//! Categories, tags and comments.

use super::arguments::{
    EXCLUDE, FORCE, HIDE_EMPTY, INCLUDE, META, OF_POST, OFFSET, ORDER, PAGE, PER_PAGE, SEARCH, SLUGS,
    TERMS_BY, id,
};
use crate::rest::{From, Pick, Shape, delete, fixed, get, pick, post};
use crate::tools::{Argument, Effect, Form, Literal, Tool, flag, int, text, tool};

const NAME: Argument = text("name", "The name.").required();
const ABOUT: Argument = text("description", "What it is about.");
const SLUG: Argument = text("slug", "The name in addresses; made from the name when left out.");

const CATEGORY: &[Pick] = &[
    pick("id", "/id"),
    pick("name", "/name"),
    pick("slug", "/slug"),
    pick("description", "/description"),
    pick("count", "/count"),
    pick("parent", "/parent"),
    pick("link", "/link"),
];

const TAG: &[Pick] = &[
    pick("id", "/id"),
    pick("name", "/name"),
    pick("slug", "/slug"),
    pick("description", "/description"),
    pick("count", "/count"),
    pick("link", "/link"),
];

const COMMENT: &[Pick] = &[
    pick("id", "/id"),
    pick("post", "/post"),
    pick("author_name", "/author_name"),
    pick("author_url", "/author_url"),
    pick("date", "/date"),
    pick("content", "/content/rendered"),
    pick("status", "/status"),
    pick("link", "/link"),
];

const MODERATED: &[Pick] = &[
    Pick { name: "success", from: From::Fixed(Literal::Flag(true)) },
    pick("id", "/id"),
    pick("status", "/status"),
    pick("post", "/post"),
    pick("author_name", "/author_name"),
];

const SUCCESS: Pick = Pick { name: "success", from: From::Fixed(Literal::Flag(true)) };
const NUMBER: Pick = Pick { name: "id", from: From::Value("id") };
const GONE: Pick = Pick { name: "deleted", from: From::Or("/deleted", Literal::Flag(false)) };

pub(super) const TOOLS: &[Tool] = &[
    tool(
        "wp_get_categories",
        "Lists categories.",
        &[
            PER_PAGE,
            PAGE,
            SEARCH,
            INCLUDE,
            EXCLUDE,
            ORDER,
            TERMS_BY,
            SLUGS,
            HIDE_EMPTY,
            OF_POST,
            int("parent", "Only those below the one with this number; 0 for those on top.").least(0),
        ],
        &[get("wp", "/categories").step()],
        Shape::Listed("categories", CATEGORY),
    ),
    tool(
        "wp_get_category",
        "One category.",
        &[id("The category's number.")],
        &[get("wp", "/categories/{id}").step()],
        Shape::Picked(CATEGORY),
    ),
    tool(
        "wp_create_category",
        "Makes a category.",
        &[NAME, ABOUT, SLUG, int("parent", "The number of the category above it.").least(0), META],
        &[post("wp", "/categories").step()],
        Shape::Picked(CATEGORY),
    ),
    tool(
        "wp_delete_category",
        "Removes a category; its posts stay.",
        &[
            id("The category's number."),
            // WordPress has no bin for categories, and refuses every other value.
            flag("force", "Categories have no bin: they are removed at once.").or_flag(true),
        ],
        &[delete("wp", "/categories/{id}").step()],
        Shape::Picked(&[
            SUCCESS,
            NUMBER,
            GONE,
            Pick { name: "name", from: From::First(&["/previous/name", "/name"]) },
        ]),
    ),
    tool(
        "wp_get_tags",
        "Lists tags.",
        &[PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, TERMS_BY, SLUGS, HIDE_EMPTY, OF_POST],
        &[get("wp", "/tags").step()],
        Shape::Listed("tags", TAG),
    ),
    tool(
        "wp_create_tag",
        "Makes a tag.",
        &[NAME, ABOUT, SLUG, META],
        &[post("wp", "/tags").step()],
        Shape::Picked(TAG),
    ),
    tool(
        "wp_get_comments",
        "Lists comments.",
        &[
            PER_PAGE,
            PAGE,
            int("post", "Only those on the post of this number.").least(1),
            text("status", "Only those of this status; approved ones when left out.")
                .among(&["approved", "pending", "spam", "trash"])
                .form(Form::Words(&[("approved", "approve"), ("pending", "hold")])),
        ],
        &[get("wp", "/comments").step()],
        Shape::Listed("comments", COMMENT),
    ),
    tool(
        "wp_approve_comment",
        "Approves a comment.",
        &[id("The comment's number.")],
        &[post("wp", "/comments/{id}").with(&[fixed("status", Literal::Text("approved"))]).step()],
        Shape::Picked(MODERATED),
    )
    .effect(Effect::Changes),
    tool(
        "wp_spam_comment",
        "Marks a comment as spam.",
        &[id("The comment's number.")],
        &[post("wp", "/comments/{id}").with(&[fixed("status", Literal::Text("spam"))]).step()],
        Shape::Picked(MODERATED),
    )
    .effect(Effect::Changes),
    tool(
        "wp_delete_comment",
        "Puts a comment into the bin, or removes it.",
        &[id("The comment's number."), FORCE, text("password", "The post's password, where it has one.")],
        &[delete("wp", "/comments/{id}").step()],
        Shape::Picked(&[
            SUCCESS,
            NUMBER,
            GONE,
            Pick { name: "author_name", from: From::First(&["/previous/author_name", "/author_name"]) },
        ]),
    ),
];
