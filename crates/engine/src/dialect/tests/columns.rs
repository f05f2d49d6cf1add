//! Columns by name: the values that can be set, and the values that are read back.

use super::*;

#[test]
fn every_column_of_every_row_can_be_set_to_what_it_is() {
    for row in Dialect::all() {
        for column in Dialect::COLUMNS {
            let mut same = row.clone();
            let value = row.get(column.name).unwrap();
            same.set(column.name, &value).unwrap_or_else(|e| panic!("{}: {e:?}", row.name));
            same.interpreted = row.interpreted;
            assert_eq!(same.get(column.name), Some(value), "{}.{}", row.name, column.name);
        }
    }
}

#[test]
fn every_variant_of_every_row_can_be_set_and_changes_something() {
    for row in Dialect::all() {
        for variant in row.variants {
            let mut other = row.clone();
            other.set("variant", &json!(variant.name)).unwrap_or_else(|e| panic!("{}: {e:?}", row.name));
            assert_ne!(other, row, "{} {}", row.name, variant.name);
        }
    }
}

#[test]
fn columns_are_named_once_and_explained() {
    let mut names: Vec<&str> = Dialect::COLUMNS.iter().map(|column| column.name).collect();
    for column in Dialect::COLUMNS {
        assert!(column.about.ends_with('.') && !column.about.starts_with(' '), "{}", column.name);
        assert!(!column.kind.allowed().is_empty());
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn names_and_their_aliases_find_a_row() {
    for name in Dialect::names() {
        assert!(Dialect::base(&name).is_some(), "{name}");
    }
    for (alias, name) in [("bb", "bb-1.0"), ("wordpress", "wordpress-v1")] {
        assert_eq!(Dialect::base(alias).unwrap().name, name);
    }
    let mut names: Vec<Text> = Dialect::all().map(|row| row.name).collect();
    assert_eq!(names.len(), 8);
    names.dedup();
    assert_eq!(names.len(), 8);
    assert_eq!(Dialect::base("nope"), None);
    assert!(!Dialect::base("standard").unwrap().interpreted);
}

#[test]
fn a_dialect_of_ones_own() {
    let mut row = Dialect::base("standard").unwrap();
    row.set("serverName", &json!("mine")).unwrap();
    assert!(row.interpreted);
    row.set("unknownTool.code", &json!(-32000)).unwrap();
    row.set("unknownTool", &json!({"message":"no {name}","data":{"tool":"{name}","x":null}})).unwrap();
    let e = Endpoint { row, ..Endpoint::of("standard") };
    let said = e.says(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope"}}"#);
    let data = json!({"tool":"nope","x":null});
    assert_eq!(said["error"], json!({"code":-32000,"message":"no nope","data":data}));
    let said = e.says(&initialize("2025-06-18"));
    assert_eq!(said["result"]["serverInfo"]["name"], "mine");
    assert_eq!(said["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(said["result"]["instructions"], "Be kind.");
    assert!(said["result"]["capabilities"]["tools"].is_object());
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let mut row = Dialect::base("gateway").unwrap();
    let before = row.clone();
    for (column, value, what) in [
        ("nope", json!(1), "nope is not a column of a dialect"),
        ("noId", json!("maybe"), "noId must be one of acknowledge, execute, refuse, answer"),
        ("noId", json!(1), "noId must be one of acknowledge, execute, refuse, answer"),
        (
            "checks",
            json!(["version"]),
            "checks must be a list of all of these words, in any order: version, id, method, params, known, initialized",
        ),
        ("ackStatus", json!(99), "ackStatus must be a whole number from 200 to 599"),
        ("unknownTool", json!({"kode":1}), "unknownTool has no member kode; it must be a mapping"),
        ("unknownTool.code", json!("x"), "unknownTool code must be a whole number"),
        ("noId.x", json!(1), "noId has no members"),
        ("capabilities", json!([]), "capabilities must be an object, or null"),
        ("era", json!("never"), "era must be a protocol version"),
        ("variant", json!("x"), "dialect gateway has no such variant; its variants: example"),
    ] {
        let told = row.set(column, &value).unwrap_err().reason;
        assert!(told.starts_with(what), "{told}");
    }
    assert_eq!(row, before);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let mut row = Dialect::base("kulturarv").unwrap();
    let before = row.clone();
    let some = "must be a list of at least one string, none of them empty";
    let strange = "has an unknown placeholder";
    for (column, value, what) in [
        ("versions", json!([]), some),
        ("versions", json!(["1", ""]), some),
        ("methods", json!([]), some),
        ("methods", json!(["tools/\nlist"]), some),
        ("pingSeconds", json!(0), "must be a whole number from 1 to 604800"),
        ("pingEvent", json!("a\nb"), "must be a string of one line, or null"),
        ("pingEvent", json!(""), "must be a string of one line, or null"),
        ("errorEvent", json!("a\rb"), "must be a string of one line"),
        ("openingComment", json!("a\nb"), "must be a string of one line, which may be empty"),
        ("endpointData", json!("{path}\n"), "must be a string of one line"),
        ("endpointData", json!("{nam}"), strange),
        ("messagePath", json!("message"), "must be a path without a query, such as /message"),
        ("messagePath", json!("/m?x=1"), "must be a path without a query, such as /message"),
        ("messagePath", json!("/../m"), "must be a path without a query, such as /message"),
        ("sessionParameter", json!("a&b"), "must be the name of a query parameter, such as session_id"),
        ("corsHeaders", json!(["A\r\nB: c"]), "must be a list of HTTP header names"),
        ("serverName", json!("My {nam}"), strange),
        ("info", json!({"a":["{nam}"]}), strange),
        ("unknownTool", json!({"message":"no {nam}"}), strange),
        ("unknownTool", json!({"data":{"a":{"b":"{nam}"}}}), strange),
        ("unknownTool.body", json!("{nam}"), strange),
        ("unknownTool.message", json!("{text}"), strange),
    ] {
        let told = row.set(column, &value).expect_err(column).reason;
        let name = column.split('.').next().unwrap();
        assert_eq!(told, format!("{name} {what}"));
    }
    assert_eq!(row, before);
    let help = row.set("serverName", &json!("{nam}")).unwrap_err().help;
    assert_eq!(help.as_deref(), Some("write one of {profile}"));
    row.set("pingEvent", &json!(null)).unwrap();
    row.set("unknownTool", &json!({"message":"{ \"a\": {} } {name}","data":"{text}"})).unwrap();
}

#[test]
fn placeholders_that_stand_for_nothing_take_their_member_along() {
    let mut row = Dialect::base("standard").unwrap();
    row.set(
        "internal",
        &json!({"message":"It broke: {server}","data":{"a":"{server}","b":["{url}",1],"c":"at {server}!"}}),
    )
    .unwrap();
    let e = Endpoint { row, ..Endpoint::of("standard") };
    let internal = crate::fault::Condition::Internal;
    let said = json(&refuse(&e.row, None, &DialectFault::new(internal, "x")));
    assert_eq!(said["error"], json!({"code":-32603,"message":"It broke","data":{"b":[1],"c":"at!"}}));
    let quoted = json(&refuse(&e.row, None, &DialectFault::new(internal, "x").of("a\"{name}\n")));
    assert_eq!(quoted["error"]["data"]["a"], "a\"{name}\n");
}

#[test]
fn browsers_are_told_what_they_may() {
    let cross = CrossOriginRequest { origin: "https://a.example", allowed: true, preflight: true };
    let row = Dialect::base("kulturarv").unwrap();
    let lines = cross_origin(&row, cross);
    assert!(lines.contains(&("access-control-allow-origin", "https://a.example".to_owned())));
    assert!(lines.contains(&("access-control-allow-methods", "GET, POST, OPTIONS".to_owned())));
    assert!(cross_origin(&row, CrossOriginRequest { allowed: false, ..cross }).is_empty());
    let mut any = row.clone();
    any.set("corsOrigins", &json!("any")).unwrap();
    any.set("corsCredentials", &json!(false)).unwrap();
    let lines = cross_origin(&any, CrossOriginRequest { allowed: false, preflight: false, ..cross });
    assert!(lines.contains(&("access-control-allow-origin", "*".to_owned())));
    assert!(cross_origin(&Dialect::base("buddyboss").unwrap(), cross).is_empty());
}

#[test]
fn batches_are_a_choice() {
    let e = Endpoint::of("standard").set("batches", &json!("each"));
    let text = format!(r#"[{LIST},{{"jsonrpc":"2.0","method":"notifications/x"}},5,{{"id":8}}]"#);
    let DialectMessage::Batch(all) = e.read(&text) else { panic!("no batch") };
    assert!(matches!(
        all[..],
        [
            DialectMessage::Ask(_),
            DialectMessage::Notified(..),
            DialectMessage::Done(_),
            DialectMessage::Done(_)
        ]
    ));
    let replies: Vec<DialectReply> = all
        .into_iter()
        .filter_map(|one| match one {
            DialectMessage::Done(reply) | DialectMessage::Notified(reply, _) => Some(reply),
            _ => None,
        })
        .collect();
    assert_eq!(json(&gather(&e.row, replies)).as_array().unwrap().len(), 2);
    assert_eq!(gather(&e.row, vec![]).status, 202);
    let told = e.set("ackBody", &json!("{\"ok\":true}"));
    let DialectMessage::Batch(all) = told.read(r#"[{"jsonrpc":"2.0","method":"notifications/x"},5]"#) else {
        panic!("no batch");
    };
    let replies = all.into_iter().map(|one| match one {
        DialectMessage::Done(reply) | DialectMessage::Notified(reply, _) => reply,
        other => panic!("{other:?}"),
    });
    let gathered = json(&gather(&told.row, replies.collect()));
    assert_eq!(gathered.as_array().unwrap().len(), 1, "a notification is not answered: {gathered}");
    let e = Endpoint::of("standard").set("batches", &json!("each"));
    assert!(matches!(e.read("[]"), DialectMessage::Done(_)));
    assert!(matches!(e.read("[1"), DialectMessage::Done(_)));
}
