//! Tests the choice of checked arguments, the reports of mismatches, and the checks that are left to the server.

use super::*;

fn check(schema: &str, arguments: Option<&str>) -> Result<(), Invalid> {
    LazyValidator::new(Some(Bytes::copy_from_slice(schema.as_bytes())), 4096, None)
        .check(arguments.map(str::as_bytes), true)
}

#[test]
fn tells_what_does_not_fit_and_where() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
    assert_eq!(check(schema, Some(r#"{"a":1}"#)), Ok(()));
    let wrong = check(schema, Some(r#"{"a":"x"}"#)).unwrap_err().to_string();
    assert!(wrong.contains("at /a"), "{wrong}");
    assert!(check(schema, None).is_err());
}

/// A server that rejects `b`, and ignores arguments that its clients add.
#[derive(Debug)]
struct Names;

impl ReadsArguments for Names {
    fn readings(&self, _: &str, _: &[u8]) -> Vec<String> {
        Vec::new()
    }

    fn unknown_arguments(&self, tool: &str, arguments: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(arguments).unwrap();
        text.contains("\"b\"").then(|| format!("{tool} has no b"))
    }
}

#[test]
fn a_server_that_knows_names_itself_is_asked_for_them() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"array","items":{"properties":{},"additionalProperties":false}},
        "o":{"type":"object","additionalProperties":false}},"required":["a"],"additionalProperties":false}"#;
    let names = KnownNames { reader: Arc::new(Names), tool: "t".into() };
    let lazy = LazyValidator::new(Some(Bytes::from(schema)), 4096, Some(names));
    let told = |text: &str| lazy.check(Some(text.as_bytes()), true).map_err(|misfit| misfit.to_string());
    assert_eq!(told(r#"{"a":[{"x":1}],"o":{"x":1},"toolCallId":"c"}"#), Ok(()));
    assert_eq!(told(r#"{"a":[],"b":1}"#), Err("t has no b".to_owned()));
    let both = told(r#"{"b":1}"#).unwrap_err();
    assert!(both.starts_with("the arguments do not fit the tool's input schema: at /: "), "{both}");
    assert!(both.ends_with("; t has no b"), "{both}");
    assert!(check(schema, Some(r#"{"a":[],"toolCallId":"c"}"#)).is_err());
}

#[test]
fn null_counts_as_left_out_where_a_schema_wants_something_else() {
    let optional = r#"{"type":"object","properties":{"a":{"type":"boolean"}}}"#;
    assert_eq!(check(optional, Some(r#"{"a":null}"#)), Ok(()));
    assert!(check(optional, Some(r#"{"a":[null]}"#)).is_err());
}

#[test]
fn remote_references_are_never_fetched() {
    assert_eq!(check(r#"{"$ref":"http://127.0.0.1:9/x"}"#, Some("{}")), Ok(()));
    assert_eq!(check(r#"{"$ref":"file:///etc/passwd"}"#, Some("{}")), Ok(()));
}

/// A schema whose alternatives refer to further alternatives, in this many levels. Each level doubles the number of
/// paths.
fn doubling(levels: usize) -> String {
    let defs: Vec<String> = (1..=levels)
        .map(|n| {
            let below = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, n - 1);
            format!(r#","a{n}":{{"anyOf":[{below},{below}]}}"#)
        })
        .collect();
    let defs = defs.concat();
    format!(
        r##"{{"properties":{{"x":{{"$ref":"#/$defs/a{levels}"}}}},"$defs":{{"a0":{{"type":"string"}}{defs}}}}}"##
    )
}

#[test]
fn a_schema_that_asks_for_too_much_work_is_left_to_its_server() {
    for levels in [40, 200, 1000] {
        let schema = doubling(levels);
        let lazy = LazyValidator::new(Some(Bytes::from(schema)), 1 << 20, None);
        assert_eq!(lazy.check(Some(br#"{"x":1}"#), true), Ok(()), "{levels}");
    }
    // Everything that can be checked is checked, even if not all mismatches can be reported.
    assert!(check(&doubling(5), Some(r#"{"x":1}"#)).unwrap_err().to_string().contains("at /x"));
    let much = check(&doubling(14), Some(r#"{"x":1}"#)).unwrap_err().to_string();
    assert!(much.contains("too long"), "{much}");
    assert_eq!(check(&doubling(14), Some(r#"{"x":"s"}"#)), Ok(()));
}

#[test]
fn alternatives_that_hold_themselves_have_a_budget() {
    let schema = r##"{"properties":{"x":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[{"type":"string"},
        {"type":"array","items":{"$ref":"#/$defs/n"}},
        {"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"array","items":{"$ref":"#/$defs/n"}}]}}}"##;
    let nested = |depth: usize| format!("{{\"x\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(check(schema, Some(&nested(3))).unwrap_err().to_string().contains("at /x"));
    assert_eq!(check(schema, Some(&nested(100))), Ok(()));
}

#[test]
fn what_holds_itself_without_alternatives_is_checked_whole() {
    let schema = r##"{"$defs":{"tree":{"type":"object","properties":{"v":{"type":"integer"},
        "below":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}},"$ref":"#/$defs/tree"}"##;
    let tree = |leaf: &str| format!("{}{{\"v\":{leaf}}}{}", "{\"below\":[".repeat(40), "]}".repeat(40));
    assert_eq!(check(schema, Some(&tree("1"))), Ok(()));
    assert!(check(schema, Some(&tree("\"x\""))).unwrap_err().to_string().contains("/below/0/v"));
}

#[test]
fn a_long_chain_of_references_is_left_to_its_server() {
    let chain = |length: usize| {
        let below = |n: usize| format!(r##"{{"$ref":"#/$defs/a{}"}}"##, n - 1);
        let chain: Vec<String> =
            (1..=length).map(|n| format!(r#","a{n}":{{"anyOf":[{}]}}"#, below(n))).collect();
        let chain = chain.concat();
        let schema = format!(
            r##"{{"properties":{{"x":{{"$ref":"#/$defs/a{length}"}}}},"$defs":{{"a0":{{"type":"string"}}{chain}}}}}"##
        );
        LazyValidator::new(Some(Bytes::from(schema)), 1 << 20, None).check(Some(br#"{"x":1}"#), true)
    };
    assert!(chain(120).is_err());
    assert_eq!(chain(3000), Ok(()));
}

#[test]
fn large_arguments_are_checked_as_far_as_there_is_time() {
    let schema = r#"{"properties":{"rows":{"anyOf":[{"items":{"type":"string"}},{"type":"null"}]}}}"#;
    let rows = |count: usize| format!("{{\"rows\":[1{}]}}", ",1".repeat(count));
    let long = format!("{{\"rows\":[{:?}]}}", "x".repeat(1 << 20));
    assert_eq!(check(schema, Some(&long)), Ok(()));
    assert!(check(schema, Some(&rows(100))).unwrap_err().to_string().contains("at /rows"));
    assert!(check(schema, Some(&rows(50_000))).unwrap_err().to_string().contains("too long"));
    assert_eq!(check(schema, Some(&rows(2_000_000))), Ok(()));
}

/// A schema in which all parts apply to `x`. Each of the levels has twice as many parts as the level below.
fn all_of(levels: usize, leaf: &str) -> String {
    doubling(levels).replace("anyOf", "allOf").replace(r#"{"type":"string"}"#, leaf)
}

#[test]
fn long_texts_that_are_read_again_and_again_are_left_to_the_server() {
    let long = |length: usize| format!(r#"{{"x":"{}"}}"#, "a".repeat(length));
    let name = |length: usize| format!(r#"{{"x":{{"{}":1}}}}"#, "a".repeat(length));
    let equal = |length: usize| format!(r#"{{"x":[{0},{0}]}}"#, format!("{:?}", "a".repeat(length)));
    let draft7 =
        |schema: String| schema.replacen('{', r#"{"$schema":"http://json-schema.org/draft-07/schema#","#, 1);
    for (schema, arguments) in [
        (all_of(12, r#"{"maxLength":1}"#), &long as &dyn Fn(usize) -> String),
        (all_of(12, r#"{"minLength":9999999}"#), &long),
        (all_of(12, r#"{"enum":["b","c"]}"#), &long),
        (draft7(all_of(12, r#"{"contentMediaType":"application/json"}"#)), &long),
        (draft7(all_of(12, r#"{"contentEncoding":"base64"}"#)), &long),
        (all_of(12, r#"{"patternProperties":{"^a+$":false}}"#), &name),
        (all_of(12, r#"{"properties":{"b":{}},"additionalProperties":false}"#), &name),
        (all_of(12, r#"{"uniqueItems":true}"#), &equal),
    ] {
        assert!(check(&schema, Some(&arguments(3))).is_err(), "{schema}");
        assert_eq!(check(&schema, Some(&arguments(100_000))), Ok(()), "{schema}");
    }
    // A text that is read only a few times is checked, regardless of its length.
    assert!(check(r#"{"properties":{"x":{"maxLength":1}}}"#, Some(&long(4 << 20))).is_err());
}

#[test]
fn patterns_that_try_again_and_again_are_bounded() {
    let schema = r#"{"properties":{"x":{"pattern":"^(?=x)(x+x+)+y$"}}}"#;
    let text = |length: usize| format!("{{\"x\":{:?}}}", "x".repeat(length));
    assert!(check(schema, Some(&text(3))).is_err());
    // Such a text is not checked to the end.
    let _ = check(schema, Some(&text(100)));
    let many = format!("{{\"allOf\":[{}{{}}]}}", "{\"pattern\":\"(?=x)x\"},".repeat(100));
    assert_eq!(check(&many, Some("\"y\"")), Ok(()));
}

#[test]
fn references_are_found_as_they_are_written() {
    let schema = r##"{"properties":{"x":{"$ref":"#/definitions/a%20b~1c"}},
        "definitions":{"a b/c":{"type":"string"}}}"##;
    assert!(check(schema, Some(r#"{"x":1}"#)).is_err());
    // If a part is a separate document, references in it are relative to that part.
    let own = schema.replace("\"type\":\"string\"", "\"$id\":\"http://a/b\",\"type\":\"string\"");
    assert_eq!(check(&own, Some(r#"{"x":1}"#)), Ok(()));
}

#[test]
fn it_is_told_once_that_nothing_is_checked() {
    let lazy = |schema: Option<&str>| {
        LazyValidator::new(schema.map(|schema| Bytes::copy_from_slice(schema.as_bytes())), 1 << 16, None)
    };
    let long = format!("{{\"description\":\"{}\"}}", "x".repeat(1 << 16));
    let remote = r#"{"$ref":"http://127.0.0.1:9/x"}"#;
    for (schema, told) in [(Some(&*long), true), (Some(remote), true), (Some("{}"), false), (None, false)] {
        let lazy = lazy(schema);
        assert_eq!(lazy.unchecked(), None, "nobody has called it");
        assert_eq!(lazy.check(None, true), Ok(()));
        assert_eq!(lazy.unchecked().is_some(), told, "{schema:?}");
        assert_eq!(lazy.unchecked(), None);
    }
}

#[test]
fn a_schema_that_is_too_large_is_not_compiled() {
    let large = LazyValidator::new(Some(Bytes::from_static(b"{\"type\":\"string\"}")), 4, None);
    assert_eq!(large.check(Some(b"{}"), true), Ok(()));
}
