//! The tools for BuddyBoss.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{line, settings, site};
use crate::ToolServer;
use crate::community::buddyboss::{Phases, server};
use crate::rest::tests::{
    Fake, asked, asked_with, check_lines, content, login, refused, reply, request, shown,
};
use crate::server::Mapped;
use crate::site::SiteSettings;

const ALL: Phases = Phases { buddyboss: true, advanced: true };
const ME: &str = "GET /wp/v2/users/me?_fields=id";

fn over(fake: Arc<Fake>) -> ToolServer {
    server(&settings(), ALL, fake).unwrap()
}

/// Compares what tools ask: name, arguments, routes.
fn check(rows: &[(&'static str, Value, &[&str])]) {
    let lines: Vec<Vec<String>> =
        rows.iter().map(|(.., routes)| routes.iter().map(|route| line(route)).collect()).collect();
    let lines: Vec<Vec<&str>> =
        lines.iter().map(|lines| lines.iter().map(String::as_str).collect()).collect();
    let table: Vec<(&str, Value, &[&str])> = rows
        .iter()
        .zip(&lines)
        .map(|((tool, arguments, _), lines)| (*tool, arguments.clone(), lines.as_slice()))
        .collect();
    check_lines(&over, &site, &table);
}

#[test]
fn each_tool_asks_exactly_this() {
    check(&[core(), talk(), friends_and_profiles(), media(), learning()].concat());
}

type Row = (&'static str, Value, &'static [&'static str]);

fn core() -> Vec<Row> {
    vec![
        (
            "buddyboss_list_members",
            json!({"per_page": 500, "exclude": "1, 2"}),
            &["GET /buddyboss/v1/members?page=1&per_page=100&exclude=1%2C2"],
        ),
        (
            "buddyboss_list_members",
            json!({"role": "editor", "search": "a b", "member_type": "x"}),
            &[
                "GET /wp/v2/users?roles=editor&page=1&per_page=20&search=a%20b&_fields=id",
                "GET /buddyboss/v1/members?include=3%2C4&member_type=x&per_page=100",
            ],
        ),
        ("buddyboss_get_member", json!({"id": "-5"}), &["GET /buddyboss/v1/members/5"]),
        (
            "buddyboss_create_member",
            json!({"username": "ann", "email": "a@b.c", "password": " <p>  1 "}),
            &[r#"POST /buddyboss/v1/members {"user_login":"ann","email":"a@b.c","password":" <p>  1 "}"#],
        ),
        (
            "buddyboss_update_member",
            json!({"id": 5, "name": "<b>Ann</b>"}),
            &[r#"PUT /buddyboss/v1/members/5 {"name":"Ann"}"#],
        ),
        ("buddyboss_delete_member", json!({"id": 5}), &["DELETE /buddyboss/v1/members/5"]),
        (
            "buddyboss_delete_member",
            json!({"id": 5, "reassign": 1}),
            &["DELETE /wp/v2/users/5?force=true&reassign=1"],
        ),
        (
            "buddyboss_list_groups",
            json!({"status": "other", "page": 2, "user_id": 4}),
            &["GET /buddyboss/v1/groups?page=2&per_page=20&user_id=4"],
        ),
        ("buddyboss_get_group", json!({"id": 6}), &["GET /buddyboss/v1/groups/6"]),
        (
            "buddyboss_create_group",
            json!({"name": "G"}),
            &[
                ME,
                r#"POST /buddyboss/v1/groups {"description":"G","name":"G","status":"public","enable_forum":false,"creator_id":9}"#,
            ],
        ),
        (
            "buddyboss_create_group",
            json!({"name": "G", "description": "D<script>x</script>", "creator_id": 2, "enable_forum": "yes"}),
            &[
                r#"POST /buddyboss/v1/groups {"description":"D","name":"G","status":"public","enable_forum":true,"creator_id":2}"#,
            ],
        ),
        (
            "buddyboss_update_group",
            json!({"id": 6, "status": "hidden"}),
            &[r#"PUT /buddyboss/v1/groups/6 {"status":"hidden"}"#],
        ),
        (
            "buddyboss_delete_group",
            json!({"id": 6}),
            &["DELETE /buddyboss/v1/groups/6?delete_group_forum=false"],
        ),
        (
            "buddyboss_list_group_members",
            json!({"group_id": 6}),
            &[
                "GET /buddyboss/v1/groups/6/members?exclude_admins=false&page=1&per_page=20&roles=admin%2Cmod%2Cmember",
            ],
        ),
        (
            "buddyboss_add_group_member",
            json!({"group_id": 6, "user_id": 5, "role": "mod"}),
            &[r#"POST /buddyboss/v1/groups/6/members {"user_id":5,"role":"mod"}"#],
        ),
        (
            "buddyboss_remove_group_member",
            json!({"group_id": 6, "user_id": 5}),
            &["DELETE /buddyboss/v1/groups/6/members/5"],
        ),
    ]
}

fn talk() -> Vec<Row> {
    vec![
        (
            "buddyboss_list_activities",
            json!({"scope": "friends", "display_comments": "threaded"}),
            &["GET /buddyboss/v1/activity?page=1&per_page=20&scope=friends&display_comments=threaded"],
        ),
        ("buddyboss_get_activity", json!({"id": 1}), &["GET /buddyboss/v1/activity/1"]),
        (
            "buddyboss_create_activity",
            json!({"content": "<p onclick=x>Hi</p>"}),
            &[ME, r#"POST /buddyboss/v1/activity {"content":"<p>Hi</p>","user_id":9}"#],
        ),
        (
            "buddyboss_create_activity",
            json!({"content": "Hi", "user_id": 2, "component": "groups", "primary_item_id": 6}),
            &[
                r#"POST /buddyboss/v1/activity {"content":"Hi","user_id":2,"component":"groups","primary_item_id":6}"#,
            ],
        ),
        (
            "buddyboss_update_activity",
            json!({"id": 1, "content": "x"}),
            &[r#"PUT /buddyboss/v1/activity/1 {"content":"x"}"#],
        ),
        ("buddyboss_delete_activity", json!({"id": 1}), &["DELETE /buddyboss/v1/activity/1"]),
        ("buddyboss_favorite_activity", json!({"id": 1}), &["PUT /buddyboss/v1/activity/1/favorite"]),
        (
            "buddyboss_list_message_threads",
            json!({"box": "sentbox"}),
            &[ME, "GET /buddyboss/v1/messages?user_id=9&box=sentbox&page=1&per_page=20"],
        ),
        ("buddyboss_get_message_thread", json!({"id": 1}), &["GET /buddyboss/v1/messages/1"]),
        (
            "buddyboss_send_message",
            json!({"recipients": "3, 4", "subject": "S", "message": "M"}),
            &[
                ME,
                r#"POST /buddyboss/v1/messages {"recipients":[3,4],"subject":"S","message":"M","sender_id":9}"#,
            ],
        ),
        (
            "buddyboss_send_message",
            json!({"recipients": [3], "subject": "S", "message": "M", "sender_id": 2}),
            &[r#"POST /buddyboss/v1/messages {"recipients":[3],"subject":"S","message":"M","sender_id":2}"#],
        ),
        (
            "buddyboss_delete_message_thread",
            json!({"id": 1}),
            &[ME, "DELETE /buddyboss/v1/messages/1?user_id=9"],
        ),
        (
            "buddyboss_mark_message_read",
            json!({"id": 1}),
            &[r#"POST /buddyboss/v1/messages/action/1 {"action":"unread","value":false}"#],
        ),
        (
            "buddyboss_list_notifications",
            json!({"is_new": true, "user_id": 3}),
            &["GET /buddyboss/v1/notifications?user_id=3&is_new=true&page=1&per_page=20"],
        ),
        ("buddyboss_get_notification", json!({"id": 1}), &["GET /buddyboss/v1/notifications/1"]),
        (
            "buddyboss_mark_notification_read",
            json!({"id": 1}),
            &[r#"PUT /buddyboss/v1/notifications/1 {"is_new":0}"#],
        ),
        ("buddyboss_delete_notification", json!({"id": 1}), &["DELETE /buddyboss/v1/notifications/1"]),
    ]
}

fn friends_and_profiles() -> Vec<Row> {
    vec![
        (
            "buddyboss_list_friends",
            json!({"user_id": 2, "is_confirmed": false}),
            &["GET /buddyboss/v1/friends?user_id=2&is_confirmed=0&page=1&per_page=20"],
        ),
        (
            "buddyboss_list_friends",
            json!({}),
            &[ME, "GET /buddyboss/v1/friends?user_id=9&is_confirmed=1&page=1&per_page=20"],
        ),
        (
            "buddyboss_add_friend",
            json!({"initiator_id": 1, "friend_id": 2}),
            &[r#"POST /buddyboss/v1/friends {"initiator_id":1,"friend_id":2,"force":false}"#],
        ),
        ("buddyboss_remove_friend", json!({"id": 8}), &["DELETE /buddyboss/v1/friends/8"]),
        (
            "buddyboss_list_friend_requests",
            json!({"user_id": 2}),
            &["GET /buddyboss/v1/friends?user_id=2&is_confirmed=0"],
        ),
        (
            "buddyboss_list_xprofile_groups",
            json!({"fetch_fields": true}),
            &["GET /buddyboss/v1/xprofile/groups?fetch_fields=true"],
        ),
        (
            "buddyboss_list_xprofile_fields",
            json!({"profile_group_id": 1}),
            &["GET /buddyboss/v1/xprofile/fields?profile_group_id=1"],
        ),
        (
            "buddyboss_get_xprofile_field",
            json!({"id": 1, "fetch_field_data": "on"}),
            &["GET /buddyboss/v1/xprofile/fields/1?fetch_field_data=true"],
        ),
        (
            "buddyboss_get_xprofile_data",
            json!({"field_id": 1, "user_id": 2}),
            &["GET /buddyboss/v1/xprofile/1/data/2"],
        ),
        (
            "buddyboss_update_xprofile_data",
            json!({"field_id": 1, "user_id": 2, "value": "Oslo"}),
            &[r#"POST /buddyboss/v1/xprofile/1/data/2 {"value":"Oslo"}"#],
        ),
    ]
}

fn media() -> Vec<Row> {
    const PNG: &str = "iVBORw0KGgo=";
    vec![
        (
            "buddyboss_list_media",
            json!({"per_page": 50, "privacy": "public"}),
            &["GET /buddyboss/v1/media?page=1&per_page=10&privacy=public"],
        ),
        ("buddyboss_get_media", json!({"id": 1}), &["GET /buddyboss/v1/media/1"]),
        (
            "buddyboss_upload_media",
            json!({"file": "data:text/plain;base64,YWJj", "album_id": 3, "content": "C"}),
            &[
                "POST /buddyboss/v1/media/upload [name=\"file\" filename=\"upload.txt\" Content-Type: text/plain: abc]",
                r#"POST /buddyboss/v1/media {"upload_ids":[55],"album_id":3,"content":"C"}"#,
            ],
        ),
        (
            "buddyboss_update_media",
            json!({"id": 1, "privacy": "onlyme"}),
            &[r#"PATCH /buddyboss/v1/media/1 {"privacy":"onlyme"}"#],
        ),
        ("buddyboss_delete_media", json!({"id": 1}), &["DELETE /buddyboss/v1/media/1"]),
        (
            "buddyboss_list_videos",
            json!({"activity_id": 2}),
            &["GET /buddyboss/v1/video?page=1&per_page=20&activity_id=2"],
        ),
        ("buddyboss_get_video", json!({"id": 1}), &["GET /buddyboss/v1/video/1"]),
        (
            "buddyboss_upload_video",
            json!({"file": "YWJj", "group_id": 3}),
            &[
                "POST /buddyboss/v1/video/upload [name=\"file\" filename=\"upload\" Content-Type: application/octet-stream: abc]",
                r#"POST /buddyboss/v1/video {"upload_ids":[55],"group_id":3}"#,
            ],
        ),
        ("buddyboss_delete_video", json!({"id": 1}), &["DELETE /buddyboss/v1/video/1"]),
        (
            "buddyboss_list_documents",
            json!({"folder_id": 2}),
            &["GET /buddyboss/v1/document?page=1&per_page=20&folder_id=2"],
        ),
        ("buddyboss_get_document", json!({"id": 1}), &["GET /buddyboss/v1/document/1"]),
        (
            "buddyboss_upload_document",
            json!({"file": PNG, "folder_id": 3}),
            &[
                "POST /buddyboss/v1/document/upload [name=\"file\" filename=\"upload.png\" Content-Type: image/png: \u{fffd}PNG\r\n\u{1a}\n]",
                r#"POST /buddyboss/v1/document {"document_ids":[56],"folder_id":3}"#,
            ],
        ),
        ("buddyboss_delete_document", json!({"id": 1}), &["DELETE /buddyboss/v1/document/1"]),
        (
            "buddyboss_list_document_folders",
            json!({"group_id": 2}),
            &["GET /buddyboss/v1/document/folder?group_id=2&page=1&per_page=20"],
        ),
        (
            "buddyboss_list_moderation_reports",
            json!({}),
            &["GET /buddyboss/v1/moderation?page=1&per_page=20"],
        ),
        (
            "buddyboss_report_content",
            json!({"content_id": 4, "content_type": "topic", "reason": "Rude"}),
            &[
                r#"POST /buddyboss/v1/moderation/report {"report_category":"other","item_id":4,"item_type":"forum_topic","note":"Rude"}"#,
            ],
        ),
        (
            "buddyboss_block_member",
            json!({"user_id": 4}),
            &[r#"POST /buddyboss/v1/moderation {"item_id":4}"#],
        ),
        (
            "buddyboss_unblock_member",
            json!({"user_id": 4}),
            &["GET /buddyboss/v1/moderation?item_id=4", "DELETE /buddyboss/v1/moderation/77"],
        ),
    ]
}

fn learning() -> Vec<Row> {
    vec![
        (
            "buddyboss_list_forums",
            json!({"parent": 1}),
            &["GET /buddyboss/v1/forums?page=1&per_page=20&parent=1"],
        ),
        ("buddyboss_get_forum", json!({"id": 1}), &["GET /buddyboss/v1/forums/1"]),
        (
            "buddyboss_create_topic",
            json!({"forum_id": 1, "title": "T", "content": "C"}),
            &[r#"POST /buddyboss/v1/topics {"parent":1,"title":"T","content":"C"}"#],
        ),
        ("buddyboss_get_topic", json!({"id": 1}), &["GET /buddyboss/v1/topics/1"]),
        (
            "buddyboss_create_reply",
            json!({"topic_id": 1, "content": "C", "reply_to": 2}),
            &[r#"POST /buddyboss/v1/reply {"topic_id":1,"content":"C","reply_to":2}"#],
        ),
        (
            "buddyboss_list_replies",
            json!({"topic_id": 1}),
            &["GET /buddyboss/v1/reply?parent=1&page=1&per_page=20"],
        ),
        (
            "buddyboss_list_courses",
            json!({"category": 3}),
            &["GET /ldlms/v2/sfwd-courses?page=1&per_page=20&ld_course_category=3"],
        ),
        ("buddyboss_get_course", json!({"id": 1}), &["GET /ldlms/v2/sfwd-courses/1"]),
        (
            "buddyboss_enroll_user",
            json!({"course_id": 1, "user_id": 2}),
            &[r#"POST /ldlms/v2/sfwd-courses/1/users {"user_ids":[2]}"#],
        ),
        (
            "buddyboss_get_course_progress",
            json!({"course_id": 1, "user_id": 2}),
            &["GET /ldlms/v2/users/2/course-progress/1"],
        ),
    ]
}

fn count(phases: Phases) -> usize {
    let server = server(&settings(), phases, Fake::json(json!({}))).unwrap();
    let list = request(&server, "tools/list", &json!({}), None);
    list["result"]["tools"].as_array().unwrap().len()
}

#[test]
fn phases_switch_tools_on_and_off() {
    assert_eq!(count(Phases { buddyboss: false, advanced: false }), 37);
    assert_eq!(count(Phases::default()), 37 + 18);
    assert_eq!(count(ALL), 65);
    let small = server(&settings(), Phases::default(), Fake::json(json!({}))).unwrap();
    let (code, words, _) = refused(&asked(&small, "buddyboss_list_forums", &json!({})));
    assert!(code == -32602 && words.contains("unknown tool"));
}

#[test]
fn missing_arguments_and_errors_of_the_site_are_results() {
    let fake = Fake::new(site);
    for arguments in [json!({}), json!({"id": ""})] {
        let answer = content(&asked(&over(fake.clone()), "buddyboss_get_member", &arguments));
        assert_eq!(answer, ("Validation error: Missing required parameter: id".to_owned(), true));
    }
    assert!(fake.lines().is_empty());
    let no = json!({"code": "bp_rest_member_invalid_id", "message": "Invalid member ID.", "data": {"status": 404}});
    let answer =
        asked(&over(Fake::new(move |_| Ok(reply(404, &no)))), "buddyboss_get_member", &json!({"id": 99999}));
    assert_eq!(content(&answer), ("Error: Invalid member ID.".to_owned(), true));
    let no = json!({"code": "bp_rest_authorization_required", "message": "Sorry.", "data": {"status": 403}});
    let (text, is_error) = content(&asked(
        &over(Fake::new(move |_| Ok(reply(403, &no)))),
        "buddyboss_get_group",
        &json!({"id": 1}),
    ));
    assert!(is_error && text.contains("Application Password"), "{text}");
    let nobody =
        Fake::new(
            |request| {
                if request.url.contains("users/me") { Ok(reply(200, &json!({}))) } else { site(request) }
            },
        );
    let (text, _) = content(&asked(&over(nobody), "buddyboss_list_friends", &json!({})));
    assert!(text.contains("whose account"), "{text}");
    let free = Fake::new(|_| Ok(reply(200, &json!([]))));
    let (text, is_error) =
        content(&asked(&over(free.clone()), "buddyboss_unblock_member", &json!({"user_id": 4})));
    assert!(is_error && text.contains("not blocked") && free.lines().len() == 1, "{text}");
    let none = shown(&asked(&over(free.clone()), "buddyboss_list_members", &json!({"role": "nobody"})));
    assert_eq!((none, free.lines().len()), (json!([]), 2), "nobody has the role, so nobody is looked up");
    let forged = Fake::new(|request| {
        let id = if request.url.contains("/moderation?") { json!([{"id": "../x"}]) } else { json!({}) };
        Ok(reply(200, &id))
    });
    asked(&over(forged.clone()), "buddyboss_unblock_member", &json!({"user_id": 4}));
    assert!(forged.lines()[1].ends_with("/moderation/..%2Fx"), "what a site says is escaped, too");
}

#[test]
fn answers_are_indented_json_as_the_site_gave_it() {
    let answer = asked(
        &over(Fake::json(json!({"link": "https://x/", "id": 1}))),
        "buddyboss_get_member",
        &json!({"id": 1}),
    );
    assert_eq!(content(&answer).0, "{\n  \"link\": \"https://x/\",\n  \"id\": 1\n}");
}

#[test]
fn a_site_without_the_platform_is_told_apart_from_one_with_a_part_switched_off() {
    let no_route =
        json!({"code": "rest_no_route", "message": "No route was found.", "data": {"status": 404}});
    let asks = |namespaces: Value, tool: &str, arguments: Value| {
        let no_route = no_route.clone();
        let fake = Fake::new(move |request| {
            let index = request.url.ends_with("/wp-json/?_fields=namespaces");
            Ok(if index { reply(200, &json!({"namespaces": namespaces})) } else { reply(404, &no_route) })
        });
        asked(&over(fake), tool, &arguments)
    };
    let missing = asks(json!(["wp/v2"]), "buddyboss_list_groups", json!({}));
    let (_, words, condition) = refused(&missing);
    assert_eq!((words.as_str(), condition.as_str()), ("BuddyBoss not available", "platformMissing"));
    let off = asks(json!(["wp/v2", "buddyboss/v1"]), "buddyboss_list_groups", json!({}));
    assert!(content(&off).0.contains("switched off"));
    let courses = asks(json!(["wp/v2", "buddyboss/v1"]), "buddyboss_list_courses", json!({}));
    assert_eq!(content(&courses), ("Error: LearnDash is not active on the site".to_owned(), true));
    let unclear = asks(json!("?"), "buddyboss_list_groups", json!({}));
    assert_eq!(content(&unclear), ("Error: No route was found.".to_owned(), true));
}

#[test]
fn each_caller_asks_with_its_own_account() {
    let fake = Fake::new(site);
    let open = SiteSettings { login: None, ..SiteSettings::default() };
    let server = server(&open, ALL, fake.clone()).unwrap();
    assert_eq!(refused(&asked(&server, "buddyboss_list_groups", &json!({}))).2, "noCredentials");
    for name in ["ann", "ben"] {
        let mapped =
            Mapped { site: Some(login("https://community.example.com", name, "p")), image_key: None };
        shown(&asked_with(&server, "buddyboss_list_friends", &json!({}), Some(&mapped)));
    }
    let seen: Vec<String> =
        fake.asked.lock().unwrap().iter().filter_map(crate::rest::tests::authorization).collect();
    assert_eq!(seen.len(), 4);
    assert!(seen[0] == seen[1] && seen[2] == seen[3] && seen[0] != seen[2]);
}
