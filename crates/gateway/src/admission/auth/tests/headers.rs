//! Tests with arbitrary header values: they cause no panic, admit nobody, and do not appear in any message.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::credential::authorization::{ShownCredential, read, value};
use http::HeaderValue;
use http::header::{AUTHORIZATION, HeaderMap};
use proptest::prelude::*;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::super::Authenticator;
use super::rig::{Book, World, at, open_with};
use super::signer::*;
use super::users::hash;

/// An authenticator with all methods enabled, so each of them is tried.
static PLACE: LazyLock<Authenticator> = LazyLock::new(|| {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    let auth = format!(
        "{{ bearer: the-one-token, keys: true, users: {{ ann: '{}' }}, jwt: {{ issuer: '{ISSUER}', jwks: '{KEYS}', audience: '{RESOURCE}' }} }}",
        hash("password")
    );
    open_with(&auth, &world, &Arc::new(Book::default()))
});

fn refused(value: &HeaderValue) -> Result<(), TestCaseError> {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, value.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let denied = runtime.block_on(PLACE.identify_at(&headers, at(0)));
    let denied = denied.expect_err("nobody guesses this");
    // Short words may occur in our own message by chance.
    let said = format!("{denied:?}");
    for word in
        String::from_utf8_lossy(value.as_bytes()).split([' ', ':', '.']).filter(|word| word.len() > 12)
    {
        prop_assert!(!said.contains(word), "{word} in {said}");
    }
    Ok(())
}

fn header_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(9_u8), 32..127_u8, 128..=255_u8], 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_value(bytes in header_bytes()) {
        refused(&HeaderValue::from_bytes(&bytes).unwrap())?;
    }

    #[test]
    fn any_value_of_a_known_scheme(scheme in "(?i:bearer|basic|digest|negotiate)[ \t]{0,3}", bytes in header_bytes()) {
        refused(&HeaderValue::from_bytes(&[scheme.as_bytes(), &bytes].concat()).unwrap())?;
    }

    #[test]
    fn any_pair(user in ".{0,40}", password in ".{0,40}") {
        prop_assume!((user.as_str(), password.as_str()) != ("ann", "password"));
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        refused(&HeaderValue::from_str(&format!("Basic {pair}")).unwrap())?;
    }

    #[test]
    fn any_bytes_as_a_pair(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        refused(&HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(bytes))).unwrap())?;
    }

    #[test]
    fn any_text_that_looks_like_a_key(rest in "[0-9A-Za-z]{0,60}") {
        refused(&HeaderValue::from_str(&format!("Bearer dgm_{rest}")).unwrap())?;
    }

    #[test]
    fn any_json_in_a_token(head in any_object(), claims in any_object(), signature in prop::collection::vec(any::<u8>(), 0..300)) {
        let token = format!("{}.{}.{}", encoded(head), encoded(claims), encoded(signature));
        refused(&HeaderValue::from_str(&format!("Bearer {token}")).unwrap())?;
    }

    #[test]
    fn a_pair_is_read_as_it_was_written(user in "[^:\\p{Cc}]{1,40}", password in "[^\\p{Cc}]{0,40}") {
        let header = format!("basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        let Ok(ShownCredential::Basic(basic)) = read(header.as_bytes()) else { panic!("{header}") };
        prop_assert_eq!(basic.user, user);
        prop_assert_eq!(basic.password.expose_secret(), password);
    }
}

/// Objects with the members that the gateway reads, with values of any type.
fn any_object() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "alg", "typ", "kid", "crit", "jwk", "iss", "aud", "sub", "exp", "nbf", "scope", "scp", "cnf", "x",
    ]);
    let texts =
        prop::sample::select(vec!["RS256", "ES256", "none", "JWT", "rsa", ISSUER, RESOURCE, "", "mcp mcp"]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|v| json!(v)),
        any::<i64>().prop_map(|v| json!(v)),
        any::<f64>().prop_map(|v| json!(v)),
        texts.prop_map(|v| json!(v)),
    ];
    let value =
        leaf.prop_recursive(3, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(|v| json!(v)));
    prop::collection::vec((names, value), 0..8)
        .prop_map(|members| {
            serde_json::Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
        })
        .prop_map(|object| object.to_string())
}

#[test]
fn a_long_header_is_not_read_and_a_deep_token_not_followed() {
    let mut headers = HeaderMap::new();
    headers
        .insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", "a".repeat(16 * 1024))).unwrap());
    assert!(value(&headers).is_err());
    let deep = format!("{{\"alg\":{}1{}}}", "[".repeat(3000), "]".repeat(3000));
    let token = format!("{}.{}.AAAA", encoded(&deep), encoded("{}"));
    refused(&HeaderValue::from_str(&format!("Bearer {token}")).unwrap()).unwrap();
    let long = BASE64_STANDARD.encode(format!("ann:{}", "a".repeat(4000)));
    assert!(read(format!("Basic {long}").as_bytes()).is_err());
}

#[test]
fn what_comes_near_a_scheme_is_none() {
    for text in [
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Bearer\tx",
        "Bearerx y",
        "Basic",
        "Basic ",
        " Bearer x",
        "Bearer x y",
        "Basic YTpi YTpi",
        "Basic YTpi=",
        "Basic YWI=",
        "Basic OmI=",
        "Basic YQo6Yg==",
        "Bearer \u{e4}",
    ] {
        assert!(read(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(
        matches!(read(b"Bearer   x"), Ok(ShownCredential::Bearer("x"))),
        "more spaces than one (RFC 9110, 11.4)"
    );
}
