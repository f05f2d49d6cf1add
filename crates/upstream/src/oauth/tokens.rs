//! Exchanges codes and refresh tokens for access tokens (RFC 6749, 4.1.3, 5 and 6; RFC 8707, 2.2). This module must not
//! know who asked for the tokens.

use engine::credential::challenge::scopes;
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::Registered;
use super::fetcher::{Answer, FetchRules, OAuthFetcher};
use super::form::joined;
use super::metadata::Service;
use super::secret::Secret;

/// The maximum length of a token, in bytes; it has to fit into a header.
const LONGEST: usize = 16 << 10;
/// The maximum accepted lifetime of a token, in seconds.
const LONGEST_LIFE: u64 = 366 * 24 * 3600;
/// The time before its expiry at which a token is renewed, in seconds. A token that is valid for less than four times
/// this time is renewed after three quarters of its lifetime instead.
const EARLY: u64 = 60;

/// The tokens for one resource.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: Secret,
    pub(super) refresh: Option<Secret>,
    /// The scopes that were allowed; if the server names none, the requested scopes.
    pub(super) scopes: Vec<String>,
    /// The time at which the token expires, in seconds since 1970, if it is known.
    pub(super) ends: Option<u64>,
    /// The time at which the token should be renewed, in seconds since 1970.
    pub(super) renew: Option<u64>,
}

/// The reason why there are no tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoTokens {
    /// The server refuses, and will refuse again; the value contains its code and message.
    Refused(String),
    /// The server may issue tokens later; the value is the reason why it issues none now.
    Unavailable(String),
}

/// The code or token that is exchanged for tokens.
pub(super) enum Grant<'a> {
    /// The code that a browser returned, and its verifier (RFC 7636).
    Code { code: &'a str, verifier: &'a Secret },
    /// A refresh token.
    Refresh(&'a Secret),
    /// The client itself (RFC 6749, 4.4), for these scopes.
    Client(&'a str),
}

/// The parties of a token request.
#[derive(Clone, Copy)]
pub(super) struct Parties<'a> {
    pub(super) service: &'a Service,
    pub(super) client: &'a Registered,
    pub(super) resource: &'a str,
    /// The requested scopes.
    pub(super) scopes: &'a [String],
}

/// Requests tokens; `now` is the current time, in seconds since 1970.
///
/// # Errors
/// Returns [`NoTokens`] if the server issues no tokens.
pub(super) async fn ask(
    outside: &OAuthFetcher,
    parties: Parties<'_>,
    grant: Grant<'_>,
    way: FetchRules<'_>,
    now: u64,
) -> Result<Tokens, NoTokens> {
    let Parties { service, client, resource, scopes } = parties;
    let url =
        service.token.parse().map_err(|_| NoTokens::Refused("the token endpoint is not a URL".to_owned()))?;
    let mut form = match &grant {
        Grant::Code { code, verifier } => vec![
            ("grant_type", "authorization_code"),
            ("code", *code),
            ("redirect_uri", &*client.redirect),
            ("code_verifier", verifier.expose()),
        ],
        Grant::Refresh(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token.expose())],
        Grant::Client("") => vec![("grant_type", "client_credentials")],
        Grant::Client(scopes) => vec![("grant_type", "client_credentials"), ("scope", *scopes)],
    };
    form.push(("resource", resource));
    let header = client.enter(&mut form);
    let body = joined(&form);
    let answer = outside.post(&url, "application/x-www-form-urlencoded", header, body, way).await;
    let answer = answer.map_err(NoTokens::Unavailable)?;
    let mut tokens = read(&answer, scopes, now)?;
    if let (None, Grant::Refresh(old)) = (&tokens.refresh, grant) {
        tokens.refresh = Some(old.clone());
    }
    Ok(tokens)
}

fn read(answer: &Answer, asked: &[String], now: u64) -> Result<Tokens, NoTokens> {
    #[derive(Deserialize)]
    struct TokenJson {
        access_token: Secret,
        token_type: String,
        expires_in: Option<Value>,
        refresh_token: Option<Secret>,
        scope: Option<String>,
    }
    let odd = || NoTokens::Unavailable("the answer contains no valid token".to_owned());
    if answer.status != StatusCode::OK {
        return Err(refused(answer));
    }
    let written: TokenJson = serde_json::from_slice(&answer.body).map_err(|_| odd())?;
    let is_sound = |token: &Secret| {
        (1..=LONGEST).contains(&token.expose().len()) && token.expose().bytes().all(|b| b.is_ascii_graphic())
    };
    if !is_sound(&written.access_token)
        || written.refresh_token.as_ref().is_some_and(|token| !is_sound(token))
    {
        return Err(odd());
    }
    if !written.token_type.eq_ignore_ascii_case("bearer") {
        return Err(NoTokens::Refused("the tokens are not bearer tokens".to_owned()));
    }
    let life = written.expires_in.as_ref().and_then(seconds).map(|life| life.min(LONGEST_LIFE));
    let said = written.scope.as_deref().map(scopes).filter(|scopes| !scopes.is_empty());
    Ok(Tokens {
        access: written.access_token,
        refresh: written.refresh_token,
        scopes: said.unwrap_or_else(|| asked.to_vec()),
        ends: life.map(|life| now + life),
        renew: life.map(|life| now + life - EARLY.min(life.div_ceil(4))),
    })
}

/// Reads a number of seconds, which is a JSON number, or a JSON string that contains a number.
fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the meaning of an error response (RFC 6749, 5.2).
fn refused(answer: &Answer) -> NoTokens {
    let status = answer.status;
    let error = serde_json::from_slice::<Value>(&answer.body).ok();
    let word = |key: &str| error.as_ref().and_then(|error| error.get(key)?.as_str()).map(shown);
    match word("error").filter(|word| !word.is_empty()) {
        Some(code) if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
            let more = word("error_description").map(|text| format!(": {text}")).unwrap_or_default();
            NoTokens::Refused(format!("{code}{more}"))
        }
        _ => NoTokens::Unavailable(format!("the answer has status {}", status.as_u16())),
    }
}

/// Returns a text from another party in a form fit for display: short, and without invisible characters.
pub(super) fn shown(text: &str) -> String {
    let is_plain = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(is_plain).take(200).collect()
}

impl Tokens {
    /// Returns the value of `Authorization` (RFC 6750, 2.1).
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let text = Secret::new(format!("Bearer {}", self.access.expose()));
        let mut value = HeaderValue::from_str(text.expose()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            body: bytes::Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    #[test]
    fn tokens_are_read_with_their_times() {
        let asked = ["a".to_owned()];
        let read = |body: &str| read(&answer(200, body), &asked, 1000).unwrap();
        let all = read(
            r#"{"access_token":"x","token_type":"Bearer","expires_in":3600,"refresh_token":"y","scope":"b c"}"#,
        );
        assert_eq!((all.ends, all.renew, all.scopes.join(" ")), (Some(4600), Some(4540), "b c".to_owned()));
        assert_eq!(all.header().unwrap(), "Bearer x");
        assert!(!format!("{all:?}").contains("\"x\""));
        let least = read(r#"{"access_token":"x","token_type":"bearer"}"#);
        assert_eq!((least.ends, least.renew, least.scopes.join(" ")), (None, None, "a".to_owned()));
        let short = read(r#"{"access_token":"x","token_type":"bearer","expires_in":"4"}"#);
        assert_eq!((short.ends, short.renew), (Some(1004), Some(1003)));
        let endless = read(r#"{"access_token":"x","token_type":"bearer","expires_in":18446744073709551615}"#);
        assert_eq!(endless.ends, Some(1000 + LONGEST_LIFE));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for (status, body) in [
            (200, "<html>"),
            (200, "{}"),
            (200, r#"{"access_token":"","token_type":"bearer"}"#),
            (200, r#"{"access_token":"a b","token_type":"bearer"}"#),
            (200, r#"{"access_token":"a\r\nX: y","token_type":"bearer"}"#),
            (200, r#"{"access_token":"a","refresh_token":"b\n","token_type":"bearer"}"#),
            (302, r#"{"access_token":"a","token_type":"bearer"}"#),
            (500, r#"{"error":"server_error"}"#),
            (429, r#"{"error":"slow_down"}"#),
            (400, "<html>"),
        ] {
            let refused = read(&answer(status, body), &[], 0).unwrap_err();
            assert!(matches!(refused, NoTokens::Unavailable(_)), "{body}: {refused:?}");
        }
        let refused = read(&answer(200, r#"{"access_token":"a","token_type":"DPoP"}"#), &[], 0).unwrap_err();
        assert!(matches!(refused, NoTokens::Refused(_)));
        let said = "{\"error\":\"invalid_grant\",\"error_description\":\"too \\u0007old\\u202e\"}";
        let refused = read(&answer(400, said), &[], 0).unwrap_err();
        assert_eq!(refused, NoTokens::Refused("invalid_grant: too old".to_owned()));
    }
}
