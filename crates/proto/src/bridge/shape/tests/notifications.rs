//! Notifications in both directions, and the parameters of requests.

use super::*;
use crate::bridge::shape::{client_notification, notification, params};

type Way = fn(&Frame, &Era, &Era) -> Option<Bytes>;

fn check_notice(way: Way, from: &[&str], method: &str, given: &Value, rows: &[Row<'_>]) {
    let message = |params: &Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(versions, params)| (versions.clone(), params.as_ref().map(message))).collect();
    let translate = |given: &Bytes, from: &Era, to: &Era| {
        let frame = Frame::parse(given.clone(), FrameLimits::default()).unwrap();
        way(&frame, from, to)
    };
    check(from, &|_| message(given), &translate, &rows);
}

#[test]
fn notices_go_where_they_have_a_place() {
    let older = span("1", "2025-11-25");
    let cancelling = span("2024-11-05", "2025-11-25");
    for (method, from, places) in [
        ("notifications/elicitation/complete", older.clone(), vec!["2025-11-25"]),
        ("notifications/tasks/status", older.clone(), vec!["2025-11-25"]),
        ("notifications/tasks", vec!["2026-07-28"], vec!["2026-07-28"]),
        ("notifications/subscriptions/acknowledged", vec!["2026-07-28"], vec!["2026-07-28"]),
        ("notifications/cancelled", older.clone(), cancelling),
        ("notifications/cancelled", vec!["2026-07-28"], vec!["2026-07-28"]),
        ("notifications/tools/list_changed", ALL.to_vec(), ALL.to_vec()),
        ("notifications/resources/updated", ALL.to_vec(), ALL.to_vec()),
        ("notifications/vendor", ALL.to_vec(), ALL.to_vec()),
    ] {
        check_places(notification, &from, method, &places);
    }
}

fn check_places(way: Way, from: &[&str], method: &str, places: &[&'static str]) {
    let given = json!({"requestId": 1, "odd": 1});
    let elsewhere = ALL.iter().copied().filter(|version| !places.contains(version)).collect();
    check_notice(way, from, method, &given, &[(places.to_vec(), Some(given.clone())), (elsewhere, None)]);
}

#[test]
fn what_clients_say_goes_where_it_has_a_place() {
    let older = span("1", "2025-11-25");
    for (method, from, places) in [
        ("notifications/initialized", older.clone(), older.clone()),
        ("notifications/roots/list_changed", older.clone(), span("2024-10-07", "2025-11-25")),
        ("notifications/cancelled", ALL.to_vec(), span("2024-11-05", "2026-07-28")),
        ("notifications/progress", older.clone(), older.clone()),
        ("notifications/progress", vec!["2026-07-28"], vec!["2026-07-28"]),
        ("notifications/tasks/status", older, vec!["2025-11-25"]),
        ("notifications/vendor", ALL.to_vec(), ALL.to_vec()),
    ] {
        check_places(client_notification, &from, method, &places);
    }
}

#[test]
fn levels_fit_the_era() {
    for (level, four) in [
        ("debug", "debug"),
        ("info", "info"),
        ("notice", "info"),
        ("warning", "warning"),
        ("error", "error"),
        ("critical", "error"),
        ("alert", "error"),
        ("emergency", "error"),
        ("odd", "odd"),
    ] {
        let given = json!({"level": level, "data": {"level": "alert"}, "logger": "l"});
        let told = json!({"level": four, "data": {"level": "alert"}, "logger": "l"});
        let rows = [(vec!["1"], Some(told.clone())), (span("2024-10-07", "2026-07-28"), Some(given.clone()))];
        let eight = span("2024-10-07", "2026-07-28");
        check_notice(notification, &eight, "notifications/message", &given, &rows);
        let translate =
            |given: &Bytes, from: &Era, to: &Era| Some(params("logging/setLevel", given, from, to));
        check(&eight, &|_| given.clone(), &translate, &rows);
    }
}

#[test]
fn strict_eras_hear_of_progress_in_numbers() {
    let given = json!({"progressToken": 1, "progress": 0.5, "total": 1, "message": "m"});
    let bare = json!({"progressToken": 1, "progress": 0.5, "total": 1});
    check_notice(
        notification,
        ALL,
        "notifications/progress",
        &given,
        &[(span("1", "2024-11-05"), Some(bare)), (span("2025-03-26", "2026-07-28"), Some(given.clone()))],
    );
}

#[test]
fn subscriptions_are_named_without_sessions_only() {
    let id = "io.modelcontextprotocol/subscriptionId";
    for (meta, left) in [(json!({id: "L"}), json!({})), (json!({id: 1, "x": 1}), json!({"_meta": {"x": 1}}))]
    {
        let given = json!({"_meta": meta});
        let method = "notifications/tools/list_changed";
        let rows = [(span("1", "2025-11-25"), Some(left)), (vec!["2026-07-28"], Some(given.clone()))];
        check_notice(notification, &["2026-07-28"], method, &given, &rows);
    }
    let kept = json!({"_meta": {}});
    check_notice(notification, ALL, "notifications/vendor", &kept, &[(ALL.to_vec(), Some(kept.clone()))]);
}

#[test]
fn requests_carry_what_the_server_knows() {
    let check_params = |method: &str, given: Value, rows: &[Row<'_>]| {
        let translate = |given: &Bytes, from: &Era, to: &Era| Some(params(method, given, from, to));
        check(ALL, &|_| given.clone(), &translate, rows);
    };
    let full = json!({"ref": {"type": "ref/prompt", "name": "p"}, "context": {"arguments": {}}});
    let bare = json!({"ref": {"type": "ref/prompt", "name": "p"}});
    let older = span("1", "2025-03-26");
    let newer = span("2025-06-18", "2026-07-28");
    check_params("completion/complete", full.clone(), &[(older, Some(bare)), (newer, Some(full.clone()))]);
    check_params("tools/call", full.clone(), &[(ALL.to_vec(), Some(full))]);
    let page = json!({"cursor": "c", "odd": 1});
    let paged = span("2024-10-07", "2026-07-28");
    check_params(
        "tools/list",
        page.clone(),
        &[(vec!["1"], Some(json!({"odd": 1}))), (paged, Some(page.clone()))],
    );
    check_params("vendor/list", page.clone(), &[(ALL.to_vec(), Some(page))]);
}
