//! Categories, tags and comments.

use super::arguments::{
    EXCLUDE, FORCE, HIDE_EMPTY, INCLUDE, META, OF_POST, OFFSET, ORDER, PAGE, PER_PAGE, SEARCH, SLUGS,
    TERMS_BY, id,
};
use crate::rest::{MemberSource, Shape, ShownMember, delete, fixed, get, pick, post};
use crate::tools::{Effect, Form, Literal, ToolArgument, ToolRow, flag, int, text, tool};

const NAME: ToolArgument = text("name", "Name.").required();
const ABOUT: ToolArgument = text("description", "Description.");
const SLUG: ToolArgument = text("slug", "Slug, used in URLs. Default: derived from the name.");

const CATEGORY: &[ShownMember] = &[
    pick("id", "/id"),
    pick("name", "/name"),
    pick("slug", "/slug"),
    pick("description", "/description"),
    pick("count", "/count"),
    pick("parent", "/parent"),
    pick("link", "/link"),
];

const TAG: &[ShownMember] = &[
    pick("id", "/id"),
    pick("name", "/name"),
    pick("slug", "/slug"),
    pick("description", "/description"),
    pick("count", "/count"),
    pick("link", "/link"),
];

const COMMENT: &[ShownMember] = &[
    pick("id", "/id"),
    pick("post", "/post"),
    pick("author_name", "/author_name"),
    pick("author_url", "/author_url"),
    pick("date", "/date"),
    pick("content", "/content/rendered"),
    pick("status", "/status"),
    pick("link", "/link"),
];

const MODERATED: &[ShownMember] = &[
    ShownMember { name: "success", from: MemberSource::Fixed(Literal::Flag(true)) },
    pick("id", "/id"),
    pick("status", "/status"),
    pick("post", "/post"),
    pick("author_name", "/author_name"),
];

const SUCCESS: ShownMember = ShownMember { name: "success", from: MemberSource::Fixed(Literal::Flag(true)) };
const NUMBER: ShownMember = ShownMember { name: "id", from: MemberSource::Value("id") };
const GONE: ShownMember =
    ShownMember { name: "deleted", from: MemberSource::Or("/deleted", Literal::Flag(false)) };

pub(super) const TOOLS: &[ToolRow] = &[
    tool(
        "wp_get_categories",
        "Returns a page of categories.",
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
            int("parent", "Return only children of the category with this ID; 0 for top-level categories.")
                .least(0),
        ],
        &[get("wp", "/categories").step()],
        Shape::Listed("categories", CATEGORY),
    ),
    tool(
        "wp_get_category",
        "Returns one category.",
        &[id("ID of the category.")],
        &[get("wp", "/categories/{id}").step()],
        Shape::Picked(CATEGORY),
    ),
    tool(
        "wp_create_category",
        "Creates a category and returns it.",
        &[NAME, ABOUT, SLUG, int("parent", "ID of the parent category.").least(0), META],
        &[post("wp", "/categories").step()],
        Shape::Picked(CATEGORY),
    ),
    tool(
        "wp_delete_category",
        "Permanently deletes a category. Its posts are kept.",
        &[
            id("ID of the category."),
            // WordPress has no trash for categories, and refuses every other value.
            flag("force", "Must be true: categories have no trash and are deleted permanently.")
                .or_flag(true),
        ],
        &[delete("wp", "/categories/{id}").step()],
        Shape::Picked(&[
            SUCCESS,
            NUMBER,
            GONE,
            ShownMember { name: "name", from: MemberSource::First(&["/previous/name", "/name"]) },
        ]),
    ),
    tool(
        "wp_get_tags",
        "Returns a page of tags.",
        &[PER_PAGE, PAGE, SEARCH, INCLUDE, EXCLUDE, OFFSET, ORDER, TERMS_BY, SLUGS, HIDE_EMPTY, OF_POST],
        &[get("wp", "/tags").step()],
        Shape::Listed("tags", TAG),
    ),
    tool(
        "wp_create_tag",
        "Creates a tag and returns it.",
        &[NAME, ABOUT, SLUG, META],
        &[post("wp", "/tags").step()],
        Shape::Picked(TAG),
    ),
    tool(
        "wp_get_comments",
        "Returns a page of comments with their content.",
        &[
            PER_PAGE,
            PAGE,
            int("post", "Return only comments on the post with this ID.").least(1),
            text("status", "Return only comments with this status. Default: approved.")
                .among(&["approved", "pending", "spam", "trash"])
                .form(Form::Words(&[("approved", "approve"), ("pending", "hold")])),
        ],
        &[get("wp", "/comments").step()],
        Shape::Listed("comments", COMMENT),
    ),
    tool(
        "wp_approve_comment",
        "Approves a comment and returns its status.",
        &[id("ID of the comment.")],
        &[post("wp", "/comments/{id}").with(&[fixed("status", Literal::Text("approved"))]).step()],
        Shape::Picked(MODERATED),
    )
    .effect(Effect::Changes),
    tool(
        "wp_spam_comment",
        "Marks a comment as spam and returns its status.",
        &[id("ID of the comment.")],
        &[post("wp", "/comments/{id}").with(&[fixed("status", Literal::Text("spam"))]).step()],
        Shape::Picked(MODERATED),
    )
    .effect(Effect::Changes),
    tool(
        "wp_delete_comment",
        "Moves a comment to the trash, or deletes it permanently with `force`.",
        &[
            id("ID of the comment."),
            FORCE,
            text("password", "Password of the post, if it is password-protected."),
        ],
        &[delete("wp", "/comments/{id}").step()],
        Shape::Picked(&[
            SUCCESS,
            NUMBER,
            GONE,
            ShownMember {
                name: "author_name",
                from: MemberSource::First(&["/previous/author_name", "/author_name"]),
            },
        ]),
    ),
];
