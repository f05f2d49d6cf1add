//! Properties of credentials, host names, and messages at endpoints with a dialect. The properties themselves are in the
//! fuzz targets.

extern crate dragoman_engine as engine;

#[path = "../../../fuzz/src/entrance/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
mod properties;

use properties::{credentials, dialects, hosts};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Bytes, many of which are valid in a header.
fn header() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![6 => 32..127_u8, 1 => Just(b'\t'), 1 => any::<u8>()], 0..120)
}

/// The members that are checked, with values of any kind.
fn object(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let texts = select(vec![
        "RS256",
        "EdDSA",
        "none",
        "HS256",
        "rs256",
        "JWT",
        "at+jwt",
        "dpop+jwt",
        "key-1",
        credentials::AUDIENCE,
        "https://other.example",
        "ann",
        "",
        "a\u{7}b",
        "mcp mcp:read",
    ]);
    let numbers =
        select(vec![json!(0), json!(1_700_000_000), json!(1.7e9), json!(-1), json!(u64::MAX), json!(1e300)]);
    let leaf = prop_oneof![
        4 => texts.prop_map(|text| json!(text)),
        3 => numbers,
        1 => any::<i64>().prop_map(|number| json!(number)),
        1 => Just(json!(null)),
        1 => any::<bool>().prop_map(|truth| json!(truth)),
    ];
    let value = leaf.prop_recursive(2, 6, 3, |inner| vec(inner, 0..3).prop_map(Value::Array));
    vec((select(names), value), 0..7).prop_map(|members| {
        Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

/// Claims that are close to valid ones.
fn claims() -> impl Strategy<Value = Value> {
    object(&["iss", "aud", "exp", "nbf", "sub", "client_id", "azp", "scope", "scp", "cnf"]).prop_flat_map(
        |some| {
            let right = json!({ "aud": credentials::AUDIENCE, "exp": 1_700_000_100, "sub": "ann" });
            (vec(any::<bool>(), 3), Just(some)).prop_map(move |(kept, mut some)| {
                for ((key, value), _) in
                    right.as_object().expect("an object").iter().zip(kept).filter(|(_, kept)| *kept)
                {
                    some[key] = value.clone();
                }
                some
            })
        },
    )
}

/// Text that resembles a host, made of significant pieces.
fn name() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "localhost",
        "127.0.0.1",
        "[::1]",
        "[",
        "]",
        ":",
        "80",
        ".",
        "@",
        "/",
        "#",
        "?",
        "evil.example",
        "known.example",
        "0",
        "::ffff:127.0.0.1",
        "%",
        "\\",
        " ",
        "http://",
        "https://",
        "null",
    ]);
    vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

/// Text that resembles a message.
fn message() -> impl Strategy<Value = String> {
    let values = || {
        select(vec![
            "1",
            "null",
            "\"a\"",
            "1e5",
            "{}",
            "[]",
            "true",
            "-0",
            "\"2.0\"",
            "\"tools/call\"",
            "\"tools/list\"",
            "\"initialize\"",
            "\"notifications/initialized\"",
            "{\"name\":\"hello\",\"arguments\":{\"name\":\"x\"}}",
            "{\"name\":\"bare\"}",
            "{\"name\":7}",
            "{\"protocolVersion\":\"1.0\"}",
            "{\"name\":\"hello\",\"name\":\"bare\"}",
        ])
    };
    let keys =
        select(vec!["jsonrpc", "id", "method", "params", "i\\u0064", "result", "error", "x", "me\\u0074hod"]);
    let member = (keys, values()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
    let usual = (values(), values(), values()).prop_map(|(id, method, params)| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}")
    });
    let odd = vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")));
    let one = prop_oneof![usual, odd];
    prop_oneof![
        4 => one.clone(),
        1 => vec(one, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
    ]
}

proptest! {
    #[test]
    fn any_value_of_authorization(bytes in header(), scheme in "(?i:bearer|basic)[ \t]{0,2}", word in "[!-~]{0,30}") {
        credentials::value(&bytes);
        credentials::value(&[scheme.as_bytes(), &bytes].concat());
        credentials::value(format!("{scheme}{word}").as_bytes());
    }

    #[test]
    fn any_name_and_password(user in ".{0,40}", password in ".{0,40}", plain in "[a-z]{1,9}") {
        credentials::pair(&user, &password);
        credentials::pair(&plain, &password);
    }

    #[test]
    fn any_token(head in object(&["alg", "typ", "kid", "crit", "jwk"]), body in claims(), signature: Vec<u8>, text in "[A-Za-z0-9_.-]{0,60}") {
        credentials::token(&text);
        credentials::made_token(head.to_string().as_bytes(), body.to_string().as_bytes(), &signature);
        credentials::made_token(b"{\"alg\":\"ES256\"}", body.to_string().as_bytes(), &signature);
    }

    #[test]
    fn any_claims(body in claims(), now in prop_oneof![Just(1_700_000_000_u64), any::<u64>()], skew in 0..200_u64) {
        credentials::check_claims(body.as_object().unwrap(), now, skew);
    }

    #[test]
    fn any_headers_for_a_site(lines in vec(prop_oneof![header(), Just(b"Basic YTpi".to_vec())], 0..11)) {
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        credentials::carried(&lines);
    }

    #[test]
    fn any_host_and_origin(name in name(), bytes in header()) {
        hosts::host(&name);
        hosts::origin(&name);
        hosts::origin(&format!("https://{name}"));
        hosts::address(&bytes);
        hosts::address(name.as_bytes());
    }

    #[test]
    fn any_message_at_any_row(text in message(), bytes: Vec<u8>, facts: u8) {
        for row in dialects::rows() {
            dialects::message(row, text.as_bytes(), facts);
            dialects::message(row, &bytes, facts);
        }
    }
}

/// Valid input is accepted: otherwise the properties would also hold for a parser that rejects everything.
#[test]
fn what_is_right_is_accepted() {
    use engine::credential::claims::{TokenRequirements, check};
    let right = json!({ "aud": [credentials::AUDIENCE], "exp": 1_700_000_100, "sub": "ann", "scope": "mcp" });
    let audiences = [credentials::AUDIENCE.into()];
    let expected = TokenRequirements { audiences: &audiences, skew: 0, now: 1_700_000_000 };
    assert_eq!(&*check(right.as_object().unwrap(), &expected).unwrap().subject, "ann");
    let known = engine::access::Hosts::new(true, &[], &[]);
    assert!(
        known.knows("localhost:80") && known.knows_origin("http://[::1]", "x") && !known.knows("example")
    );
    let lines: [&[u8]; 4] = [b"", b"https://a.example", b"ann", b"pw"];
    let headers: http::HeaderMap = credentials::CARRIED
        .iter()
        .zip(lines)
        .map(|(name, line)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_bytes(line).unwrap())
        })
        .collect();
    assert!(engine::credential::Carried::read(&headers).unwrap().account.unwrap().is_ok());
}
