//! `WWW-Authenticate`: a bearer challenge is found among challenges of other schemes, and text in quotes or of another
//! scheme is never taken for one.

use engine::credential::challenge::{Challenge, MOST_SCOPES, scopes};

/// The fuzzer's entry. The input is a value of the header, and also lines: a text, and the parts of a challenge.
pub fn fuzz(input: &[u8]) {
    any(&String::from_utf8_lossy(input));
    any(&format!("Bearer {}", String::from_utf8_lossy(input)));
    let mut rest = input;
    let [realm, url, scope] = [(); 3].map(|()| super::text(&mut rest));
    hidden(&realm);
    written(&realm, &url, &scope);
}

/// Checks any value: the parts of a challenge are bounded, can be sent in a request, and occur in the value.
pub fn any(value: &str) {
    let found = Challenge::read(value);
    fit(&found.scopes);
    let plain = |text: &str| text.replace('\\', "");
    if let Some(url) = &found.resource_metadata {
        assert!(plain(value).contains(&plain(url)), "{url:?} is not in {value:?}");
    }
    assert!(found.scopes.iter().all(|scope| plain(value).contains(scope)), "{found:?} is not in {value:?}");
    let is_nothing = found == Challenge::default();
    assert!(
        is_nothing || value.to_ascii_lowercase().contains("bearer"),
        "{found:?} is of no bearer challenge"
    );
    fit(&scopes(value));
    assert_eq!(scopes(&scopes(value).join(" ")), scopes(value));
}

fn fit(scopes: &[String]) {
    assert!(scopes.len() <= MOST_SCOPES);
    for scope in scopes {
        assert!((1..=256).contains(&scope.len()));
        assert!(
            scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\'),
            "{scope:?}"
        );
    }
}

/// Returns a text as a quoted string (RFC 9110, 5.6.4).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Checks that text in quotes and parameters of other schemes are ignored, and that a challenge beside them is still
/// found.
pub fn hidden(text: &str) {
    let text = quoted(text);
    let wanted = Challenge { scopes: vec!["a".to_owned()], ..Challenge::default() };
    for value in [
        format!("Basic realm={text}"),
        format!("Basic scope={text}, resource_metadata={text}, error=insufficient_scope"),
        format!("Bearer realm={text}"),
    ] {
        assert_eq!(Challenge::read(&value), Challenge::default(), "{value}");
        assert_eq!(Challenge::read(&format!("{value}, Bearer scope=\"a\"")), wanted, "{value}");
        assert_eq!(Challenge::read(&format!("Bearer scope=\"a\", {value}")), wanted, "{value}");
    }
    // A quoted text that has no end reaches to the end of the value.
    let open = text.strip_suffix('"').unwrap_or(&text);
    assert_eq!(Challenge::read(&format!("Bearer realm={open}, scope=b")), Challenge::default(), "{open}");
}

/// Checks that the parts of a written challenge are read back.
pub fn written(realm: &str, url: &str, scope: &str) {
    let wanted =
        Challenge { resource_metadata: Some(url.to_owned()), scopes: scopes(scope), wants_scopes: true };
    let [realm, url, scope] = [realm, url, scope].map(quoted);
    for value in [
        format!("Bearer realm={realm}, resource_metadata={url}, scope={scope}, error=insufficient_scope"),
        format!(
            "DPoP algs={realm},bearer  SCOPE = {scope} , error=\"insufficient_scope\",Resource_Metadata={url}"
        ),
        format!(
            "Negotiate YWI=, Bearer scope={scope},,error=insufficient_scope\t,resource_metadata={url},x={realm}"
        ),
    ] {
        assert_eq!(Challenge::read(&value), wanted, "{value}");
    }
}
