//! Hand-written cases of the header codec; properties are in `tests/codec.rs`.

use super::*;

#[test]
fn encodes_as_the_specification_shows() {
    let cases = [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("tab\tin the middle", "tab\tin the middle"),
        ("tab at the end\t", "=?base64?dGFiIGF0IHRoZSBlbmQJ?="),
        ("", ""),
        ("\u{7f}", "=?base64?fw==?="),
        ("=?base64?open", "=?base64?open"),
    ];
    for (text, value) in cases {
        assert_eq!(encode_value(text), value);
        assert_eq!(decode_value(value.as_bytes()).unwrap(), text);
    }
}

#[test]
fn decodes_after_stripping_white_space() {
    assert_eq!(decode_value(b" \t echo \t").unwrap(), "echo");
    assert_eq!(decode_value(b"\t=?base64?ZWNobw==?= ").unwrap(), "echo");
    assert_eq!(decode_value(b" \t ").unwrap(), "");
}

#[test]
fn the_markers_are_case_sensitive_and_do_not_overlap() {
    for plain in
        ["=?BASE64?ZWNobw==?=", "=?base64?=", "=?base64?ZWNobw==", "ZWNobw==?=", "x=?base64?ZWNobw==?="]
    {
        assert_eq!(decode_value(plain.as_bytes()).unwrap(), plain);
    }
    assert_eq!(decode_value(b"=?base64??=").unwrap(), "");
}

#[test]
fn refuses_bad_values() {
    let bad: [(&[u8], HeaderError); 8] = [
        ("né".as_bytes(), HeaderError::Character),
        (b"a\nb", HeaderError::Character),
        (b"a\0b", HeaderError::Character),
        (b"=?base64?ZWNobw?=", HeaderError::Base64),
        (b"=?base64?ZWNo!w==?=", HeaderError::Base64),
        (b"=?base64?ZWNobw==  ?=", HeaderError::Base64),
        (b"=?base64?_-8=?=", HeaderError::Base64),
        (b"=?base64?/w==?=", HeaderError::Utf8),
    ];
    for (value, error) in bad {
        assert_eq!(decode_value(value), Err(error), "{}", value.escape_ascii());
    }
}

#[test]
fn compares_strings_by_meaning() {
    assert!(mirrors("echo", br#""echo""#));
    assert!(mirrors("echo", br#""\u0065cho""#));
    assert!(mirrors("😀\n", br#""\ud83d\ude00\n""#));
    assert!(mirrors("", br#""""#));
    assert!(!mirrors("Echo", br#""echo""#));
    assert!(!mirrors("\u{fffd}", br#""\ud83d""#));
    assert!(!mirrors("42", br#""42.0""#));
    assert!(!mirrors("", br#"""#));
}

#[test]
fn compares_numbers_by_value() {
    for spelling in ["42", "42.0", "4.2e1", "4.2E+1", "420e-1", "0.42e2", "0.0042e4", "42e-0"] {
        for other in ["42", "42.0", "0.42e02", "42000e-3"] {
            assert!(mirrors(spelling, other.as_bytes()), "{spelling} {other}");
        }
        for other in ["-42", "42.1", "420", "4.2", "0", "43", "42.00000000000000000001"] {
            assert!(!mirrors(spelling, other.as_bytes()), "{spelling} {other}");
        }
    }
    assert!(mirrors("-0", b"0.0e7"));
    assert!(mirrors("9007199254740993", b"9007199254740993.0"));
    assert!(!mirrors("9007199254740993", b"9007199254740992"));
    for bad in ["", "+42", "042", "42.", ".42e2", "4_2", "0x2a", "42e", "42 ", "4 2", "４２", "NaN"] {
        assert!(!mirrors(bad, b"42"), "{bad}");
    }
    assert!(!mirrors("1e9999999999999999999", b"1e9999999999999999999"), "too large to be compared");
}

#[test]
fn compares_booleans_and_nothing_else() {
    assert!(mirrors("true", b"true") && mirrors("false", b"false"));
    assert!(!mirrors("True", b"true") && !mirrors("1", b"true") && !mirrors("false", b"true"));
    for json in ["null", "{}", "[]", "", "tru"] {
        assert!(!mirrors(json, json.as_bytes()));
    }
}

#[test]
fn makes_values_from_json() {
    let made = |json: &'static str| value_of(json.as_bytes()).unwrap().unwrap();
    assert_eq!(made(r#""us-west1""#), "us-west1");
    assert_eq!(made(r#""line1\nline2""#), "=?base64?bGluZTEKbGluZTI=?=");
    assert_eq!(made("true"), "true");
    assert_eq!(made("-7"), "-7");
    assert_eq!(made("1e2"), "100");
    assert_eq!(made("42.0"), "42");
    assert_eq!(made("-0"), "0");
    assert_eq!(made("9007199254740991"), "9007199254740991");
    assert_eq!(value_of(b"null"), Ok(None));
    for json in ["9007199254740992", "-9007199254740992", "4.5", "1e300", "{}", "[]", r#""\ud800""#] {
        assert_eq!(value_of(json.as_bytes()), Err(HeaderError::NotMirrored), "{json}");
    }
}

#[test]
fn annotations_are_tokens_and_unique() {
    assert_eq!(check_annotations([("region", "Region"), ("a.b", "X-1"), ("c", "!#$%&'*+-.^_`|~")]), Ok(()));
    for name in ["", "two words", "a:b", "né", "a\r\nb", "a/b", "a\"b"] {
        let expected = AnnotationError::NotAToken { path: "p".into(), name: name.into() };
        assert_eq!(check_annotations([("p", name)]), Err(expected));
        assert_eq!(param_header(name), None);
    }
    let expected = AnnotationError::Repeated { path: "b".into(), name: "REGION".into(), other: "a".into() };
    assert_eq!(check_annotations([("a", "Region"), ("b", "REGION")]), Err(expected));
    assert_eq!(param_header("Region").unwrap(), "mcp-param-region");
}
