//! Checks rows against the route tables of real sites. Each request of a tool must match a route of the site, and
//! use a method of that route. It must contain all parameters that the route requires, and only parameters that the
//! route declares, with values of the declared types.
//!
//! The tables next to this file are recorded: `cargo xtask routes INDEX.json > TABLE`, where INDEX.json is the answer of
//! a site with every feature enabled to `GET /wp-json/?context=help` (for a community plugin, only its own namespace).

mod reach;
mod table;

use std::cell::RefCell;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::*;
use crate::community::{buddyboss, buddypress};
use crate::port::Verb;
use crate::site::SiteSettings;
use crate::tools::{ArgumentType, ToolArgument, ToolRow};
use crate::woocommerce::{self, ShopSettings};
use crate::{AnswerStyle, ToolServer, wordpress};
use table::{Endpoint, faults, table};

const CORE: &str = include_str!("routes/wordpress.txt");
const CORE_MORE: &str = include_str!("routes/wordpress-more.txt");

/// Values for arguments that are part of a path or have a special meaning.
pub(super) fn sample(argument: &ToolArgument) -> Value {
    let whole: Map<String, Value> =
        argument.members.iter().map(|name| ((*name).to_owned(), json!("b"))).collect();
    match (argument.name, argument.kind) {
        ("type", _) if argument.about.contains("rest_base") => json!("posts"),
        ("taxonomy", _) if argument.about.contains("rest_base") => json!("categories"),
        ("namespace", _) => json!("core"),
        ("file" | "base64", _) => json!("iVBORw0KGgo="),
        ("url", ArgumentType::Text | ArgumentType::Raw) => json!("https://files.example.com/a.png"),
        ("mimeType", _) => json!("image/png"),
        ("exclude" | "user_ids" | "recipients", ArgumentType::Text) => json!("3,4"),
        ("roles", ArgumentType::Text) => json!("admin,mod"),
        ("filters" | "fields", ArgumentType::Object) => json!({"author": 3}),
        ("search_columns", _) if argument.about.contains("email") => json!(["email"]),
        ("search_columns", _) => json!(["post_title"]),
        ("name", _) if argument.about.contains("core/home") => json!("core/home"),
        ("font_face_settings", _) => json!("{\"fontFamily\":\"Mine\"}"),
        ("status", ArgumentType::Texts) => json!(["processing"]),
        ("format", ArgumentType::Texts) => json!(["aside"]),
        ("subtype", _) => json!(["page"]),
        ("locale", _) => json!("en_US"),
        ("component", ArgumentType::Text) if argument.words.is_empty() => json!("groups"),
        _ => match argument.kind {
            _ if !argument.words.is_empty() => json!(argument.words[0]),
            ArgumentType::Text | ArgumentType::Raw | ArgumentType::Html | ArgumentType::Any => json!("words"),
            ArgumentType::User => json!("me"),
            ArgumentType::Integer => {
                json!(argument.least.unwrap_or(7).max(7).min(argument.most.unwrap_or(7)))
            }
            ArgumentType::Number => json!(1.5),
            ArgumentType::Flag => json!(true),
            ArgumentType::Texts => json!(["words"]),
            ArgumentType::Integers => json!([3, 4]),
            ArgumentType::Object if !whole.is_empty() => json!(whole),
            ArgumentType::Objects if !whole.is_empty() => json!([whole]),
            ArgumentType::Object => json!({"a": "b"}),
            ArgumentType::Objects => json!([{"a": "b"}]),
        },
    }
}

/// Calls of a tool: with all arguments, with only the required ones, and with each permitted word of each argument.
pub(super) fn calls(tool: &ToolRow) -> Vec<Value> {
    let of = |take: &dyn Fn(&ToolArgument) -> bool| -> Map<String, Value> {
        let taken = tool.arguments.iter().filter(|argument| take(argument));
        taken.map(|argument| (argument.name.to_owned(), sample(argument))).collect()
    };
    let bare = of(&|argument| argument.required);
    let mut calls = vec![Value::Object(of(&|_| true)), Value::Object(bare.clone())];
    for argument in tool.arguments {
        for word in argument.words {
            let mut call = bare.clone();
            call.insert(argument.name.to_owned(), json!(word));
            calls.push(Value::Object(call));
        }
    }
    calls
}

pub(super) fn settings() -> SiteSettings {
    SiteSettings {
        login: Some(login("https://x.example", "a", "b")),
        image_key: Some(SecretString::from("k")),
        ..SiteSettings::default()
    }
}

/// A site that contains what later steps need.
pub(super) fn site(request: &HttpRequest) -> HttpResponse {
    let path = request.url.split_once("/wp-json").map_or("", |(_, path)| path);
    if let Some((_, query)) = path.split_once("?include=").filter(|(_, query)| query.ends_with("_fields=id"))
    {
        // Everything exists that a change refers to.
        let ids = query.split('&').next().unwrap().split("%2C");
        return reply(200, &ids.map(|id| json!({"id": id.parse::<i64>().unwrap()})).collect());
    }
    let path = path.split('?').next().unwrap();
    reply(
        200,
        &match path.rsplit('/').next().unwrap() {
            "users" | "moderation" if request.method == Verb::Get => json!([{"id": 3}, {"id": 4}]),
            // A list, unless the request is for a single item.
            name if request.method == Verb::Get && is_listing(path) && !is_one(name) => {
                json!([{"id": 9}])
            }
            "upload" | "upload_poster" => json!({"upload_id": 55, "id": 56}),
            _ => json!({"id": 9, "type": "activity_update", "secondary_item_id": 4, "parent": 4}),
        },
    )
}

/// Returns true for the paths of APIs whose lists the tools expect as lists.
fn is_listing(path: &str) -> bool {
    ["/wp/v2", "/wc/v3"].iter().any(|api| path.starts_with(api))
}

/// Returns true if the last part of a path names one item.
fn is_one(name: &str) -> bool {
    name == "me" || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// A parameter that the site supports without listing it, or that a tool accepts for its callers' convenience: tool,
/// parameter, reason.
type Exemption = (&'static str, &'static str, &'static str);

fn check(server: &dyn Fn(Arc<Fake>) -> ToolServer, tables: &[&str], known: &[Exemption]) {
    let table: Vec<Endpoint<'_>> = tables.iter().flat_map(|text| table(text)).collect();
    let mut all = Vec::new();
    // The exemptions that were needed to avoid a fault.
    let used = RefCell::new(HashSet::new());
    let fake = Fake::replying(site);
    let server = server(fake.clone());
    // Content is restored at the URL where an update has replaced it.
    let is_recorded = |tool: &&&ToolRow| !["wp_restore_content", "woo_restore_values"].contains(&tool.name);
    for tool in server.rows().iter().filter(is_recorded) {
        for call in calls(tool) {
            let answer = asked(&server, tool.name, &call);
            if answer["result"]["isError"] != false {
                all.push(format!("{} {call}: {answer}", tool.name));
            }
            let requests = std::mem::take(&mut *fake.asked.lock().unwrap());
            // The data of courses belongs to another plugin, whose routes nobody has recorded.
            let recorded = |url: &str| url.contains("/wp-json") && !url.contains("/ldlms/");
            for request in requests.iter().filter(|request| recorded(&request.url)) {
                let is_known = |name: &str| {
                    let found =
                        known.iter().find(|(which, parameter, _)| *which == tool.name && *parameter == name);
                    used.borrow_mut().extend(found.map(|(which, parameter, _)| (*which, *parameter)));
                    found.is_some()
                };
                let faults = faults(&table, request, &is_known);
                all.extend(faults.into_iter().map(|fault| format!("{}: {fault}", tool.name)));
            }
        }
    }
    all.sort();
    all.dedup();
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
    let used = used.into_inner();
    let idle: Vec<_> = known.iter().filter(|(tool, name, _)| !used.contains(&(*tool, *name))).collect();
    assert!(idle.is_empty(), "exceptions that are none: {idle:?}");
}

#[test]
fn wordpress_tools_ask_what_wordpress_has() {
    for answers in [AnswerStyle::Compact, AnswerStyle::Plain] {
        let server = |fake: Arc<Fake>| {
            let sets = wordpress::Sets { extended: true, discover: false };
            wordpress::server(&SiteSettings { answers, ..settings() }, sets, fake).unwrap()
        };
        check(&server, &[CORE, CORE_MORE], &[]);
    }
}

const BUDDYBOSS: &str = include_str!("routes/buddyboss.txt");
const BUDDYBOSS_MORE: &str = include_str!("routes/buddyboss-more.txt");
const BUDDYPRESS_1: &str = include_str!("routes/buddypress-v1.txt");
const BUDDYPRESS_2: &str = include_str!("routes/buddypress-v2.txt");

const BUDDYBOSS_KNOWN: &[Exemption] = &[
    ("buddyboss_list_activities", "type", "each site has types of its own"),
    ("buddyboss_list_groups", "group_type", "each site has types of its own"),
    ("buddyboss_update_member", "types", "each site has types of its own"),
    ("buddyboss_update_current_member", "types", "each site has types of its own"),
    ("buddyboss_delete_media_upload", "id", "it is read though not announced"),
    ("buddyboss_delete_video_upload", "id", "it is read though not announced"),
    ("buddyboss_delete_document_upload", "id", "it is read though not announced"),
    ("buddyboss_upload_member_avatar", "action", "it is read though not announced"),
    ("buddyboss_upload_member_cover", "action", "it is read though not announced"),
    ("buddyboss_upload_group_avatar", "action", "it is read though not announced"),
    ("buddyboss_upload_group_cover", "action", "it is read though not announced"),
    ("buddyboss_update_media", "content", "it is read though not announced"),
    ("buddyboss_upload_media", "content", "it is read though not announced"),
    ("buddyboss_upload_video", "content", "it is read though not announced"),
    ("buddyboss_update_activity_comment", "content", "it is read though not announced"),
    ("buddyboss_update_activity_comment", "parent_id", "it is read though not announced"),
    ("buddyboss_create_activity_topic", "item_id", "it is read though not announced"),
    ("buddyboss_update_activity_topic", "item_id", "it is read though not announced"),
    ("buddyboss_update_activity_topic", "permission_type", "it is read though not announced"),
    ("buddyboss_delete_activity_topic", "item_id", "it is read though not announced"),
    ("buddyboss_delete_activity_topic", "item_type", "it is read though not announced"),
    ("buddyboss_update_activity_topic_order", "item_id", "it is read though not announced"),
    ("buddyboss_create_signup", "author", "the form's fields stand for themselves"),
    ("buddyboss_update_platform_settings", "a", "the platform's settings stand for themselves"),
    ("buddyboss_create_topic", "author_id", "clients send it; the platform takes the caller"),
    ("buddyboss_create_reply", "author_id", "clients send it; the platform takes the caller"),
    (
        "buddyboss_report_content",
        "item_type",
        "clients may name members; the platform says that it takes none",
    ),
];

const BUDDYPRESS_KNOWN: &[Exemption] = &[
    ("buddypress_create_activity", "type", "each site has types of its own"),
    ("buddypress_list_groups", "group_type", "each site has types of its own"),
    ("buddypress_update_member", "member_type", "each site has types of its own"),
    ("buddypress_create_activity", "user_id", "clients send it; the site takes the caller"),
    ("buddypress_get_xprofile_group", "fetch_fields", "it is read though not announced"),
    ("buddypress_delete_member", "reassign", "false is how WordPress is told that nobody gets it"),
];

#[test]
fn buddyboss_tools_ask_what_buddyboss_has() {
    let phases = buddyboss::Phases { buddyboss: true, advanced: true, extended: true, discover: false };
    let server = |fake: Arc<Fake>| buddyboss::server(&settings(), phases, fake).unwrap();
    check(&server, &[CORE, BUDDYBOSS, BUDDYBOSS_MORE], BUDDYBOSS_KNOWN);
}

#[test]
fn buddypress_tools_ask_what_buddypress_has() {
    for (version, table) in
        [(buddypress::Version::First, BUDDYPRESS_1), (buddypress::Version::Second, BUDDYPRESS_2)]
    {
        let server = |fake: Arc<Fake>| buddypress::server(&settings(), version, false, fake).unwrap();
        check(&server, &[CORE, table], BUDDYPRESS_KNOWN);
    }
}

const WOOCOMMERCE: &str = include_str!("routes/woocommerce.txt");

const WOOCOMMERCE_KNOWN: &[Exemption] = &[
    ("woo_refund_order", "line_items", "it is read though not announced"),
    ("woo_list_tax_rates", "class", "each shop has classes of its own"),
];

#[test]
fn woocommerce_tools_ask_what_woocommerce_has() {
    let open = ShopSettings { write: true, personal_data: true };
    let server = |fake: Arc<Fake>| woocommerce::server(&settings(), open, fake).unwrap();
    check(&server, &[CORE, WOOCOMMERCE], WOOCOMMERCE_KNOWN);
}

#[test]
fn a_row_that_is_wrong_is_found() {
    let table = table(CORE);
    let of = |method, url: &str, body: &str| {
        let request = HttpRequest {
            method,
            url: format!("https://x/wp-json{url}"),
            headers: vec![("content-type", "application/json".into())],
            authorization: None,
            body: Bytes::from(body.to_owned()).into(),
            public_only: false,
            is_fixed_host: true,
            patience: Duration::ZERO,
            most: 0,
        };
        faults(&table, &request, &|_| false)
    };
    for (verb, url, body, says) in [
        (Verb::Get, "/wp/v2/nothing", "", "no such route"),
        (Verb::Get, "/wp/v2/posts/7/8", "", "no such route"),
        (Verb::Put, "/wp/v2/posts", "", "no such method"),
        (Verb::Get, "/wp/v2/posts?colour=red", "", "unknown \"colour\""),
        (Verb::Get, "/wp/v2/posts?per_page=many", "", "per_page"),
        (Verb::Get, "/wp/v2/posts?order=sideways", "", "order"),
        (Verb::Get, "/wp/v2/posts?author=me", "", "author"),
        (Verb::Post, "/wp/v2/posts", r#"{"author":"me"}"#, "author"),
        (Verb::Post, "/wp/v2/posts", r#"{"categories":["a"]}"#, "categories"),
        (Verb::Post, "/wp/v2/posts", r#"{"status":"wild"}"#, "status"),
        (Verb::Post, "/wp/v2/users", r#"{"username":"a","email":"b"}"#, "\"password\" is missing"),
        (Verb::Delete, "/wp/v2/users/7?force=true", "", "\"reassign\" is missing"),
    ] {
        let faults = of(verb, url, body);
        assert!(faults.iter().any(|fault| fault.contains(says)), "{url} {body}: {faults:?}");
    }
    for (verb, url, body) in [
        (Verb::Get, "/wp/v2/posts?per_page=5&author=3,4&sticky=true&_fields=id", ""),
        (Verb::Get, "/wp/v2/templates/theme/single/revisions/7", ""),
        (Verb::Get, "/wp/v2/users/me", ""),
        (Verb::Post, "/wp/v2/posts/7", r#"{"title":"T","categories":[1],"meta":{},"date":null}"#),
    ] {
        assert_eq!(of(verb, url, body), Vec::<String>::new(), "{url} {body}");
    }
}
