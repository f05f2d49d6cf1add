//! Tests of the checks of listed items.

use super::*;

fn of(kind: ListKind, text: &str) -> ItemCheck {
    check(kind, text.as_bytes(), Structured::Object)
}

fn repaired(kind: ListKind, text: &str) -> String {
    match of(kind, text) {
        ItemCheck::Repaired(text, _) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_the_protocol_allows_is_sound() {
    let sound = [
        r#"{"name":"a","inputSchema":{"type":"object"},"x-own":[null,{"a":1}],"_meta":{}}"#,
        r#"{"name":"a","title":"A","description":"d","inputSchema":{"properties":{"p":{}},"required":["p"],"type":"object"},
            "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"other":1},
            "icons":[{"src":"data:x","sizes":["any"],"theme":"dark"}],"execution":{"taskSupport":"optional"}}"#,
    ];
    for text in sound {
        assert_eq!(of(ListKind::Tools, text), ItemCheck::Sound, "{text}");
    }
    let prompt = r#"{"name":"p","arguments":[{"name":"x","required":true}]}"#;
    assert_eq!(of(ListKind::Prompts, prompt), ItemCheck::Sound);
    let resource = r#"{"uri":"a:b","name":"n","size":3,"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}}"#;
    assert_eq!(of(ListKind::Resources, resource), ItemCheck::Sound);
    let any = r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}"#;
    assert_eq!(check(ListKind::Tools, any.as_bytes(), Structured::Any), ItemCheck::Sound);
}

#[test]
fn what_has_one_meaning_is_repaired() {
    let cases = [
        (r#"{"name":"a"}"#, r#"{"inputSchema":{"type":"object"},"name":"a"}"#),
        (r#"{"name":"a","inputSchema":null}"#, r#"{"name":"a","inputSchema":{"type":"object"}}"#),
        (r#"{"name":"a","inputSchema":{}}"#, r#"{"name":"a","inputSchema":{"type":"object"}}"#),
        (
            r#"{"title":null,"name":"a","inputSchema":{"type":"object"},"annotations":{"title":null}}"#,
            r#"{"name":"a","inputSchema":{"type":"object"},"annotations":{}}"#,
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(repaired(ListKind::Tools, text), wanted);
    }
    for schema in [r#"{"type":"array"}"#, "null", "5"] {
        let text = format!(r#"{{"name":"a","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        assert_eq!(repaired(ListKind::Tools, &text), r#"{"name":"a","inputSchema":{"type":"object"}}"#);
    }
    assert_eq!(repaired(ListKind::Resources, r#"{"uri":"a:b"}"#), r#"{"name":"a:b","uri":"a:b"}"#);
    assert_eq!(
        repaired(ListKind::Templates, r#"{"uriTemplate":"a:{b}","name":null}"#),
        r#"{"uriTemplate":"a:{b}","name":"a:{b}"}"#
    );
}

#[test]
fn what_cannot_be_understood_is_unsound() {
    let tools = [
        (r#"{"name":"a","inputSchema":[]}"#, "inputSchema is not an object"),
        (r#"{"name":"a","inputSchema":{"type":"string"}}"#, "requires \"object\""),
        (r#"{"name":"a","inputSchema":{"type":"object"},"description":5}"#, "description is not a string"),
        (r#"{"name":"a","inputSchema":{"type":"object","properties":"x"}}"#, "`properties` is not an object"),
        (r#"{"name":"a","inputSchema":{"properties":{"p":"string"}}}"#, "the property p is not a schema"),
    ];
    for (text, why) in tools {
        let ItemCheck::Unsound(found) = of(ListKind::Tools, text) else { panic!("{text}") };
        assert!(found.contains(why), "{text}: {found}");
    }
    let long = format!(r#"{{"name":"a","description":"{}"}}"#, "x".repeat(LONGEST));
    assert!(matches!(of(ListKind::Tools, &long), ItemCheck::Unsound(_)));
    assert!(matches!(of(ListKind::Prompts, r#"{"name":"a","arguments":{}}"#), ItemCheck::Unsound(_)));
    assert!(matches!(of(ListKind::Prompts, r#"{"name":"a","arguments":[{}]}"#), ItemCheck::Unsound(_)));
    assert!(matches!(
        of(ListKind::Resources, r#"{"uri":"a:b","name":"n","size":"3"}"#),
        ItemCheck::Unsound(_)
    ));
}

/// Without a hint, a tool can be used; without its list of icons, too.
#[test]
fn invalid_hints_and_icons_are_left_out() {
    for (more, wanted) in [
        (r#""annotations":{"readOnlyHint":"yes","title":"A"}"#, r#""annotations":{"title":"A"}"#),
        (r#""annotations":"x""#, ""),
        (r#""execution":{"taskSupport":"maybe"}"#, r#""execution":{}"#),
        (r#""icons":[{}]"#, ""),
        (r#""icons":"q""#, ""),
        (r#""icons":[{"src":"data:x","sizes":null},{"src":"data:y","theme":"blue"}]"#, ""),
        (r#""icons":[{"src":"data:x","sizes":null}]"#, r#""icons":[{"src":"data:x"}]"#),
        (r#""_meta":[]"#, r#""_meta":{}"#),
    ] {
        let tool = |more: &str| {
            let comma = if more.is_empty() { "" } else { "," };
            format!(r#"{{"name":"a","inputSchema":{{"type":"object"}}{comma}{more}}}"#)
        };
        assert_eq!(repaired(ListKind::Tools, &tool(more)), tool(wanted));
    }
    for hint in [
        r#""audience":["bot"]"#,
        r#""audience":"user""#,
        r#""priority":5"#,
        r#""priority":"1""#,
        r#""lastModified":"yesterday""#,
        r#""lastModified":"2025-01-12""#,
        r#""lastModified":"2025-01-12 15:00:58Z""#,
    ] {
        let resource = format!(r#"{{"uri":"a:b","name":"n","annotations":{{{hint}}}}}"#);
        assert_eq!(
            repaired(ListKind::Resources, &resource),
            r#"{"uri":"a:b","name":"n","annotations":{}}"#,
            "{hint}"
        );
    }
}

#[test]
fn schemas_that_sdks_refuse_are_repaired() {
    for (schema, wanted) in [
        (r#""properties":[]"#, r#""properties":{}"#),
        (r#""properties":null"#, r#""properties":{}"#),
        (
            r#""properties":{"a":true,"b":null,"c":[],"d":false,"e":{}}"#,
            r#""properties":{"a":{},"b":{},"c":{},"d":{"not":{}},"e":{}}"#,
        ),
        (r#""required":"a""#, ""),
        (r#""required":null"#, ""),
        (r#""required":true"#, ""),
        (r#""required":{}"#, ""),
        (r#""required":[1]"#, ""),
        (r#""$schema":7"#, ""),
    ] {
        let tool = |schema: &str| {
            let comma = if schema.is_empty() { "" } else { "," };
            format!(r#"{{"name":"a","inputSchema":{{"type":"object"{comma}{schema}}}}}"#)
        };
        assert_eq!(repaired(ListKind::Tools, &tool(schema)), tool(wanted));
        let with_output = |schema: &str| {
            let comma = if schema.is_empty() { "" } else { "," };
            format!(
                r#"{{"name":"a","inputSchema":{{"type":"object"}},"outputSchema":{{"type":"object"{comma}{schema}}}}}"#
            )
        };
        assert_eq!(repaired(ListKind::Tools, &with_output(schema)), with_output(wanted));
    }
    let output = r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":1,"properties":{"p":5}}}"#;
    assert_eq!(
        repaired(ListKind::Tools, output),
        r#"{"name":"a","inputSchema":{"type":"object"}}"#,
        "an output schema that cannot be understood"
    );
}
