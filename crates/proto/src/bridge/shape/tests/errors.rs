//! Error objects.

use super::*;
use crate::bridge::shape::error;

fn check_error(method: &str, from: &[&str], given: &Value, rows: &[Row<'_>]) {
    let request = frame(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"uri": "a:b"}}));
    let translate =
        |given: &Bytes, from: &Era, to: &Era| Some(error(method, given, Some(&request), from, to));
    check(from, &|_| given.clone(), &translate, rows);
}

fn of(code: i32, message: &str) -> Value {
    json!({"code": code, "message": message})
}

fn and_data(mut error: Value, data: &Value) -> Value {
    error["data"] = data.clone();
    error
}

#[test]
fn a_resource_that_is_not_there_has_two_codes() {
    let uri = json!({"uri": "a:c"});
    let newest = and_data(of(-32602, "no"), &uri);
    let older = and_data(of(-32002, "no"), &uri);
    check_error(
        "resources/read",
        &["2026-07-28"],
        &newest,
        &[(span("1", "2025-11-25"), Some(older.clone())), (vec!["2026-07-28"], Some(newest.clone()))],
    );
    check_error(
        "resources/read",
        &span("1", "2025-11-25"),
        &older,
        &[(span("1", "2025-11-25"), Some(older.clone())), (vec!["2026-07-28"], Some(newest.clone()))],
    );
}

#[test]
fn the_newest_is_told_which_resource_is_not_there() {
    let asked = json!({"uri": "a:b"});
    for (given, expected) in [
        (of(-32002, "no"), asked.clone()),
        (and_data(of(-32002, "no"), &Value::Null), asked.clone()),
        (and_data(of(-32002, "no"), &json!({"x": 1})), json!({"x": 1, "uri": "a:b"})),
        (and_data(of(-32002, "no"), &json!("text")), json!({"uri": "a:b", "said": "text"})),
    ] {
        for method in ["resources/read", "resources/subscribe"] {
            check_error(
                method,
                &span("1", "2025-11-25"),
                &given,
                &[
                    (span("1", "2025-11-25"), Some(given.clone())),
                    (vec!["2026-07-28"], Some(and_data(of(-32602, "no"), &expected))),
                ],
            );
        }
    }
    let text = bytes(&of(-32002, "no"));
    let [from, to] = ["2025-11-25", "2026-07-28"].map(|version| crate::era::by_version(version).unwrap());
    assert_eq!(parsed(&error("resources/read", &text, None, from, to)), of(-32602, "no"));
}

#[test]
fn other_invalid_params_stay() {
    for (method, given) in [
        ("resources/read", of(-32602, "no")),
        ("resources/read", and_data(of(-32602, "no"), &json!({"uri": 7}))),
        ("tools/call", and_data(of(-32602, "no"), &json!({"uri": "a:b"}))),
    ] {
        check_error(method, ALL, &given, &[(ALL.to_vec(), Some(given.clone()))]);
    }
}

#[test]
fn what_the_newest_says_with_codes_of_its_own_reaches_others_as_it_is() {
    let data = json!({"requiredCapabilities": {"sampling": {}}, "supported": ["x"]});
    for code in [-32020, -32021, -32022, -32003, -32004, -32050] {
        let given = and_data(of(code, "why"), &data);
        check_error("tools/call", &["2026-07-28"], &given, &[(ALL.to_vec(), Some(given.clone()))]);
    }
    for given in
        [of(-32003, "own"), of(-32004, "own"), of(-32000, "refused"), of(-32001, "no session"), of(-1, "x")]
    {
        check_error("tools/call", ALL, &given, &[(ALL.to_vec(), Some(given.clone()))]);
    }
}

#[test]
fn the_newest_hears_no_code_that_it_would_take_for_another() {
    let older = span("1", "2025-11-25");
    let check_older = |given: Value, newest: Value| {
        let rows = [(span("1", "2025-11-25"), Some(given.clone())), (vec!["2026-07-28"], Some(newest))];
        check_error("tools/call", &older, &given, &rows);
    };
    let text = "the server answered with an error code that this protocol version does not define";
    check_older(of(-32050, "own"), of(-32603, &format!("{text}: own")));
    check_older(of(-32099, ""), of(-32603, text));
    check_older(of(-32100, "own"), of(-32100, "own"));
    for code in [-32020, -32021, -32022] {
        check_older(of(code, "own"), of(-32603, &format!("{text}: own")));
    }
    let needs = and_data(of(-32021, "own"), &json!({"requiredCapabilities": {"roots": {}}}));
    let [from, to] = ["2025-11-25", "2026-07-28"].map(|version| crate::era::by_version(version).unwrap());
    let given = bytes(&needs);
    assert_eq!(error("tools/call", &given, None, from, to), given);
    assert_eq!(error("tools/call", &given, None, to, from), given);
}

#[test]
fn urls_can_be_wanted_in_one_era_only() {
    let data =
        json!({"elicitations": [{"mode": "url", "url": "https://a", "elicitationId": "1", "message": "m"}]});
    let given = and_data(of(-32042, "visit"), &data);
    let text =
        "the server requires the user to visit URLs first, which this protocol version cannot express: visit";
    let other = and_data(of(-32603, text), &data);
    check_error(
        "tools/call",
        ALL,
        &given,
        &[
            (span("1", "2025-06-18"), Some(other.clone())),
            (vec!["2025-11-25"], Some(given.clone())),
            (vec!["2026-07-28"], Some(other)),
        ],
    );
}

#[test]
fn what_is_no_error_object_is_quoted() {
    let text = json!({"code": -32603, "message": "the server answered with a malformed error: \"boom\""});
    check_error("tools/call", ALL, &json!("boom"), &[(ALL.to_vec(), Some(text))]);
    for given in
        [json!({"message": "no code"}), json!({"code": "x"}), json!({"code": 1.5}), json!({"code": 1e30})]
    {
        check_error("tools/call", ALL, &given, &[(ALL.to_vec(), Some(given.clone()))]);
    }
}
