//! The initial content of the site.

use serde_json::{Value, json};

use super::collection::{Collection, Kind};

const NO_POST: (&str, &str) = ("rest_post_invalid_id", "Invalid post ID.");
const NO_TERM: (&str, &str) = ("rest_term_invalid", "Term does not exist.");
const NO_COMMENT: (&str, &str) = ("rest_comment_invalid_id", "Invalid comment ID.");

static POSTS: Kind = Kind { name: "posts", ..POSTS_LIKE };
static PAGES: Kind = Kind { name: "pages", ..POSTS_LIKE };
static MEDIA: Kind = Kind { name: "media", trash: false, ..POSTS_LIKE };
static CATEGORIES: Kind = Kind { name: "categories", ..TERMS_LIKE };
static TAGS: Kind = Kind { name: "tags", ..TERMS_LIKE };
static COMMENTS: Kind =
    Kind { name: "comments", missing: NO_COMMENT, rendered: false, trash: true, required: &["post"] };

const POSTS_LIKE: Kind = Kind { name: "", missing: NO_POST, rendered: true, trash: true, required: &[] };
const TERMS_LIKE: Kind =
    Kind { name: "", missing: NO_TERM, rendered: false, trash: false, required: &["name"] };

fn written(id: u64, title: &str, status: &str, base: &str) -> Value {
    json!({
        "id": id, "date": format!("2026-01-{id:02}T09:00:00"), "modified": format!("2026-02-{id:02}T09:00:00"),
        "slug": title.to_lowercase().replace(' ', "-"), "status": status, "link": format!("{base}/?p={id}"),
        "title": {"rendered": title}, "content": {"rendered": format!("<p>{title}.</p>\n"), "protected": false},
        "excerpt": {"rendered": format!("<p>{title}</p>\n"), "protected": false},
        "author": 1, "featured_media": 0,
    })
}

fn term(id: u64, name: &str, base: &str) -> Value {
    json!({
        "id": id, "count": 1, "description": "", "name": name, "slug": name.to_lowercase(), "parent": 0,
        "link": format!("{base}/term/{id}/"),
    })
}

fn comment(id: u64, status: &str, base: &str) -> Value {
    json!({
        "id": id, "post": 1, "parent": 0, "author": 0, "author_name": "A Reader", "author_url": "",
        "date": format!("2026-02-{id:02}T10:00:00"), "content": {"rendered": format!("<p>Comment {id}</p>\n")},
        "link": format!("{base}/?p=1#comment-{id}"), "status": status, "type": "comment",
    })
}

fn picture(id: u64, base: &str) -> Value {
    let mut picture = written(id, "A picture", "inherit", base);
    picture["source_url"] = json!(format!("{base}/wp-content/uploads/picture.png"));
    picture["media_type"] = json!("image");
    picture["mime_type"] = json!("image/png");
    picture["alt_text"] = json!("A picture");
    picture
}

/// All types with their initial items, on the site `name` at `base`.
pub(super) fn collections(name: &str, base: &str) -> Vec<Collection> {
    let post =
        |id: u64, what: &str, status: &str| written(id, &format!("{what} of site {name}"), status, base);
    let posts =
        vec![post(1, "First post", "publish"), post(2, "Second post", "publish"), post(3, "Draft", "draft")];
    vec![
        Collection::new(&POSTS, posts),
        Collection::new(&PAGES, vec![post(11, "About", "publish")]),
        Collection::new(&MEDIA, vec![picture(21, base)]),
        Collection::new(&CATEGORIES, vec![term(1, "Uncategorized", base), term(2, "News", base)]),
        Collection::new(&TAGS, vec![term(3, "Rust", base)]),
        Collection::new(&COMMENTS, vec![comment(1, "approved", base), comment(2, "hold", base)]),
    ]
}
