//! Arguments under the four policies, and rows as a list shows them.

use serde_json::{Map, Value, json};

use super::{
    Channel, Family, Policy, ToolArgument, ToolRow, ToolServer, flag, html, int, integers, list, number, raw,
    text, tool,
};
use crate::arguments::read::read;
use crate::rest::{CallerRequest, Shape, Step, get};
use crate::server::NativeServer as _;
use crate::unknown::UnknownArguments;

const ROWS: &[ToolArgument] = &[
    text("name", "A name.").required(),
    int("per_page", "How many.").or_int(20).least(1).most(100),
    text("status", "Which.").among(&["publish", "draft"]),
    flag("force", "Whether."),
    number("price", "How much."),
    html("content", "What."),
    raw("password", "A secret."),
    list("tags", "Words."),
    integers("ids", "Numbers."),
];

fn values(policy: Policy, given: &Value) -> Result<Value, String> {
    let given: Map<String, Value> = given.as_object().unwrap().clone();
    read(&given, ROWS, policy).map(|values| Value::Object(values.0)).map_err(|failure| failure.message)
}

#[test]
fn exact_and_filled_take_what_fits() {
    for policy in [Policy::Exact, Policy::Filled] {
        let given = json!({"name": "a", "per_page": "7", "force": "true", "price": "1.5", "ids": [1, "2"], "other": 1});
        let read = json!({"name": "a", "per_page": 7, "force": true, "price": 1.5, "ids": [1, 2]});
        assert_eq!(values(policy, &given), Ok(read));
        let given = json!({"name": "a", "per_page": 500, "status": null});
        assert_eq!(values(policy, &given), Ok(json!({"name": "a", "per_page": 100})));
        assert_eq!(values(policy, &json!({"name": "a", "per_page": 0})).unwrap()["per_page"], 1);
    }
    assert_eq!(values(Policy::Exact, &json!({"name": " "})).unwrap()["name"], " ");
}

#[test]
fn exact_and_filled_name_every_fault() {
    let given = json!({"per_page": 1.5, "status": "x", "force": 1, "tags": "a", "ids": ["x"]});
    let faults = values(Policy::Filled, &given).unwrap_err();
    for fault in [
        "\"name\" is missing",
        "\"per_page\" must be a whole number",
        "\"status\" must be one of: publish, draft",
        "\"force\" must be true or false",
        "\"tags\" must be an array of strings",
        "\"ids\" must be an array of whole",
    ] {
        assert!(faults.contains(fault), "{fault}: {faults}");
    }
    assert!(values(Policy::Filled, &json!({"name": " "})).unwrap_err().contains("must not be empty"));
}

/// Zero and negative numbers must be refused; they would otherwise become the first post, or the first user.
#[test]
fn a_number_that_names_something_is_not_made_another() {
    let row = [int("id", "Which.").least(1), int("page", "Which page.").or_int(1).least(1)];
    for policy in [Policy::Exact, Policy::Filled] {
        for wrong in [json!(0), json!(-1), json!("0"), json!(-3.0)] {
            let given = Map::from_iter([("id".to_owned(), wrong.clone()), ("page".to_owned(), json!(-1))]);
            let refused = read(&given, &row, policy).unwrap_err().message;
            assert_eq!(refused, "the argument \"id\" must be a whole number of at least 1", "{wrong}");
        }
        let given = Map::from_iter([("id".to_owned(), json!(1)), ("page".to_owned(), json!(-1))]);
        assert_eq!(Value::Object(read(&given, &row, policy).unwrap().0), json!({"id": 1, "page": 1}));
    }
}

#[test]
fn lenient_bends() {
    let given = json!({
        "name": "  a <b>b</b>\n c<script>d</script> ", "per_page": -500, "status": "other", "force": "YES",
        "content": "<p onclick=\"x\">a</p>", "password": " <p> ", "tags": "a, b", "ids": "1,-2,x", "other": 1
    });
    let bent = json!({
        "name": "a b c", "per_page": 100, "force": true, "content": "<p>a</p>", "password": " <p> ",
        "tags": ["a", "b"], "ids": [1, 2, 0]
    });
    assert_eq!(values(Policy::Lenient, &given), Ok(bent));
    for (given, read) in [
        (json!("12abc"), 12),
        (json!("abc"), 1),
        (json!(2.9), 2),
        (json!(true), 1),
        (json!([]), 1),
        (json!(1e300), 100),
    ] {
        assert_eq!(
            values(Policy::Lenient, &json!({"name": "a", "per_page": given})).unwrap()["per_page"],
            read
        );
    }
    for (given, read) in [(json!("on"), true), (json!(1), true), (json!("no"), false), (json!({}), false)] {
        assert_eq!(values(Policy::Lenient, &json!({"name": "a", "force": given})).unwrap()["force"], read);
    }
    let long = "\u{e4}".repeat(2000);
    let cut = values(Policy::Lenient, &json!({"name": long})).unwrap();
    assert_eq!(cut["name"].as_str().unwrap().chars().count(), 1000);
    assert_eq!(values(Policy::Lenient, &json!({"name": [1, "b"]})).unwrap()["name"], "1,b");
}

#[test]
fn lenient_and_loose_name_the_first_that_is_missing() {
    for policy in [Policy::Lenient, Policy::Loose] {
        for given in [json!({}), json!({"name": ""}), json!({"name": null})] {
            assert_eq!(values(policy, &given), Err("Missing required parameter: name".to_owned()));
        }
    }
    let given = json!({"name": ["x"], "per_page": 500.5, "status": "other"});
    assert_eq!(values(Policy::Loose, &given), Ok(given));
}

const OPEN: CallerRequest =
    CallerRequest { base: "b", method: "method", route: "route", query: "query", body: "body" };

const TOOLS: &[ToolRow] = &[
    tool(
        "get",
        "Gets.",
        &[int("id", "Which.").least(1), text("search", "What.").or_text("all"), text("path", "Where.")],
        &[get("b", "/x/{*path}").step()],
        Shape::Whole,
    ),
    tool("list", "Lists.", &[text("type", "What.")], &[get("b", "/x/{type}").step()], Shape::Whole),
    tool("ask", "Asks.", &[text("route", "Where.")], &[Step::Open(OPEN)], Shape::Whole),
];

const fn family(policy: Policy) -> Family {
    Family { name: "f", title: "F", instructions: "", policy, failed: "", titles: &[], unfit: "" }
}

#[test]
fn rules_are_told_what_is_made_of_arguments() {
    static FILLED: Family = family(Policy::Filled);
    static LENIENT: Family = family(Policy::Lenient);
    static LOOSE: Family = family(Policy::Loose);
    let read = |family, tool: &str, given: &Value| -> Vec<Value> {
        let server = ToolServer::new(
            family,
            (Channel::Results, UnknownArguments::Ignore),
            TOOLS.iter().collect(),
            Map::new(),
            None,
        );
        let all = server.readings(tool, given.to_string().as_bytes());
        all.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    };
    assert_eq!(read(&FILLED, "get", &json!({"id": "1", "other": 2})), [json!({"id": 1})]);
    assert_eq!(read(&FILLED, "get", &json!({"id": "-1"})), [json!({})], "it is refused");
    let given = json!({"id": "-42", "search": "ja<b></b>ne", "path": "a//b"});
    assert_eq!(read(&LENIENT, "get", &given), [json!({"id": 42, "search": "jane", "path": "a/b"})]);
    assert_eq!(read(&LOOSE, "get", &json!({"id": -42})), [json!({"id": -42}), json!({"id": 42})]);
    assert_eq!(read(&FILLED, "ask", &json!({"route": "/wp-json//a/"})), [json!({"route": "/a"})]);
    // Sites ignore the case of a route.
    assert_eq!(read(&FILLED, "ask", &json!({"route": "/WP/V2/Users"})), [json!({"route": "/wp/v2/users"})]);
    assert_eq!(read(&FILLED, "list", &json!({"type": "Users"})), [json!({"type": "users"})]);
    assert_eq!(read(&FILLED, "get", &json!({"path": "Mine/One"})), [json!({"path": "Mine/One"})]);
    assert!(read(&FILLED, "nothing", &json!({"id": 1})).is_empty());
}
