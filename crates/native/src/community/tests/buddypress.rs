//! Tests of the BuddyPress tools.

use std::sync::Arc;

use serde_json::json;

use super::{line, settings, site};
use crate::ToolServer;
use crate::community::buddypress::{Version, server};
use crate::rest::tests::{Fake, asked, check_lines, content, refused, reply};

fn over(fake: Arc<Fake>) -> ToolServer {
    server(&settings(), Version::First, false, fake).unwrap()
}

#[test]
fn each_tool_asks_exactly_this() {
    check_lines(&over, site, include_str!("buddypress.txt"));
}

#[test]
fn failures_are_results() {
    let missing = asked(&over(Fake::replying(site)), "buddypress_get_member", &json!({}));
    assert_eq!(content(&missing), ("Error: Missing required parameter: id".to_owned(), true));
    for hostile in [json!(".."), json!("a\nb"), json!([])] {
        let fake = Fake::replying(site);
        let answer = asked(&over(fake.clone()), "buddypress_get_member", &json!({"id": hostile}));
        let (text, is_error) = content(&answer);
        assert!(is_error && text.contains("is not allowed in a path") && fake.lines().is_empty(), "{text}");
    }
    let no_route = json!({"code": "rest_no_route", "message": "No route.", "data": {"status": 404}});
    let bare = Fake::new(move |request| {
        let index = request.url.contains("namespaces");
        Ok(if index { reply(200, &json!({"namespaces": ["wp/v2"]})) } else { reply(404, &no_route) })
    });
    let (_, words, condition) = refused(&asked(&over(bare), "buddypress_list_groups", &json!({})));
    assert_eq!((words.as_str(), condition.as_str()), ("BuddyPress not available", "platformMissing"));
}

/// Assigning a role that the member already has fails on the site.
#[test]
fn a_role_that_the_member_has_is_not_asked_for() {
    let member = json!({"id": 2, "is_mod": false, "is_admin": true});
    for answer in [json!([member]), member] {
        let fake = Fake::json(answer);
        let call = json!({"group_id": 1, "user_id": 2, "role": "admin"});
        let (_, is_error) = content(&asked(&over(fake.clone()), "buddypress_add_group_member", &call));
        assert_eq!((is_error, fake.lines().len()), (false, 1));
        let call = json!({"group_id": 1, "user_id": 2, "role": "mod"});
        asked(&over(fake.clone()), "buddypress_add_group_member", &call);
        assert_eq!(fake.lines().len(), 3, "another role");
    }
}

#[test]
fn the_second_version_has_its_own_address() {
    let fake = Fake::replying(site);
    asked(
        &server(&settings(), Version::Second, false, fake.clone()).unwrap(),
        "buddypress_get_group",
        &json!({"id": 1}),
    );
    assert_eq!(fake.lines(), [line("GET /buddypress/v2/groups/1")]);
}

#[test]
fn a_site_with_the_second_version_is_asked_in_that() {
    let no_route =
        json!({"code": "rest_no_route", "message": "V1 is no longer supported.", "data": {"status": 404}});
    let fake = Fake::new(move |request| {
        let url = &request.url;
        Ok(match () {
            () if url.contains("namespaces") => {
                reply(200, &json!({"namespaces": ["buddypress/v1", "buddypress/v2"]}))
            }
            () if url.contains("/v1/") || url.ends_with("/9") => reply(404, &no_route),
            () => reply(200, &json!({"id": 7})),
        })
    });
    let server = server(&settings(), Version::First, false, fake.clone()).unwrap();
    for _ in 0..2 {
        let answer = asked(&server, "buddypress_update_group", &json!({"id": 1, "name": "G"}));
        assert!(!content(&answer).1, "{answer}");
    }
    let put = |version: &str| line(&format!("PUT /buddypress/{version}/groups/1 {{\"name\":\"G\"}}"));
    let asks = line("GET /?_fields=namespaces");
    assert_eq!(fake.lines(), [put("v1"), asks, put("v2"), put("v2")]);
    let (text, is_error) = content(&asked(&server, "buddypress_get_group", &json!({"id": 9})));
    assert!(is_error && text.contains("another version"), "{text}");
}
