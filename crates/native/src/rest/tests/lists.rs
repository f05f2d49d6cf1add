//! Lists with short entries, and calls that ask for other members; and the fields of plugins.

use serde_json::json;

use super::*;
use crate::AnswerStyle::{self, Compact, Plain};
use crate::community::buddyboss;
use crate::site::SiteSettings;
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
