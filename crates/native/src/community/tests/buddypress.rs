//! The tools for BuddyPress.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{line, settings, site};
use crate::ToolServer;
use crate::community::buddypress::{Version, server};
use crate::rest::tests::{Fake, asked, check_lines, content, refused, reply};

fn over(fake: Arc<Fake>) -> ToolServer {
    server(&settings(), Version::First, fake).unwrap()
}

#[test]
fn each_tool_asks_exactly_this() {
    let rows: Vec<(&str, Value, &str)> = vec![
        (
            "list_activities",
            json!({"scope": "mentions", "display_comments": true, "per_page": 500}),
            "GET /activity?page=1&per_page=500&scope=mentions&display_comments=true",
        ),
        ("get_activity", json!({"id": 1}), "GET /activity/1"),
        (
            "create_activity",
            json!({"content": "<p onclick=x>", "secondary_item_id": "4"}),
            r#"POST /activity {"content":"<p onclick=x>","secondary_item_id":"4"}"#,
        ),
        ("update_activity", json!({"id": 1, "content": "x"}), r#"PUT /activity/1 {"content":"x"}"#),
        ("delete_activity", json!({"id": 1}), "DELETE /activity/1"),
        ("favorite_activity", json!({"id": 1}), "PUT /activity/1/favorite"),
        (
            "list_members",
            json!({"user_ids": "1,2", "exclude": "3"}),
            "GET /members?page=1&per_page=20&include=1%2C2&exclude=3",
        ),
        ("get_member", json!({"id": "me"}), "GET /members/me"),
        ("update_member", json!({"id": 1, "description": "D"}), r#"PUT /members/1 {"description":"D"}"#),
        ("delete_member", json!({"id": 1, "reassign": 2}), "DELETE /members/1?force=true&reassign=2"),
        ("list_groups", json!({"status": "public"}), "GET /groups?page=1&per_page=20&status=public"),
        ("get_group", json!({"id": 1}), "GET /groups/1"),
        (
            "create_group",
            json!({"name": "G", "description": "D"}),
            r#"POST /groups {"name":"G","description":"D","status":"public"}"#,
        ),
        ("update_group", json!({"id": 1, "name": "G"}), r#"PUT /groups/1 {"name":"G"}"#),
        ("delete_group", json!({"id": 1}), "DELETE /groups/1"),
        (
            "list_group_members",
            json!({"group_id": 1, "roles": "mod"}),
            "GET /groups/1/members?exclude_admins=false&page=1&per_page=20&roles=mod",
        ),
        ("add_group_member", json!({"group_id": 1, "user_id": 2}), r#"POST /groups/1/members {"user_id":2}"#),
        ("remove_group_member", json!({"group_id": 1, "user_id": 2}), "DELETE /groups/1/members/2"),
        ("list_xprofile_groups", json!({}), "GET /xprofile/groups"),
        (
            "get_xprofile_group",
            json!({"id": 1, "fetch_fields": true}),
            "GET /xprofile/groups/1?fetch_fields=true",
        ),
        ("list_xprofile_fields", json!({"profile_group_id": 1}), "GET /xprofile/fields?profile_group_id=1"),
        ("get_xprofile_field", json!({"id": 1}), "GET /xprofile/fields/1"),
        ("get_xprofile_data", json!({"field_id": 1, "user_id": 2}), "GET /xprofile/1/data/2"),
        (
            "update_xprofile_data",
            json!({"field_id": 1, "user_id": 2, "value": "v"}),
            r#"PUT /xprofile/1/data/2 {"value":"v"}"#,
        ),
        (
            "list_friends",
            json!({"user_id": 1, "is_confirmed": true}),
            "GET /friends?user_id=1&is_confirmed=1&page=1&per_page=20",
        ),
        (
            "create_friendship",
            json!({"initiator_id": 1, "friend_id": 2}),
            r#"POST /friends {"initiator_id":1,"friend_id":2}"#,
        ),
        ("delete_friendship", json!({"id": 2}), "DELETE /friends/2"),
        ("list_messages", json!({"box": "notices"}), "GET /messages?box=notices&page=1&per_page=20"),
        ("get_message", json!({"id": 1}), "GET /messages/1"),
        (
            "create_message",
            json!({"recipients": [1, 2], "subject": "S", "message": "M"}),
            r#"POST /messages {"recipients":[1,2],"subject":"S","message":"M"}"#,
        ),
        ("delete_message", json!({"id": 1}), "DELETE /messages/1"),
        (
            "list_notifications",
            json!({"is_new": false}),
            "GET /notifications?is_new=false&page=1&per_page=20",
        ),
        ("get_notification", json!({"id": 1}), "GET /notifications/1"),
        ("update_notification", json!({"id": 1, "is_new": false}), r#"PUT /notifications/1 {"is_new":0}"#),
        ("delete_notification", json!({"id": 1}), "DELETE /notifications/1"),
        ("list_components", json!({"status": "active"}), "GET /components?status=active&page=1&per_page=20"),
    ];
    assert_eq!(rows.len(), 36);
    let names: Vec<String> = rows.iter().map(|(name, ..)| format!("buddypress_{name}")).collect();
    let lines: Vec<String> =
        rows.iter().map(|(.., route)| line(&route.replacen(' ', " /buddypress/v1", 1))).collect();
    let wrapped: Vec<[&str; 1]> = lines.iter().map(|line| [line.as_str()]).collect();
    let table: Vec<(&str, Value, &[&str])> = names
        .iter()
        .zip(&rows)
        .zip(&wrapped)
        .map(|((name, (_, arguments, _)), lines)| (name.as_str(), arguments.clone(), lines.as_slice()))
        .collect();
    check_lines(&over, &site, &table);
}

#[test]
fn failures_are_results() {
    let missing = asked(&over(Fake::new(site)), "buddypress_get_member", &json!({}));
    assert_eq!(content(&missing), ("Error: Missing required parameter: id".to_owned(), true));
    for hostile in [json!(".."), json!("a\nb"), json!([])] {
        let fake = Fake::new(site);
        let answer = asked(&over(fake.clone()), "buddypress_get_member", &json!({"id": hostile}));
        let (text, is_error) = content(&answer);
        assert!(is_error && text.contains("cannot stand in a path") && fake.lines().is_empty(), "{text}");
    }
    let no_route = json!({"code": "rest_no_route", "message": "No route.", "data": {"status": 404}});
    let bare = Fake::new(move |request| {
        let index = request.url.contains("namespaces");
        Ok(if index { reply(200, &json!({"namespaces": ["wp/v2"]})) } else { reply(404, &no_route) })
    });
    let (_, words, condition) = refused(&asked(&over(bare), "buddypress_list_groups", &json!({})));
    assert_eq!((words.as_str(), condition.as_str()), ("BuddyPress not available", "platformMissing"));
}

#[test]
fn the_second_version_has_its_own_address() {
    let fake = Fake::new(site);
    asked(
        &server(&settings(), Version::Second, fake.clone()).unwrap(),
        "buddypress_get_group",
        &json!({"id": 1}),
    );
    assert_eq!(fake.lines(), [line("GET /buddypress/v2/groups/1")]);
}
