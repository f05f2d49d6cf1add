//! Batches of changes. WordPress runs the requests of a batch itself, so the checks before a change look at them here. A batch
//! must not replace content: neither its markup is compared, nor is the old content kept.

use serde_json::{Map, Value};

use super::PHASE;
use crate::rest::{Shape, Step, decoded, post};
use crate::tools::{CallFailure, Condition, Effect, ToolRow, Values, objects, text, titled};

/// The argument with the requests.
const REQUESTS: &str = "requests";
/// The member of a request that contains new content.
const CONTENT: &str = "content";
/// The members of requests that refer to other items.
const REFERENCES: &[&str] = &["categories", "tags", "featured_media"];
/// The maximum length of a path in a message, in characters.
const SHOWN: usize = 100;

/// The tools that replace content, by the segment of the route that names its type; any other type has `OTHER`.
const WRITERS: &[(&str, &str)] = &[
    ("posts", "wp_update_post"),
    ("pages", "wp_update_page"),
    ("blocks", "wp_update_block"),
    ("navigation", "wp_update_navigation"),
    ("templates", "wp_update_template"),
    ("template-parts", "wp_update_template_part"),
];
const OTHER: &str = "wp_update_item";

pub(super) const TOOLS: &[ToolRow] = &[titled(
    "wp_batch",
    "Send a batch of changes",
    "Sends up to 25 write requests to the REST API at once and returns their responses. A batch can create items with content, but not \
     replace the content of existing items.",
    &[
        objects(REQUESTS, "Requests, each {method, path, body, headers}. The method is POST, PUT, PATCH or DELETE; a path is, for example, /wp/v2/posts/7.")
            .having(&["method", "path", "body", "headers"])
            .required(),
        text("validation", "Validation mode: require-all-validate checks all requests before running any of them.")
            .or_text("normal")
            .among(&["require-all-validate", "normal"]),
    ],
    &[
        Step::Make(REQUESTS, without_replaced_content),
        // The values are looked up before the request, like those of other changes.
        Step::Make("categories", |values| Ok(referenced(values, "categories"))),
        Step::Make("tags", |values| Ok(referenced(values, "tags"))),
        Step::Make("featured_media", |values| Ok(referenced(values, "featured_media"))),
        post("index", "/batch/v1").step(),
    ],
    Shape::Whole,
)
.effect(Effect::Toggles)
.phase(PHASE)];

fn requests(values: &Values) -> impl Iterator<Item = &Map<String, Value>> {
    values.get(REQUESTS).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn text_of<'r>(request: &'r Map<String, Value>, member: &str) -> &'r str {
    request.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// Refuses requests that replace content, and requests that hide content or references in the query.
fn without_replaced_content(values: &Values) -> Result<Option<Value>, CallFailure> {
    for (at, request) in requests(values).enumerate() {
        let path = text_of(request, "path");
        let shown: String = path.chars().take(SHOWN).collect();
        let refused = |why: &str| {
            let words = format!("nothing was sent: request {} ({shown}) {why}", at + 1);
            Err(CallFailure::new(Condition::ToolFailed, words))
        };
        let query = decoded(path.split_once('?').map_or("", |(_, query)| query));
        if let Some(name) = REFERENCES.iter().chain([&CONTENT]).find(|name| query.contains(**name)) {
            return refused(&format!("has {name:?} in the query: put it into the body"));
        }
        let has_content = request.get("body").and_then(|body| body.get(CONTENT)).is_some();
        if has_content && !creates(text_of(request, "method"), path) {
            return refused(&format!(
                "would replace content. A batch neither checks that blocks and shortcodes are kept nor keeps the old content; use \
                 {}, which does both, and leave \"content\" out of the batch",
                writer(path)
            ));
        }
    }
    Ok(None)
}

/// Returns true for a request to the list of a type of WordPress's own API, which creates an item. Only this exact form of
/// the path counts: WordPress may read any other form as the path of an item.
fn creates(method: &str, path: &str) -> bool {
    let route = path.split('?').next().unwrap_or_default();
    let kind = route.strip_prefix("/wp/v2/").unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    matches!(method, "" | "POST") && !kind.is_empty() && kind.bytes().all(is_name)
}

/// The tool that replaces the content of the item at this path.
fn writer(path: &str) -> &'static str {
    let has = |kind: &str| path.split('/').any(|segment| segment == kind);
    WRITERS.iter().find(|(kind, _)| has(kind)).map_or(OTHER, |(_, tool)| tool)
}

/// The IDs in this member of all requests; `None` if there are none.
fn referenced(values: &Values, member: &str) -> Option<Value> {
    let found = requests(values).filter_map(|request| request.get("body")?.get(member));
    let ids: Vec<Value> = found
        .flat_map(|value| value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice))
        .cloned()
        .collect();
    (!ids.is_empty()).then(|| Value::from(ids))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(request: &Value) -> Option<String> {
        let mut values = Values::default();
        values.set(
            REQUESTS,
            json!([{"method": "POST", "path": "/wp/v2/tags", "body": {"name": "T"}}, request]),
        );
        without_replaced_content(&values).err().map(|failure| failure.message)
    }

    #[test]
    fn a_batch_replaces_no_content() {
        for (path, tool) in [
            ("/wp/v2/posts/7", "wp_update_post"),
            ("/wp/v2/pages/7?context=edit", "wp_update_page"),
            ("/wp/v2/template-parts/mine//header", "wp_update_template_part"),
            ("/wp/v2/books/7", "wp_update_item"),
            ("/wp/v2/posts/", "wp_update_post"),
            ("//x/wp/v2/posts/7", "wp_update_post"),
            ("/wp/v2/posts#/7", "wp_update_item"),
            ("/shop/v1/update", "wp_update_item"),
        ] {
            for method in ["POST", "PUT", "PATCH"] {
                let words =
                    refusal(&json!({"method": method, "path": path, "body": {"content": "x"}})).unwrap();
                assert!(words.starts_with(&format!("nothing was sent: request 2 ({path}) would")), "{words}");
                assert!(words.contains(&format!("use {tool},")), "{words}");
            }
        }
        for path in ["/wp/v2/posts/7?content=x", "/wp/v2/posts/7?a=b&%63ontent[raw]=x", "/wp/v2/posts?tags=9"]
        {
            let words = refusal(&json!({"method": "POST", "path": path})).unwrap();
            assert!(words.ends_with("in the query: put it into the body"), "{words}");
        }
        for request in [
            json!({"method": "POST", "path": "/wp/v2/posts", "body": {"content": "x"}}),
            json!({"path": "/wp/v2/my_books", "body": {"content": "x"}}),
            json!({"method": "PUT", "path": "/wp/v2/posts/7", "body": {"title": "content"}}),
            json!({"method": "DELETE", "path": "/wp/v2/posts/7?force=true"}),
        ] {
            assert_eq!(refusal(&request), None, "{request}");
        }
    }

    #[test]
    fn the_references_of_all_requests_are_gathered() {
        let mut values = Values::default();
        values.set(
            REQUESTS,
            json!([{"body": {"tags": [5]}}, {}, {"body": {"tags": 6}}, {"body": {"featured_media": 8}}]),
        );
        assert_eq!(referenced(&values, "tags"), Some(json!([5, 6])));
        assert_eq!(referenced(&values, "featured_media"), Some(json!([8])));
        assert_eq!(referenced(&values, "categories"), None);
    }
}
