//! Credentials in headers: the parser finds the same values as a second, independent one, and `Debug` prints none of
//! them.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use engine::credential::authorization::{self, ShownCredential};
use engine::credential::claims::{self, TokenRequirements};
use engine::credential::{Carried, Token};
use http::{HeaderMap, HeaderValue};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};

/// The audience that tokens must name.
pub const AUDIENCE: &str = "https://gateway.example/mcp";
/// The headers for a site behind the tools, in the order of the lines that [`carried`] takes.
pub const CARRIED: [&str; 5] =
    ["authorization", "x-wordpress-url", "x-wordpress-username", "x-wordpress-password", "x-imgbb-api-key"];

/// The fuzzer's entry: the bytes are used as a value of the header, as a token, as parts of a token, and as lines of
/// headers.
pub fn fuzz(input: &[u8]) {
    value(input);
    for scheme in [&b"Bearer "[..], b"basic "] {
        value(&[scheme, input].concat());
    }
    value(format!("Basic {}", BASE64_STANDARD.encode(input)).as_bytes());
    let text = String::from_utf8_lossy(input);
    token(&text);
    let mut parts = input.splitn(3, |byte| *byte == b'|');
    let mut part = || parts.next().unwrap_or_default();
    made_token(part(), part(), part());
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    carried(&lines);
    if let Some((user, password)) = text.split_once('|') {
        pair(user, password);
    }
}

/// Checks any value of `Authorization`.
pub fn value(value: &[u8]) {
    let plain = std::str::from_utf8(value).ok();
    let words: Vec<&str> = plain.unwrap_or_default().split_ascii_whitespace().collect();
    match authorization::read(value) {
        Ok(shown) => {
            let [scheme, credential] = words[..] else { panic!("a scheme and a credential") };
            let name = format!("{shown:?}");
            assert!(scheme.eq_ignore_ascii_case(&name), "{scheme} is not {name}");
            assert!(credential.bytes().all(|byte| byte.is_ascii_graphic()));
            match shown {
                ShownCredential::Bearer(token) => assert_eq!(token, credential),
                ShownCredential::Basic(basic) => {
                    let password = basic.password.expose_secret();
                    let pair = format!("{}:{password}", basic.user);
                    assert_eq!(BASE64_STANDARD.encode(&pair), credential);
                    assert!(!basic.user.is_empty() && !basic.user.contains(':'));
                    assert!(!pair.chars().any(char::is_control));
                    assert_eq!(format!("{basic:?}"), "Basic");
                }
            }
        }
        Err(why) => {
            let well_formed = value.starts_with(b"Bearer ") && words.len() == 2;
            let graphic = value.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
            assert!(!(well_formed && graphic), "a bearer token was refused: {why}");
        }
    }
}

/// Checks any user name and password: they are read back unchanged, unless a valid pair cannot contain them.
pub fn pair(user: &str, password: &str) {
    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let header = format!("Basic {encoded}");
    let odd = |text: &str| text.chars().any(char::is_control);
    match authorization::read(header.as_bytes()) {
        Ok(ShownCredential::Basic(basic)) if !user.contains(':') => {
            assert_eq!((basic.user.as_str(), basic.password.expose_secret()), (user, password));
        }
        Ok(ShownCredential::Basic(basic)) => assert!(user.starts_with(&format!("{}:", basic.user))),
        Ok(ShownCredential::Bearer(_)) => panic!("a pair was read as a token"),
        Err(_) => {
            let begins = user.is_empty() || user.starts_with(':');
            assert!(begins || odd(user) || odd(password) || encoded.len() > 2048);
        }
    }
}

/// Checks any text as a token: its parts equal those in its JSON, and its signature algorithm uses a public key.
pub fn token(text: &str) {
    let Ok(token) = Token::read(text) else { return };
    let parts: Vec<&str> = text.split('.').collect();
    let [head, body, signature] = parts[..] else { panic!("three parts") };
    let decoded = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).expect("it was decoded before");
    let head: Value = serde_json::from_slice(&decoded(head)).expect("it was read before");
    assert_eq!(head["alg"].as_str(), Some(token.algorithm.name()));
    let name = token.algorithm.name();
    assert!(["RS", "PS", "ES", "Ed"].iter().any(|kind| name.starts_with(kind)), "{name}");
    assert!(head.get("crit").is_none());
    assert_eq!(head.get("kid").and_then(Value::as_str), token.kid.as_deref());
    let body_of: Value = serde_json::from_slice(&decoded(body)).expect("it was read before");
    assert_eq!(body_of.as_object(), Some(&token.claims));
    assert_eq!(token.signature, decoded(signature));
    assert!(!token.signature.is_empty());
    assert!(text.as_bytes().starts_with(token.signed));
    assert_eq!(token.signed.len() + 1 + signature.len(), text.len());
    let shown = format!("{token:?}");
    assert!(body.len() < 12 || !shown.contains(body));
    for now in [0, 1_700_000_000, u64::MAX] {
        for skew in [0, 60, u64::MAX] {
            check_claims(&token.claims, now, skew);
        }
    }
}

/// Checks a token that is made of any header, claims and signature.
pub fn made_token(head: &[u8], body: &[u8], signature: &[u8]) {
    let [head, body, signature] = [head, body, signature].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
    token(&format!("{head}.{body}.{signature}"));
}

/// Checks any claims: accepted ones name this audience and a subject, are within their period of validity, and are not
/// bound to a key.
pub fn check_claims(said: &Map<String, Value>, now: u64, skew: u64) {
    let audiences = [AUDIENCE.into()];
    let Ok(accepted) = claims::check(said, &TokenRequirements { audiences: &audiences, skew, now }) else {
        return;
    };
    let is_ours = |value: &Value| value.as_str() == Some(AUDIENCE);
    let audience = &said["aud"];
    assert!(is_ours(audience) || audience.as_array().is_some_and(|all| all.iter().any(is_ours)));
    assert!(!said.contains_key("cnf"));
    assert!(now < accepted.ends);
    #[allow(clippy::cast_precision_loss)]
    let (now, skew) = (now as f64, skew as f64);
    // A float is not exact for very large numbers, but it is for real times.
    assert!(said["exp"].as_f64().expect("a time") + skew >= now - 1.0);
    if let Some(begins) = said.get("nbf") {
        assert!(begins.as_f64().expect("a time") <= now + skew + 1.0);
    }
    assert!(!accepted.subject.is_empty() && !accepted.subject.chars().any(char::is_control));
    assert!(
        ["sub", "client_id", "azp"]
            .iter()
            .any(|key| { said.get(*key).and_then(Value::as_str) == Some(&*accepted.subject) })
    );
}

/// Checks any values of the headers [`CARRIED`], which may be repeated: an account is complete and each of its headers
/// occurs once, or the error says what is missing.
pub fn carried(lines: &[&[u8]]) {
    let mut headers = HeaderMap::new();
    for (name, line) in CARRIED.iter().cycle().zip(lines.iter().take(12)) {
        let Ok(value) = HeaderValue::from_bytes(line) else { continue };
        headers.append(*name, value);
    }
    let Some(carried) = Carried::read(&headers) else { return };
    assert_eq!(format!("{carried:?}"), "Carried(..)");
    let single = |name: &str| {
        assert_eq!(headers.get_all(name).iter().count(), 1, "{name} stands more than once");
        headers[name].to_str().expect("visible ASCII").trim().to_owned()
    };
    let blank =
        |name: &&str| headers.get_all(*name).iter().all(|line| line.as_bytes().trim_ascii().is_empty());
    let blanks = CARRIED[1..4].iter().filter(|name| blank(name)).count();
    assert_eq!(carried.account.is_none(), blanks == 3, "a part of an account is none");
    if let Some(Err(why)) = &carried.account {
        assert_eq!(why.contains("missing"), blanks > 0, "{why}");
        assert!(blanks > 0 || why.contains("cannot be used"), "{why}");
    }
    if let Some(Ok(account)) = &carried.account {
        let read = [account.url.as_str(), &account.username, account.password.expose_secret()];
        for (name, read) in CARRIED[1..4].iter().zip(read) {
            assert!(!read.is_empty());
            assert_eq!(single(name), read);
        }
        assert_eq!(format!("{account:?}"), "Account(..)");
    }
    match &carried.basic {
        None => assert!(headers.get_all("authorization").iter().count() < 2, "which of them is passed over?"),
        Some(Ok(_)) => value(single("authorization").as_bytes()),
        Some(Err(why)) => {
            assert!(
                headers.contains_key("authorization") && why.starts_with("the Authorization header"),
                "{why}"
            );
        }
    }
    if let Some(key) = &carried.image_key {
        assert_eq!(single(CARRIED[4]), key.expose_secret());
    }
}
