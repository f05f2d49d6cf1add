//! Lists with short entries, and calls that ask for other members; and the fields of plugins.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::AnswerStyle::{self, Compact, Plain};
use crate::community::buddyboss;
use crate::rest::encode;
use crate::site::SiteSettings;
use crate::tools::ToolAction;
use crate::wordpress;

fn settings(answers: AnswerStyle) -> SiteSettings {
    SiteSettings { login: Some(login("https://x.example", "a", "b")), answers, ..SiteSettings::default() }
}

#[test]
fn communities_answer_in_the_same_manners() {
    let server =
        |answers, fake| buddyboss::server(&settings(answers), buddyboss::Phases::default(), fake).unwrap();
    let group = json!({"id": 3, "name": "G", "_links": {}, "user_permissions": []});
    let answer = asked(&server(Compact, listing(json!([group]))), "buddyboss_list_groups", &json!({}));
    let lean = json!({"id": 3, "name": "G"});
    assert_eq!(shown(&answer), json!({"count": 1, "total": 31, "total_pages": 4, "groups": [lean]}));
    let full =
        asked(&server(Compact, listing(json!([group]))), "buddyboss_list_groups", &json!({"full": true}));
    let all = json!({"id": 3, "name": "G", "_links": {}, "user_permissions": {}});
    assert_eq!(shown(&full)["groups"], json!([all]));
    let wanted = json!({"fields": ["user_permissions", "description.raw"]});
    let some = asked(&server(Compact, listing(json!([group]))), "buddyboss_list_groups", &wanted);
    assert_eq!(shown(&some)["groups"], json!([{"id": 3, "user_permissions": {}}]));
    let one = asked(&server(Compact, listing(group.clone())), "buddyboss_list_groups", &json!({}));
    assert_eq!(shown(&one)["name"], "G", "a single thing instead of a list is shown whole");
    let inside = json!({"groups": [group], "more": false});
    let inside = asked(&server(Compact, listing(inside)), "buddyboss_list_groups", &json!({}));
    assert_eq!(shown(&inside)["groups"], json!([lean]));
    let answer = asked(&server(Plain, listing(json!([group]))), "buddyboss_list_groups", &json!({}));
    assert_eq!(shown(&answer), json!([group]));
    let all = buddyboss::Phases { extended: true, ..buddyboss::Phases::default() };
    let fake = Fake::json(json!([{"value": "teacher", "label": "Teacher", "x": 1}]));
    let server = buddyboss::server(&settings(Compact), all, fake).unwrap();
    let types = shown(&asked(&server, "buddyboss_list_invite_profile_types", &json!({})));
    assert_eq!(types, json!({"count": 1, "types": [{"value": "teacher", "label": "Teacher"}]}));
    let types = asked(&server, "buddyboss_list_invite_profile_types", &json!({"fields": ["x"]}));
    assert_eq!(shown(&types)["types"], json!([{"x": 1}]));
}

#[test]
fn a_call_names_the_fields_that_it_wants() {
    let post =
        json!({"id": 7, "author": 3, "title": {"rendered": "T", "raw": "t"}, "excerpt": {"rendered": "E"}});
    let fake = listing(json!([post]));
    let server = wordpress::server(&settings(Compact), wordpress::Sets::default(), fake.clone()).unwrap();
    // Models also write a list as one text.
    for fields in [json!(["author", "title.raw"]), json!(["author, title.raw"])] {
        let answer = asked(&server, "wp_get_posts", &json!({"fields": fields}));
        assert_eq!(shown(&answer)["posts"], json!([{"id": 7, "author": 3, "title": {"raw": "t"}}]));
        let line = fake.lines().pop().unwrap();
        assert!(line.ends_with("&_fields=id%2Cauthor%2Ctitle"), "{line}");
    }
    let text = asked(&server, "wp_get_posts", &json!({}))["result"]["content"][0]["text"].to_string();
    assert!(!text.contains("\\n"), "text for models has no line breaks: {text}");
}

/// The tools of WordPress, all of them.
fn whole(answers: AnswerStyle, fake: Arc<Fake>) -> crate::ToolServer {
    let sets = wordpress::Sets { extended: true, discover: false };
    wordpress::server(&settings(answers), sets, fake).unwrap()
}

#[test]
fn a_list_that_the_site_returns_whole_is_divided() {
    let icon = |at: usize| json!({"name": format!("core/{at}"), "label": "L", "content": "<svg/>", "collection": "core"});
    let icons = || Fake::json((0..25).map(icon).collect());
    let fake = icons();
    let page = shown(&asked(&whole(Compact, fake.clone()), "wp_get_icons", &json!({"page": 3})));
    assert_eq!((&page["count"], &page["total"], &page["total_pages"]), (&json!(5), &json!(25), &json!(3)));
    assert_eq!(page["icons"][0], json!({"name": "core/20", "label": "L", "collection": "core"}));
    let line = fake.lines().pop().unwrap();
    assert!(line.ends_with("/icons?per_page=10&page=3&_fields=name%2Clabel%2Ccollection"), "{line}");
    for more in [json!({"full": true}), json!({"fields": ["content"]})] {
        let page = shown(&asked(&whole(Compact, icons()), "wp_get_icons", &more));
        assert_eq!((&page["count"], &page["icons"][9]["content"]), (&json!(10), &json!("<svg/>")));
    }
    let page = shown(&asked(&whole(Plain, icons()), "wp_get_icons", &json!({"per_page": 2})));
    assert_eq!(page["count"], 2);
    let types = Fake::json((0..25).map(|at| json!({"name": at})).collect());
    let page = shown(&asked(&whole(Compact, types.clone()), "wp_get_block_types", &json!({"per_page": 20})));
    assert_eq!((&page["count"], &page["total"]), (&json!(20), &json!(25)));
    let line = types.lines().pop().unwrap();
    assert!(!line.contains("page="), "the site has no such parameter: {line}");
}

#[test]
fn entries_of_lists_have_short_texts() {
    let long = format!("<p>{}</p>", "word ".repeat(200));
    let entry = json!({
        "id": 1, "name": "N", "content": {"rendered": long}, "excerpt": {"rendered": long}, "description": long,
        "settings": {"a": long}, "styles": {"b": long},
    });
    for (tool, call, list) in [
        ("wp_get_comments", json!({}), "comments"),
        ("wp_find_comments", json!({}), "comments"),
        ("wp_get_posts", json!({}), "posts"),
        ("wp_get_categories", json!({}), "categories"),
        ("wp_get_tags", json!({}), "tags"),
        ("wp_get_terms", json!({"taxonomy": "tags"}), "terms"),
        ("wp_get_users", json!({}), "users"),
        ("wp_get_global_styles_revisions", json!({"id": 1}), "versions"),
    ] {
        let mut call = call;
        let server = |answers| whole(answers, listing(json!([entry])));
        let short = shown(&asked(&server(Compact), tool, &call)).to_string();
        assert!(short.len() < 400 && !short.contains("<p>"), "{tool}: {short}");
        call["fields"] = json!(["content.rendered", "description", "excerpt.rendered", "settings", "styles"]);
        let wanted = shown(&asked(&server(Compact), tool, &call));
        assert_eq!(wanted[list][0]["content"]["rendered"], json!(long), "{tool}");
        assert_eq!(wanted[list][0]["settings"]["a"], json!(long), "{tool}");
    }
    let plain = asked(&whole(Plain, listing(json!([entry]))), "wp_get_comments", &json!({}));
    assert_eq!(shown(&plain)["comments"][0]["content"], json!(long), "presets are as before");
}

/// Sites write the words of an address percent-encoded, and cut them at 200 bytes.
#[test]
fn ten_entries_in_any_script_have_at_most_6000_bytes() {
    let languages = [
        ("озеро-зимой-", "Вечер на озере, когда гаснут огни"),
        ("湖の朝は冷たい", "湖の朝は冷たく静かで、人影もない"),
        ("झील-पर-", "झील पर एक शाम जब बत्तियाँ बुझ जाती हैं"),
        ("evening-at-the-lake-", "An evening at the lake, when the lights go out"),
    ];
    for (word, title) in languages {
        let mut slug = String::new();
        for character in word.chars().cycle() {
            let mut one = String::new();
            encode::encode_into(&mut one, character.encode_utf8(&mut [0; 4]));
            let most = if word.is_ascii() { 80 } else { 200 };
            if slug.len() + one.len() > most {
                break;
            }
            slug += &one.to_lowercase();
        }
        let link = format!("https://www.example.com/2026/11/29/{slug}/");
        let long = format!("<p>{}</p>", format!("{title} ").repeat(30));
        let text = json!({"raw": long, "rendered": long});
        let entry = json!({
            "id": 123_456, "title": {"raw": title, "rendered": title}, "name": title, "slug": slug, "link": link,
            "status": "publish", "date": "2026-11-29T10:00:00", "modified": "2026-11-29T10:00:00", "type": "post",
            "author": 12, "author_name": title, "parent": 0, "post": 123_456, "content": text, "excerpt": text,
            "description": long, "count": 12, "taxonomy": "category",
        });
        let rows = json!(vec![entry; 10]);
        for (tool, call) in [
            ("wp_get_posts", json!({})),
            ("wp_get_pages", json!({})),
            ("wp_get_items", json!({"type": "posts"})),
            ("wp_get_categories", json!({})),
            ("wp_get_tags", json!({})),
            ("wp_get_terms", json!({"taxonomy": "tags"})),
            ("wp_get_comments", json!({})),
            ("wp_find_comments", json!({})),
            ("wp_get_media", json!({})),
            ("wp_get_users", json!({})),
        ] {
            let answer = shown(&asked(&whole(Compact, listing(rows.clone())), tool, &call)).to_string();
            assert!(answer.len() <= 6000, "{tool}: {} bytes: {answer}", answer.len());
        }
    }
}

/// The sizes of lists are measured on real sites. A list without a figure needs a reason.
#[test]
fn every_list_has_a_size_or_a_reason() {
    let sizes: Value = serde_json::from_str(include_str!("../../../../../tests/list-sizes.json")).unwrap();
    let reasons: Value =
        serde_json::from_str(include_str!("../../../../../tests/lists-without-sizes.json")).unwrap();
    let mut lists = BTreeSet::new();
    for tool in super::rows::servers().iter().flat_map(|server| server.rows().to_vec()) {
        if matches!(tool.action, ToolAction::Rest(_, shape) if shape.is_list()) {
            lists.insert(tool.name);
        }
    }
    let one = |name: &&&str| sizes.get(**name).is_some() == reasons.get(**name).is_some();
    assert_eq!(lists.iter().filter(one).collect::<Vec<_>>(), Vec::<&&str>::new(), "neither or both");
    let known = sizes.as_object().unwrap().keys().chain(reasons.as_object().unwrap().keys());
    let gone: Vec<&String> = known.filter(|name| !lists.contains(name.as_str())).collect();
    assert_eq!(gone, Vec::<&String>::new(), "no lists");
}

#[test]
fn a_post_shows_the_fields_of_plugins() {
    let post = json!({
        "id": 7, "title": {"raw": "T"}, "content": {"raw": "C"}, "meta": {"subtitle": "S", "footnotes": ""},
        "acf": {"price": 5}, "yoast_head_json": {"title": "For engines", "og_type": "article"},
    });
    let fake = Fake::json(post);
    let server = wordpress::server(&settings(Compact), wordpress::Sets::default(), fake.clone()).unwrap();
    let post = shown(&asked(&server, "wp_get_post", &json!({"id": 7})));
    assert_eq!((&post["meta"], &post["acf"]), (&json!({"subtitle": "S"}), &json!({"price": 5})));
    assert_eq!(post["seo"], json!({"title": "For engines"}));
    let line = fake.lines().pop().unwrap();
    assert!(line.contains("%2Cmeta%2Cacf%2Cyoast_head_json"), "{line}");
    let plain = wordpress::server(&settings(Plain), wordpress::Sets::default(), fake.clone()).unwrap();
    assert!(
        shown(&asked(&plain, "wp_get_post", &json!({"id": 7}))).get("meta").is_none(),
        "presets are as before"
    );
}
