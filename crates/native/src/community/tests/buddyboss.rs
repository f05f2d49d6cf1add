//! Tests of the BuddyBoss tools.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{line, settings, site};
use crate::ToolServer;
use crate::community::buddyboss::{Phases, server};
use crate::port::{HttpRequest, HttpResponse, Verb};
use crate::rest::tests::{
    Fake, asked, asked_by_mcp, asked_with, check_lines, content, login, refused, reply, request, shown,
};
use crate::server::Mapped;
use crate::site::SiteSettings;

const ALL: Phases = Phases { buddyboss: true, advanced: true, extended: false, discover: false };

fn over(fake: Arc<Fake>) -> ToolServer {
    server(&settings(), ALL, fake).unwrap()
}

#[test]
fn each_tool_asks_exactly_this() {
    check_lines(&over, site, include_str!("buddyboss.txt"));
}

fn count(phases: Phases) -> usize {
    let server = server(&settings(), phases, Fake::json(json!({}))).unwrap();
    let list = request(&server, "tools/list", &json!({}), None);
    list["result"]["tools"].as_array().unwrap().len()
}

#[test]
fn phases_switch_tools_on_and_off() {
    assert_eq!(count(Phases { buddyboss: false, advanced: false, extended: false, discover: false }), 37);
    assert_eq!(count(Phases::default()), 37 + 18);
    assert_eq!(count(ALL), 65);
    assert_eq!(count(Phases { extended: true, ..ALL }), 65 + 151);
    let small = server(&settings(), Phases::default(), Fake::json(json!({}))).unwrap();
    let (code, words, _) = refused(&asked(&small, "buddyboss_list_forums", &json!({})));
    assert!(code == -32602 && words.contains("unknown tool"));
}

#[test]
fn missing_arguments_and_errors_of_the_site_are_results() {
    let fake = Fake::replying(site);
    for arguments in [json!({}), json!({"id": ""})] {
        let answer = content(&asked(&over(fake.clone()), "buddyboss_get_member", &arguments));
        assert_eq!(answer, ("Validation error: Missing required parameter: id".to_owned(), true));
    }
    assert!(fake.lines().is_empty());
    let no = json!({"code": "bp_rest_member_invalid_id", "message": "Invalid member ID.", "data": {"status": 404}});
    let answer =
        asked(&over(Fake::new(move |_| Ok(reply(404, &no)))), "buddyboss_get_member", &json!({"id": 99999}));
    assert_eq!(content(&answer), ("Error: Invalid member ID.".to_owned(), true));
    let form = json!({"code": "bp_rest_register_errors", "message": {"field_3": "Please enter a username"}});
    let answer =
        asked(&over(Fake::new(move |_| Ok(reply(400, &form)))), "buddyboss_get_group", &json!({"id": 1}));
    assert_eq!(content(&answer), ("Error: field_3: Please enter a username".to_owned(), true));
    let nobody =
        Fake::replying(
            |request| {
                if request.url.contains("users/me") { reply(200, &json!({})) } else { site(request) }
            },
        );
    let (text, _) = content(&asked(&over(nobody), "buddyboss_list_friends", &json!({})));
    assert!(text.contains("ID of this account"), "{text}");
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
    let answer = asked(&over(forged.clone()), "buddyboss_unblock_member", &json!({"user_id": 4}));
    assert!(content(&answer).1 && forged.lines().len() == 1, "what a site says is looked at, too: {answer}");
}

#[test]
fn a_friendship_ends_for_those_whose_it_is_and_what_has_not_ended_is_no_success() {
    let others = |request: &HttpRequest| {
        let friendship = json!({"id": 8, "initiator_id": 3, "friend_id": 4, "is_confirmed": true});
        if request.url.ends_with("/friends/8") { reply(200, &friendship) } else { site(request) }
    };
    let fake = Fake::replying(others);
    asked(&over(fake.clone()), "buddyboss_remove_friend", &json!({"id": 8}));
    let last = fake.lines().pop().unwrap();
    assert_eq!(
        last,
        line("DELETE /buddyboss/v1/friends/8"),
        "no friend of the caller's is unfriended instead"
    );
    for (unfriend, ended) in [(json!(true), true), (json!({"errors": {"no": ["Cannot."]}}), false)] {
        let server = server(
            &settings(),
            Phases { extended: true, ..ALL },
            Fake::replying(move |request| {
                if request.method == Verb::Delete {
                    return reply(200, &json!({"unfriend": unfriend}));
                }
                site(request)
            }),
        )
        .unwrap();
        for (tool, arguments) in [
            ("buddyboss_remove_friend", json!({"id": 8})),
            ("buddyboss_remove_friend_by_member", json!({"friend_id": 3})),
        ] {
            let (text, is_error) = content(&asked(&server, tool, &arguments));
            assert_eq!((is_error, text.contains("was not ended")), (!ended, !ended), "{tool}: {text}");
        }
    }
}

/// A site where a user joins a group; the answer to joining has these members.
fn joined(answer: Value) -> impl Fn(&HttpRequest) -> HttpResponse {
    move |request| match request.method {
        Verb::Post => reply(200, &answer),
        // The platform's `save` finds nothing to change, and reports that as a failure.
        _ => reply(
            500,
            &json!({"code": "bp_rest_group_member_failed_to_promote", "message": "Could not promote member."}),
        ),
    }
}

#[test]
fn a_role_that_the_site_has_given_is_not_asked_for_again() {
    for (role, is_mod, is_admin) in [("mod", true, false), ("admin", false, true)] {
        let member = json!({"id": 5, "is_mod": is_mod, "is_admin": is_admin});
        let fake = Fake::replying(joined(member.clone()));
        let call = json!({"group_id": 6, "user_id": 5, "role": role});
        let answer = asked(&over(fake.clone()), "buddyboss_add_group_member", &call);
        assert_eq!((shown(&answer), fake.lines().len()), (member, 1), "{role}");
        // A role other than the requested one.
        let fake = Fake::replying(joined(json!({"id": 5, "is_mod": is_admin, "is_admin": is_mod})));
        let answer = asked(&over(fake.clone()), "buddyboss_add_group_member", &call);
        let (text, is_error) = content(&answer);
        assert_eq!((&*text, is_error), ("Error: Could not promote member.", true), "{role}");
        let changes = fake.lines().iter().filter(|line| !line.starts_with("GET ")).count();
        assert_eq!(changes, 2, "{role}");
    }
}

#[test]
fn a_failed_promotion_says_that_the_member_has_joined_and_why_it_failed() {
    for (menu, is_visitor) in
        [("http://profile/", true), ("https://community.example.com/members/ann/", false)]
    {
        let site = joined(json!({"id": 5, "is_mod": false, "is_admin": false}));
        let fake = Fake::replying(move |request: &HttpRequest| -> HttpResponse {
            if request.url.contains("profile-dropdown") {
                return reply(200, &json!([{"url": menu, "_links": {}}]));
            }
            site(request)
        });
        let settings = SiteSettings { answers: crate::AnswerStyle::Compact, ..settings() };
        let server = server(&settings, ALL, fake).unwrap();
        let call = json!({"group_id": 6, "user_id": 5, "role": "mod"});
        let (text, is_error) = content(&asked_by_mcp(&server, "buddyboss_add_group_member", &call));
        assert!(is_error && text.contains("the member has joined the group, without the role"), "{text}");
        assert_eq!(text.contains("treats the account as a visitor"), is_visitor, "{text}");
        assert!(text.contains("bp_rest_group_member_failed_to_promote"), "{text}");
    }
}

#[test]
fn what_is_changed_names_what_the_platform_would_take_for_changed_too() {
    let comment = |request: &HttpRequest| {
        let answers = json!({"id": 5, "primary_item_id": 2, "secondary_item_id": 4});
        if request.url.ends_with("/comment/5") { reply(200, &answers) } else { site(request) }
    };
    let extended = Phases { extended: true, ..ALL };
    for (tool, arguments, asks) in [
        (
            "buddyboss_update_activity_comment",
            json!({"id": 2, "comment_id": 5, "content": "C"}),
            "PUT /buddyboss/v1/activity/2/comment/5 {\"parent_id\":4,\"content\":\"C\"}",
        ),
        (
            "buddyboss_update_platform_settings",
            json!({"settings": {"bp-x": true, "name": "n"}}),
            "POST /buddyboss/v1/settings {\"bp-x\":true,\"name\":\"n\"}",
        ),
        (
            "buddyboss_create_signup",
            json!({"signup_email": "a@b.example", "signup_password": "p", "fields": {"field_3": "a"}}),
            "POST /buddyboss/v1/signup {\"signup_email\":\"a@b.example\",\"signup_password\":\"p\",\"field_3\":\"a\"}",
        ),
        (
            "buddyboss_delete_activity_topic",
            json!({"id": 3, "item_type": "activity"}),
            "DELETE /buddyboss/v1/bb-topics/3?item_type=activity",
        ),
    ] {
        let fake = Fake::replying(comment);
        asked(&server(&settings(), extended, fake.clone()).unwrap(), tool, &arguments);
        assert_eq!(fake.lines().pop().unwrap(), line(asks));
    }
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
    assert!(content(&off).0.contains("deactivated there"));
    let courses = asks(json!(["wp/v2", "buddyboss/v1"]), "buddyboss_list_courses", json!({}));
    assert_eq!(content(&courses), ("Error: LearnDash is not active on the site".to_owned(), true));
    let unclear = asks(json!("?"), "buddyboss_list_groups", json!({}));
    let (words, is_error) = content(&unclear);
    assert!(
        is_error && words.starts_with("Error: No route was found. (the site has no such route"),
        "{words}"
    );
}

#[test]
fn each_caller_asks_with_its_own_account() {
    let fake = Fake::replying(site);
    let open = SiteSettings { login: None, ..SiteSettings::default() };
    let server = server(&open, ALL, fake.clone()).unwrap();
    assert_eq!(refused(&asked(&server, "buddyboss_list_groups", &json!({}))).2, "noCredentials");
    for name in ["ann", "ben"] {
        let mapped =
            Mapped { site: Some(Ok(login("https://community.example.com", name, "p"))), image_key: None };
        shown(&asked_with(&server, "buddyboss_list_friends", &json!({}), Some(&mapped)));
    }
    let seen: Vec<String> =
        fake.asked.lock().unwrap().iter().filter_map(crate::rest::tests::authorization).collect();
    assert_eq!(seen.len(), 4);
    assert!(seen[0] == seen[1] && seen[2] == seen[3] && seen[0] != seen[2]);
}
