//! Rules that every row of every server must satisfy.

use std::collections::HashSet;

use proto::era::{ERAS, InvalidArguments};
use serde_json::json;

use super::*;
use crate::community::{buddyboss, buddypress};
use crate::rest::paged::ARGUMENTS;
use crate::rest::step::Paging;
use crate::rest::{Bind, Encoding, FieldSource, FileFrom, Restoring, Shape, Step, StepCondition};
use crate::site::{Requests, SiteSettings};
use crate::tools::{ToolAction, ToolRow};
use crate::woocommerce::{self, ShopSettings};
use crate::{ToolServer, heritage, plain, wordpress};

pub(super) fn servers() -> Vec<ToolServer> {
    let (fake, site) = (Fake::json(json!({})), SiteSettings::default());
    let found = SiteSettings { requests: Requests { write: true, ..Requests::default() }, ..site.clone() };
    let phases = buddyboss::Phases { buddyboss: true, advanced: true, extended: true, discover: false };
    vec![
        plain::server(None, crate::UnknownArguments::Reject),
        heritage::server(&heritage::Settings::default(), fake.clone()).unwrap(),
        wordpress::server(&site, wordpress::Sets { extended: true, discover: false }, fake.clone()).unwrap(),
        buddyboss::server(&site, phases, fake.clone()).unwrap(),
        woocommerce::server(&site, ShopSettings { write: true, personal_data: false }, fake.clone()).unwrap(),
        buddypress::server(&found, buddypress::Version::First, true, fake).unwrap(),
    ]
}

fn tools() -> Vec<&'static ToolRow> {
    servers().iter().flat_map(|server| server.rows().to_vec()).collect()
}

/// The names in a route's braces.
fn places(route: &str) -> Vec<&str> {
    let names = route.split('{').skip(1).filter_map(|part| part.split('}').next());
    names.map(|name| name.strip_prefix('*').unwrap_or(name)).collect()
}

fn of_file(from: &FileFrom) -> Vec<&'static str> {
    match from {
        FileFrom::Url(name) | FileFrom::Either(name) => vec![name],
        FileFrom::Base64 { data, name, mime } => vec![data, name, mime],
    }
}

#[test]
fn there_are_all_of_them_under_names_of_their_own() {
    let counts: Vec<usize> = servers().iter().map(|server| server.rows().len()).collect();
    assert_eq!(counts, [5, 16, 25 + 180, 65 + 151, 63, 36 + 7]);
    let names: HashSet<&str> = tools().iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), tools().len());
}

/// Returns true for a tool that no preset serves. The texts of such a tool are not fixed.
fn is_outside_presets(tool: &ToolRow) -> bool {
    ["extended", "discover"].contains(&tool.phase)
        || ["buddypress_", "woo_"].iter().any(|start| tool.name.starts_with(start))
}

#[test]
fn tools_outside_presets_have_titles_and_descriptions_that_are_sentences() {
    for server in servers() {
        let mut titles = HashSet::new();
        for tool in server.rows().iter().filter(|tool| is_outside_presets(tool)) {
            assert!((1..=60).contains(&tool.title.chars().count()), "{}: {:?}", tool.name, tool.title);
            assert!(
                titles.insert(tool.title),
                "{}: {:?} is another tool's title, too",
                tool.name,
                tool.title
            );
            let texts = [tool.about].into_iter().chain(tool.arguments.iter().map(|argument| argument.about));
            for text in texts {
                assert!(text.ends_with('.'), "{}: {text}", tool.name);
                let asks = ["Whether", "What", "Who", "How"].iter().any(|word| text.starts_with(word));
                assert!(!asks, "{}: {text}", tool.name);
            }
            assert!(
                tool.about.starts_with(|letter: char| letter.is_uppercase()),
                "{}: {}",
                tool.name,
                tool.about
            );
        }
    }
}

#[test]
fn with_compact_answers_every_tool_of_a_site_has_a_title_and_says_what_it_does() {
    for server in &servers()[2..] {
        let list = request(server, "tools/list", &json!({}), None);
        let mut titles = HashSet::new();
        for tool in list["result"]["tools"].as_array().unwrap() {
            let (name, title) = (&tool["name"], tool["title"].as_str().unwrap_or_default());
            assert!((4..=60).contains(&title.len()) && titles.insert(title), "{name}: {title:?}");
            let about = tool["description"].as_str().unwrap();
            let verb = about.split([' ', ',']).next().unwrap();
            assert!(
                about.ends_with(['.', ')']) && (verb.ends_with('s') || verb == "Permanently"),
                "{name}: {about}"
            );
        }
    }
}

#[test]
fn steps_use_values_that_are_there() {
    for tool in tools() {
        let ToolAction::Rest(steps, _) = tool.action else { continue };
        let sure = |name: &str| {
            tool.arguments.iter().any(|row| row.name == name && (row.required || row.default.is_some()))
        };
        let may = |name: &str| tool.arguments.iter().any(|row| row.name == name);
        let is_given = |when, name: &str| matches!(when, StepCondition::Given(given) if given == name);
        let mut found: Vec<&str> = Vec::new();
        for step in steps {
            match step {
                Step::Make(name, _) => found.push(name),
                Step::Check(check) => {
                    assert!(
                        check.judged.iter().all(|name| may(name))
                            && places(check.ask.route)
                                .iter()
                                .all(|name| sure(name) || is_given(check.ask.when, name)),
                        "{}",
                        tool.name
                    );
                }
                Step::Previous(name) | Step::Restore(Restoring { argument: name, .. }) => {
                    assert!(sure(name), "{}", tool.name);
                }
                Step::Open(open) => assert!(sure(open.route) && may(open.query), "{}", tool.name),
                Step::File(from) => assert!(of_file(from).iter().all(|name| sure(name)), "{}", tool.name),
                Step::Ask(ask) => {
                    for name in places(ask.route) {
                        let is_condition =
                            matches!(ask.when, StepCondition::Given(given) if given == name && may(name));
                        assert!(sure(name) || is_condition || found.contains(&name), "{}: {name}", tool.name);
                    }
                    for field in ask.fields {
                        if let FieldSource::Value(name) = field.source {
                            assert!(may(name) || found.contains(&name), "{}: {name}", tool.name);
                        }
                    }
                    found.extend(ask.binds.iter().map(|Bind { name, .. }| *name));
                }
            }
        }
    }
}

#[test]
fn a_file_is_sent_once() {
    let sends = |step: &&Step| matches!(step, Step::Ask(ask) if matches!(ask.encoding, Encoding::File(_)));
    for tool in tools() {
        let ToolAction::Rest(steps, _) = tool.action else { continue };
        assert!(steps.iter().filter(sends).count() <= 1, "{}: it may be read while it is sent", tool.name);
    }
}

#[test]
fn every_argument_is_used() {
    for tool in tools() {
        let ToolAction::Rest(steps, shape) = tool.action else { continue };
        let makes = matches!(shape, Shape::Made(_))
            || steps.iter().any(|step| matches!(step, Step::Make(..) | Step::Open(_)));
        let names: HashSet<&str> = tool.arguments.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), tool.arguments.len(), "{}", tool.name);
        for row in tool.arguments.iter().filter(|row| !row.sent && !makes) {
            let used = steps.iter().any(|step| match step {
                Step::File(from) => of_file(from).contains(&row.name),
                Step::Ask(ask) => {
                    let is_it = |source: &FieldSource| matches!(source, FieldSource::Value(name) if *name == row.name);
                    let divides = ask.paging != Paging::ByService;
                    places(ask.route).contains(&row.name)
                        || (divides && ARGUMENTS.contains(&row.name))
                        || ask.fields.iter().any(|field| is_it(&field.source))
                }
                Step::Previous(name) | Step::Restore(Restoring { argument: name, .. }) => *name == row.name,
                Step::Make(..) | Step::Open(_) | Step::Check(_) => false,
            });
            // The place that receives the request reads the key and the language.
            assert!(used || ["apiKey", "language"].contains(&row.name), "{}: {}", tool.name, row.name);
        }
        assert!(
            !tool.about.is_empty() && tool.arguments.iter().all(|row| !row.about.is_empty()),
            "{}",
            tool.name
        );
    }
}

#[test]
fn annotations_follow_from_the_requests() {
    for server in servers() {
        let list = request(&server, "tools/list", &json!({}), None);
        for tool in list["result"]["tools"].as_array().unwrap() {
            let (name, hints) = (tool["name"].as_str().unwrap(), &tool["annotations"]);
            if ["site_routes", "site_request", "site_abilities", "site_ability", "site_run_ability"]
                .contains(&name)
                || name.starts_with("site_ability_")
            {
                continue;
            }
            let reads = ["_get_", "_list_", "_find_", "_search"].iter().any(|part| name.contains(part))
                || !name.contains('_');
            assert_eq!(hints["readOnlyHint"], reads, "{name}");
            let destroys = ["_delete_", "_remove_", "_update_"].iter().any(|part| name.contains(part));
            assert!(
                !destroys || (hints["destructiveHint"] == true && hints["idempotentHint"] == true),
                "{name}"
            );
            let adds = ["_create_", "_upload_", "_send_"].iter().any(|part| name.contains(part));
            assert!(
                !adds || (hints["destructiveHint"] == false && hints["idempotentHint"] == false),
                "{name}"
            );
        }
    }
}

#[test]
fn answers_are_dressed_for_every_era() {
    let server = plain::server(None, crate::UnknownArguments::Reject);
    for era in ERAS {
        let asked = |params: Value, method: &str| {
            let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
            let answer = ready(server.answer(NativeCall::new(&frame, era)).bytes());
            serde_json::from_slice::<Value>(&answer).unwrap()
        };
        let list = asked(json!({}), "tools/list");
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 5, "{era}");
        assert_eq!(list["result"].get("ttlMs").is_some(), era.typed_results, "{era}");
        let hello = asked(json!({"name": "hello", "arguments": {"name": "World"}}), "tools/call");
        assert_eq!(hello["result"]["content"][0]["text"], "Hello, World!", "{era}");
        assert_eq!(hello["result"].get("resultType").is_some(), era.typed_results, "{era}");
        let unfit = asked(json!({"name": "hello"}), "tools/call");
        match era.invalid_arguments {
            InvalidArguments::Error => assert_eq!(unfit["error"]["code"], -32602, "{era}"),
            InvalidArguments::ToolResult => assert_eq!(unfit["result"]["isError"], true, "{era}"),
        }
        let unknown = asked(json!({"name": "none"}), "tools/call");
        assert_eq!(unknown["error"]["data"]["condition"], "unknownTool", "{era}");
        assert_eq!(asked(json!({"cursor": "x"}), "tools/list")["error"]["code"], -32602, "{era}");
        assert_eq!(asked(json!({}), "resources/list")["error"]["code"], -32601, "{era}");
    }
}

/// A text of characters that have a special meaning somewhere.
fn odd_text(state: &mut u64) -> String {
    let signs = [
        "/",
        "..",
        "?",
        "&",
        "=",
        "#",
        "%",
        "%2F",
        "\\",
        "'",
        "\"",
        "\r\n",
        " ",
        "\0",
        "\u{e4}",
        "\u{1F600}",
        "a",
        ";",
        "{id}",
    ];
    let mut text = String::new();
    for _ in 0..6 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(signs[usize::try_from(*state >> 33).unwrap() % signs.len()]);
    }
    text
}

#[test]
fn a_value_stays_in_its_place_whatever_it_is() {
    let site = SiteSettings { login: Some(login("https://x.example", "a", "b")), ..SiteSettings::default() };
    let bare = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte));
    let mut state = 3;
    let fake = Fake::json(json!({}));
    let server = buddypress::server(&site, buddypress::Version::First, false, fake.clone()).unwrap();
    for _ in 0..500 {
        let text = odd_text(&mut state);
        asked(&server, "buddypress_get_member", &json!({"id": text}));
        asked(&server, "buddypress_list_groups", &json!({"search": text}));
        asked(&server, "buddypress_update_member", &json!({"id": 1, "name": text}));
        let lines = std::mem::take(&mut *fake.asked.lock().unwrap());
        let urls: Vec<&str> = lines.iter().map(|request| request.url.as_str()).collect();
        let (list, update) = (urls[urls.len() - 2], &lines[lines.len() - 1]);
        if let [member, _, _] = urls[..] {
            let part = member.strip_prefix("https://x.example/wp-json/buddypress/v1/members/").unwrap();
            assert!(bare(part) && !part.bytes().all(|byte| byte == b'.'), "{text:?}: {member}");
            assert_eq!(crate::rest::encode::decoded(part), text);
        }
        let query =
            list.strip_prefix("https://x.example/wp-json/buddypress/v1/groups?page=1&per_page=20&search=");
        assert!(bare(query.unwrap()), "{text:?}: {list}");
        assert_eq!(crate::rest::encode::decoded(query.unwrap()), text);
        assert_eq!(
            serde_json::from_slice::<Value>(update.body.whole().unwrap()).unwrap(),
            json!({"name": text})
        );
    }
}
