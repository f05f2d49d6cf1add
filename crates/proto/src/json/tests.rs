//! Hand-written cases of the scanner and of splices; the rest is in the property tests.

use super::*;

fn problem(text: &[u8]) -> Option<Problem> {
    match Scanner::new(text, MAX_DEPTH) {
        Ok(scanner) => scanner.document().err().map(|e| e.problem),
        Err(e) => Some(e.problem),
    }
}

#[test]
fn accepts_what_the_rfc_allows() {
    for text in [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "1e2",
        "1E+2",
        "1.2345678901234567890",
        "-0.5e-7",
        "\"\"",
        "\"a\\u00e9\\ud800\\n\"",
        "[]",
        "[ ]",
        "[1,[2,[3]],{}]",
        "{}",
        "{ \"a\" : [ ] , \"b\":{\"c\":null}}",
    ] {
        assert_eq!(problem(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn refuses_what_it_does_not() {
    for (text, want) in [
        ("", Problem::Truncated),
        ("{", Problem::Truncated),
        ("[1", Problem::Truncated),
        ("\"a", Problem::Truncated),
        ("tru", Problem::Truncated),
        ("trux", Problem::Unexpected),
        ("[1,]", Problem::Unexpected),
        ("{\"a\":1,}", Problem::Unexpected),
        ("{a:1}", Problem::Unexpected),
        ("{\"a\" 1}", Problem::Unexpected),
        ("[1}", Problem::Unexpected),
        ("01", Problem::Trailing),
        ("1.", Problem::Number),
        ("-", Problem::Number),
        ("1e", Problem::Number),
        ("\"\n\"", Problem::Control),
        ("\"\\x\"", Problem::Escape),
        ("\"\\u12g4\"", Problem::Escape),
        ("1 2", Problem::Trailing),
        ("+1", Problem::Unexpected),
    ] {
        assert_eq!(problem(text.as_bytes()), Some(want), "{text}");
    }
    assert_eq!(problem(b"\"\xff\""), Some(Problem::Utf8));
}

#[test]
fn depth_is_capped_without_recursion() {
    let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert_eq!(problem(deep(128).as_bytes()), None);
    assert_eq!(problem(deep(129).as_bytes()), Some(Problem::Depth));
    assert_eq!(problem("[".repeat(1 << 20).as_bytes()), Some(Problem::Depth));
}

#[test]
fn lists_may_nest_deeper() {
    let deep = |n: usize| "[{\"a\":".repeat(n / 2) + "1" + &"}]".repeat(n / 2);
    let read = |text: &str, depth| Scanner::new(text.as_bytes(), depth).unwrap().document();
    for depth in [126, 128, 130, 254, 256, 258, 1022, 1024] {
        assert_eq!(read(&deep(depth), LIST_DEPTH), Ok(()), "{depth}");
        assert_eq!(read(&deep(depth), MAX_DEPTH).is_ok(), depth <= 128, "{depth}");
        let broken = deep(depth).replace("1}", "1]");
        assert_eq!(read(&broken, LIST_DEPTH).unwrap_err().problem, Problem::Unexpected, "{depth}");
    }
    assert_eq!(read(&deep(1026), LIST_DEPTH).unwrap_err().problem, Problem::Depth);
    let wide = format!("[{0},{0}]", deep(300));
    assert_eq!(read(&wide, LIST_DEPTH), Ok(()), "siblings are as deep as each other");
}

#[test]
fn an_array_is_a_level_of_nesting() {
    let scanner = |depth| Scanner::new(b"[1]", depth).unwrap();
    assert!(Elements::scan(scanner(1), 0, 8).is_ok());
    assert_eq!(Elements::scan(scanner(0), 0, 8).unwrap_err().problem, Problem::Depth);
}

#[test]
fn members_resolve_escaped_keys() {
    let text = br#"{"na\u006de":1,"b":{"c":[]}}"#;
    let members = Members::of_document(text, 8).unwrap();
    assert_eq!(members.get(text, "name").unwrap().of(text), b"1");
    assert_eq!(members.get(text, "b").unwrap().of(text), br#"{"c":[]}"#);
    assert_eq!(members.get(text, "c"), None);
}

#[test]
fn a_doubled_key_is_not_unique() {
    let text = br#"{"a":1,"\u0061":2}"#;
    let members = Members::of_document(text, 8).unwrap();
    assert_eq!(members.unique(text, "a"), Err(Duplicate("a")));
    assert_eq!(members.get(text, "a").unwrap().of(text), b"2");
}

fn spliced(text: &[u8], edit: impl for<'a> FnOnce(&mut Splice<'a>, &'a Members)) -> String {
    let members = Members::of_document(text, 8).unwrap();
    let mut splice = Splice::new(text);
    edit(&mut splice, &members);
    String::from_utf8(splice.finish().to_vec()).unwrap()
}

#[test]
fn set_replaces_or_adds() {
    assert_eq!(
        spliced(br#"{ "a": 1e2 }"#, |s, m| {
            s.set(m, b"a", b"2");
        }),
        r#"{ "a": 2 }"#
    );
    assert_eq!(
        spliced(b"{}", |s, m| {
            s.set(m, b"a", b"2");
        }),
        r#"{"a":2}"#
    );
    assert_eq!(
        spliced(br#"{"b":1}"#, |s, m| {
            s.set(m, b"a", b"2");
        }),
        r#"{"a":2,"b":1}"#
    );
}

#[test]
fn remove_takes_one_comma_along() {
    for (from, to) in [
        (r#"{"x":1}"#, "{}"),
        (r#"{"x":1,"b":2}"#, r#"{"b":2}"#),
        (r#"{"b":2,"x":1}"#, r#"{"b":2}"#),
        (r#"{"b":2,"x":1,"c":3}"#, r#"{"b":2,"c":3}"#),
        (r#"{"x":1,"x":2,"c":3}"#, r#"{"c":3}"#),
        (r#"{"x":1,"c":3,"x":2}"#, r#"{"c":3}"#),
        (r#"{"a":0,"x":1,"x":2}"#, r#"{"a":0}"#),
    ] {
        assert_eq!(
            spliced(from.as_bytes(), |s, m| {
                s.remove(m, b"x");
            }),
            to
        );
    }
}

#[test]
fn edits_go_by_the_meaning_of_a_key_and_hold_for_each_time_that_it_stands() {
    let text = br#"{"na\u006de":1,"b":2,"name":3}"#;
    assert_eq!(
        spliced(text, |s, m| {
            s.set(m, b"name", b"9");
        }),
        r#"{"na\u006de":9,"b":2,"name":9}"#
    );
    assert_eq!(
        spliced(text, |s, m| {
            s.remove(m, b"name");
        }),
        r#"{"b":2}"#
    );
}

#[test]
fn several_edits_of_one_object_agree_on_commas() {
    assert_eq!(
        spliced(br#"{"a":1,"b":2}"#, |s, m| {
            s.remove(m, b"a").remove(m, b"b");
        }),
        "{}"
    );
    assert_eq!(
        spliced(br#"{"a":1}"#, |s, m| {
            s.remove(m, b"a").set(m, b"x", b"8").set(m, b"y", b"9");
        }),
        r#"{"x":8,"y":9}"#
    );
    assert_eq!(
        spliced(br#"{"a":1,"b":2,"c":3,"d":4}"#, |s, m| {
            s.remove(m, b"c").remove(m, b"a").set(m, b"b", b"5").remove(m, b"d").set(m, b"x", b"8");
        }),
        r#"{"x":8,"b":5}"#
    );
    assert_eq!(
        spliced(br#"{"a":1}"#, |s, m| {
            s.set(m, b"a", b"2").remove(m, b"a").set(m, b"x", b"8").set(m, b"x", b"9");
        }),
        r#"{"x":9}"#
    );
    assert_eq!(
        spliced(br#"{"a":1}"#, |s, m| {
            s.remove(m, b"a").set(m, b"a", b"2").set(m, b"x", b"8").remove(m, b"x");
        }),
        r#"{"a":2}"#
    );
}

#[test]
fn quotes_and_unquotes() {
    for text in ["", "plain", "\"\\/\u{8}\u{c}\n\r\t\u{1}", "é😀"] {
        let quoted = quote(text);
        assert_eq!(unquote(&quoted.as_bytes()[1..quoted.len() - 1]).as_deref(), Some(text));
    }
    assert_eq!(unquote(br"\ud83d\ude00").as_deref(), Some("😀"));
    assert_eq!(unquote(br"\ud83d"), None);
    assert_eq!(unquote(br"\ude00"), None);
}
