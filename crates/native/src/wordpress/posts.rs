//! Posts and pages.

use super::arguments::{
    AFTER, AUTHOR, AUTHORS, BEFORE, CATEGORIES, COMMENTS, DATE, DATE_GMT, EXCERPT_LENGTH, EXCLUDE, FORCE,
    FORMAT, IGNORES_STICKY, IMAGE, IN_CATEGORIES, INCLUDE, MENU_ORDER, META, MODIFIED_AFTER, MODIFIED_BEFORE,
    NOT_AUTHORS, NOT_CATEGORIES, NOT_PARENTS, NOT_TAGS, OF_FORMATS, OF_PASSWORD, OFFSET, ORDER, PAGE,
    PAGES_BY, PARENT, PARENTS, PASSWORD, PER_PAGE, PINGS, PLACED, POSTS_BY, SEARCH, SEARCH_IN, SEMANTICS,
    SLUG, SLUGS, STICKS, STICKY, TAGS, TAX_RELATION, TEMPLATE, WITH_TAGS, id,
};
use super::markup::keeps_markup;
use crate::rest::{MemberSource, Restoring, Shape, ShownMember, Step, content, delete, get, pick, post};
use crate::tools::{Effect, Literal, ToolArgument, ToolRow, html, text, titled, tool};

const WRITTEN: &[&str] = &["draft", "publish", "pending", "private"];

const TITLE: ToolArgument = text("title", "Title.");
const CONTENT: ToolArgument = html("content", "Content in HTML.");
const EXCERPT: ToolArgument = text("excerpt", "Excerpt.");
const STATUS: ToolArgument = text("status", "Status.").among(WRITTEN);

const LINE: &[ShownMember] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("status", "/status"),
    pick("date", "/date"),
];

const LINE_WITH_EXCERPT: &[ShownMember] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("status", "/status"),
    pick("date", "/date"),
    pick("excerpt", "/excerpt/rendered"),
];

/// The members of a post that a call reads: each text as source, if the site shows the source.
const WHOLE: &[ShownMember] = &[
    pick("id", "/id"),
    ShownMember { name: "title", from: MemberSource::First(&["/title/raw", "/title/rendered"]) },
    ShownMember { name: "content", from: MemberSource::First(&["/content/raw", "/content/rendered"]) },
    pick("link", "/link"),
    pick("status", "/status"),
    pick("date", "/date"),
    pick("modified", "/modified"),
    pick("author", "/author"),
    pick("featured_media", "/featured_media"),
    ShownMember { name: "excerpt", from: MemberSource::First(&["/excerpt/raw", "/excerpt/rendered"]) },
];

const UPDATED: &[ShownMember] = &[
    pick("id", "/id"),
    pick("title", "/title/rendered"),
    pick("link", "/link"),
    pick("status", "/status"),
    pick("modified", "/modified"),
];

/// The members of the answer to a deletion. For a permanent deletion, the site returns `deleted` and `previous`;
/// for a move to the trash, it returns the post itself.
const DELETED: &[ShownMember] = &[
    ShownMember { name: "success", from: MemberSource::Fixed(Literal::Flag(true)) },
    ShownMember { name: "id", from: MemberSource::Value("id") },
    ShownMember { name: "deleted", from: MemberSource::Or("/deleted", Literal::Flag(false)) },
    ShownMember { name: "status", from: MemberSource::At("/status") },
    ShownMember {
        name: "previous",
        from: MemberSource::Object(
            "/previous",
            &[pick("title", "/title/rendered"), pick("status", "/status")],
        ),
    },
];

pub(super) const TOOLS: &[ToolRow] = &[
    tool(
        "wp_get_posts",
        "List WordPress posts",
        &[
            PER_PAGE,
            PAGE,
            text("status", "Return only items with this status. Default: publish.")
                .among(&["publish", "draft", "pending", "private", "trash"]),
            SEARCH,
            IN_CATEGORIES,
            WITH_TAGS,
            POSTS_BY,
            ORDER,
            AUTHORS,
            AFTER,
            BEFORE,
            NOT_CATEGORIES,
            NOT_TAGS,
            STICKY,
            SLUGS,
            NOT_AUTHORS,
            MODIFIED_AFTER,
            MODIFIED_BEFORE,
            INCLUDE,
            EXCLUDE,
            OFFSET,
            OF_FORMATS,
            SEARCH_IN,
            SEMANTICS,
            TAX_RELATION,
            IGNORES_STICKY,
        ],
        &[get("wp", "/posts").step()],
        Shape::Listed("posts", LINE_WITH_EXCERPT),
    ),
    tool(
        "wp_get_post",
        "Returns one post with its content.",
        &[id("ID of the post."), OF_PASSWORD, EXCERPT_LENGTH],
        &[content("wp", "/posts/{id}").step()],
        Shape::Picked(WHOLE),
    ),
    tool(
        "wp_create_post",
        "Create a new WordPress post",
        &[
            TITLE.saying("Post title").required(),
            CONTENT.saying("Post content (HTML)").required(),
            STATUS.saying("Post status").or_text("draft"),
            EXCERPT,
            IMAGE,
            CATEGORIES,
            TAGS,
            SLUG,
            AUTHOR,
            DATE,
            COMMENTS,
            PINGS,
            PASSWORD,
            META,
            STICKS,
            FORMAT,
            TEMPLATE,
            DATE_GMT,
        ],
        &[post("wp", "/posts").step()],
        Shape::Picked(LINE),
    ),
    tool(
        "wp_update_post",
        "Updates a post and returns its summary. Omitted fields keep their values.",
        &[
            id("ID of the post."),
            TITLE,
            CONTENT,
            STATUS,
            EXCERPT,
            IMAGE,
            CATEGORIES,
            TAGS,
            SLUG,
            AUTHOR,
            DATE,
            COMMENTS,
            PINGS,
            PASSWORD,
            META,
            STICKS,
            FORMAT,
            TEMPLATE,
            DATE_GMT,
        ],
        &[keeps_markup("wp", "/posts/{id}"), post("wp", "/posts/{id}").step()],
        Shape::Picked(UPDATED),
    )
    .effect(Effect::Changes),
    tool(
        "wp_delete_post",
        "Moves a post to the trash, or deletes it permanently with `force`.",
        &[id("ID of the post."), FORCE],
        &[delete("wp", "/posts/{id}").step()],
        Shape::Picked(DELETED),
    ),
    tool(
        "wp_get_pages",
        "Returns a list of pages with their titles, links and status.",
        &[
            PER_PAGE,
            PAGE,
            SEARCH,
            text("status", "Return only items with this status. Default: publish.")
                .among(&["publish", "draft", "pending", "private", "trash"]),
            PAGES_BY,
            ORDER,
            PARENTS,
            AUTHORS,
            SLUGS,
            NOT_PARENTS,
            NOT_AUTHORS,
            AFTER,
            BEFORE,
            MODIFIED_AFTER,
            MODIFIED_BEFORE,
            INCLUDE,
            EXCLUDE,
            OFFSET,
            SEARCH_IN,
            SEMANTICS,
            PLACED,
        ],
        &[get("wp", "/pages").step()],
        Shape::Listed("pages", LINE),
    ),
    tool(
        "wp_create_page",
        "Creates a page and returns its summary.",
        &[
            TITLE.required(),
            CONTENT.required(),
            STATUS.or_text("draft"),
            PARENT,
            MENU_ORDER,
            TEMPLATE,
            IMAGE,
            EXCERPT,
            SLUG,
            AUTHOR,
            DATE,
            COMMENTS,
            PASSWORD,
            META,
            PINGS,
            DATE_GMT,
        ],
        &[post("wp", "/pages").step()],
        Shape::Picked(LINE),
    ),
    tool(
        "wp_update_page",
        "Updates a page and returns its summary. Omitted fields keep their values.",
        &[
            id("ID of the page."),
            TITLE,
            CONTENT,
            STATUS,
            PARENT,
            MENU_ORDER,
            TEMPLATE,
            IMAGE,
            EXCERPT,
            SLUG,
            AUTHOR,
            DATE,
            COMMENTS,
            PASSWORD,
            META,
            PINGS,
            DATE_GMT,
        ],
        &[keeps_markup("wp", "/pages/{id}"), post("wp", "/pages/{id}").step()],
        Shape::Picked(UPDATED),
    )
    .effect(Effect::Changes),
    tool(
        "wp_delete_page",
        "Moves a page to the trash, or deletes it permanently with `force`.",
        &[id("ID of the page."), FORCE],
        &[delete("wp", "/pages/{id}").step()],
        Shape::Picked(DELETED),
    ),
];

/// The tool that restores replaced content. It is offered only with compact answers, because only these contain the
/// address of the content.
pub(super) const RESTORE: &[ToolRow] = &[titled(
    "wp_restore_content",
    "Restore replaced content",
    "Restores the content that an update replaced, and returns a summary of the item. Updates return its address as `previous_content`.",
    &[text("previous_content", "Address of the replaced content, such as wp://previous/3f2a….").required()],
    &[Step::Restore(Restoring { argument: "previous_content", base: "index" })],
    Shape::One("id type status modified link"),
)];
