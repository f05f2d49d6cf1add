//! Checks the opposite direction: every parameter of every method of WordPress's own routes is an argument of some
//! tool.

use std::collections::{BTreeMap, BTreeSet};

use super::table::{all, reached, table};
use super::*;
use crate::site::Requests;

/// Types that the tools for any type cover, in addition to posts and categories.
const TYPES: &[&str] = &["pages", "media", "blocks", "navigation", "menu-items"];
const TAXONOMIES: &[&str] = &["tags", "menus", "wp_pattern_category"];

/// A route, its parameters that no tool sends, and the reason. An empty list of parameters stands for the whole
/// route.
type Left = (&'static str, &'static [&'static str], &'static str);

const INDEX: &str = "a part of the index, which site_routes shows";
const SAME: &str = "the same as in the route";
const LIST: &str = "the list does the same with the name as an argument";
const FIELDS: &str = "`fields` of wp_create_item_autosave takes them, though few of them are kept";
const PASSED: &str = "WordPress passes over it";
const BY_NAME: &str = "tools ask for the members that they show by name";

const OUT_OF_REACH: &[Left] = &[
    ("GET /", &["context"], INDEX),
    ("GET /wp/v2", &[], INDEX),
    ("GET /oembed/1.0", &[], INDEX),
    ("GET /wp-abilities/v1", &[], INDEX),
    ("GET /wp-block-editor/v1", &[], INDEX),
    ("GET /wp-site-health/v1", &[], INDEX),
    ("GET /wp/v2/block-types/{namespace}", &[], LIST),
    ("GET /wp/v2/icons/{collection}", &[], LIST),
    ("GET /wp/v2/posts/{id}/autosaves", &["parent"], SAME),
    ("GET /wp/v2/pages/{id}/autosaves", &["parent"], SAME),
    ("GET /wp/v2/blocks/{id}/autosaves", &["parent"], SAME),
    ("GET /wp/v2/navigation/{id}/autosaves", &["parent"], SAME),
    ("GET /wp/v2/menu-items/{id}/autosaves", &["parent"], SAME),
    (
        "POST /wp/v2/posts/{id}/autosaves",
        &["categories", "featured_media", "format", "parent", "sticky", "tags", "template"],
        FIELDS,
    ),
    ("POST /wp/v2/pages/{id}/autosaves", &["featured_media", "template"], FIELDS),
    ("POST /wp/v2/blocks/{id}/autosaves", &["parent", "template", "wp_pattern_category"], FIELDS),
    ("POST /wp/v2/navigation/{id}/autosaves", &["parent", "template"], FIELDS),
    (
        "POST /wp/v2/menu-items/{id}/autosaves",
        &[
            "attr_title",
            "classes",
            "description",
            "menu_order",
            "menus",
            "object",
            "object_id",
            "parent",
            "target",
            "type",
            "url",
            "xfn",
        ],
        FIELDS,
    ),
    ("POST /wp/v2/templates", &["type"], PASSED),
    ("POST /wp/v2/template-parts", &["type"], PASSED),
    ("POST,PUT,PATCH /wp/v2/templates/{*id}", &["slug", "theme", "type"], PASSED),
    ("POST,PUT,PATCH /wp/v2/template-parts/{*id}", &["slug", "theme", "type"], PASSED),
    ("POST /wp/v2/templates/{*id}/autosaves", &["slug", "theme", "type"], PASSED),
    ("POST /wp/v2/template-parts/{*id}/autosaves", &["area", "slug", "theme", "type"], PASSED),
    ("POST,PUT,PATCH /wp/v2/users/{id}", &["username"], "nobody can change it"),
    ("POST,PUT,PATCH /wp/v2/users/me", &["username"], "nobody can change it"),
    ("POST /wp/v2/widgets", &["id"], "wp_update_widget changes one that there is"),
    ("POST /wp/v2/media", &["url"], "wp_upload_media_from_url fetches it here, where addresses are checked"),
    ("GET /wp/v2/font-families", &["search_semantics"], "nothing is searched there"),
    (
        "GET /wp/v2/font-families/{font_family_id}/font-faces",
        &["search_semantics"],
        "nothing is searched there",
    ),
    ("GET /oembed/1.0/embed", &["format"], "tools read JSON"),
    ("GET /oembed/1.0/proxy", &["format"], "tools read JSON"),
    ("GET /wp/v2/block-directory/search", &["context"], "it has one value alone"),
    ("GET /wp-abilities/v1/abilities", &["context"], BY_NAME),
    ("GET /wp-abilities/v1/categories", &["context"], BY_NAME),
];

/// The same call for each other type and taxonomy that the tool accepts, and the call itself.
fn others(tool: &ToolRow, call: &Value) -> Vec<Value> {
    let of = |name: &str, words: &[&str]| -> Vec<Value> {
        let is_open =
            |argument: &&ToolArgument| argument.name == name && argument.about.contains("rest_base");
        let fits = tool.arguments.iter().any(|argument| is_open(&argument));
        let with = |word: &&str| {
            let mut call = call.clone();
            call[name] = json!(word);
            call
        };
        words.iter().filter(|_| fits).map(with).collect()
    };
    [of("type", TYPES), of("taxonomy", TAXONOMIES), vec![call.clone()]].concat()
}

/// A site on which an ability has an input.
fn able(request: &HttpRequest) -> HttpResponse {
    let is_ability = request.url.contains("/wp-abilities/v1/abilities/") && !request.url.ends_with("/run");
    if is_ability { reply(200, &json!({"input_schema": {"type": "object"}})) } else { site(request) }
}

#[test]
fn wordpress_tools_reach_all_that_wordpress_has() {
    let table: Vec<Endpoint<'_>> = [CORE, CORE_MORE].into_iter().flat_map(table).collect();
    let there: BTreeMap<String, BTreeSet<String>> = all(&table);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let fake = Fake::replying(able);
    let settings = SiteSettings { requests: Requests { write: true, ..Requests::default() }, ..settings() };
    let sets = wordpress::Sets { extended: true, discover: true };
    let server = wordpress::server(&settings, sets, fake.clone()).unwrap();
    for tool in server.rows() {
        for call in calls(tool).iter().flat_map(|call| others(tool, call)) {
            asked(&server, tool.name, &call);
            let requests = std::mem::take(&mut *fake.asked.lock().unwrap());
            for request in requests.iter().filter(|request| request.url.contains("/wp-json")) {
                if let Some((title, names)) = reached(&table, request) {
                    found.entry(title).or_default().extend(names);
                }
            }
        }
    }
    let left = there.iter().filter_map(|(title, names)| match found.get(title) {
        None => Some(format!("{title}:")),
        Some(found) => {
            let names: Vec<&str> = names.difference(found).map(String::as_str).collect();
            (!names.is_empty()).then(|| format!("{title}: {}", names.join(" ")))
        }
    });
    let known = OUT_OF_REACH.iter().map(|(title, names, _)| format!("{title}: {}", names.join(" ")));
    let left: BTreeSet<String> = left.map(|line| line.trim().to_owned()).collect();
    let known: BTreeSet<String> = known.map(|line| line.trim().to_owned()).collect();
    let lines = |these: &BTreeSet<String>, those: &BTreeSet<String>| -> Vec<String> {
        these.difference(those).cloned().collect()
    };
    let (missing, idle) = (lines(&left, &known), lines(&known, &left));
    assert!(missing.is_empty(), "out of reach:\n{}", missing.join("\n"));
    assert!(idle.is_empty(), "exceptions that are none:\n{}", idle.join("\n"));
}
