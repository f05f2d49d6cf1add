//! The credential that requests to an upstream carry in addition to the configured headers, and the challenge with
//! which an upstream asks for a credential (RFC 6750, section 3). This module must not know where a credential comes
//! from.

use arc_swap::ArcSwapOption;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderName, StatusCode};

/// The maximum length of a stored challenge, in bytes.
const LONGEST: usize = 8 << 10;

/// The value of `Authorization` for one upstream, if there is one. It may be replaced while links are open: each
/// request uses the current value.
#[derive(Debug, Default)]
pub struct Credential(ArcSwapOption<HeaderValue>);

impl Credential {
    /// Sets the value for future requests; `None` removes it.
    pub fn set(&self, value: Option<HeaderValue>) {
        let value = value.map(|mut value| {
            value.set_sensitive(true);
            value.into()
        });
        self.0.store(value);
    }

    /// Returns the current value.
    pub fn get(&self) -> Option<HeaderValue> {
        self.0.load().as_deref().cloned()
    }

    /// Returns the header line for a request, if there is a credential.
    pub(super) fn line(&self) -> Option<(HeaderName, HeaderValue)> {
        Some((AUTHORIZATION, self.get()?))
    }

    /// Adds the header line to a request's headers, if there is a credential.
    pub(super) fn enter(&self, headers: &mut HeaderMap) {
        headers.extend(self.line());
    }
}

/// A rejection by an upstream because a credential is missing or insufficient: the request was not executed.
#[derive(Debug, Clone)]
pub struct CredentialRefusal {
    /// The HTTP status: 401 or 403.
    pub status: u16,
    /// The values of `WWW-Authenticate`, in order, joined with commas.
    pub challenge: String,
    /// The beginning of the body, if it is text.
    pub body: String,
    /// The refused credential, if one was sent.
    pub shown: Option<HeaderValue>,
    /// True if all connections to the upstream led to addresses outside the public network.
    pub is_from_near: bool,
}

impl CredentialRefusal {
    /// Reads the refusal from a response; returns `None` for any other response. A response with the status 403 is
    /// about credentials only if its challenge states that other credentials would suffice (RFC 6750, section 3.1).
    pub(super) fn of(
        status: StatusCode,
        headers: &HeaderMap,
        shown: Option<HeaderValue>,
        is_from_near: bool,
    ) -> Option<Self> {
        if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return None;
        }
        let mut challenge = String::new();
        for value in headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()) {
            if challenge.len() + value.len() > LONGEST {
                break;
            }
            if !challenge.is_empty() {
                challenge.push_str(", ");
            }
            challenge.push_str(value);
        }
        if status == StatusCode::FORBIDDEN && !challenge.contains("insufficient_scope") {
            return None;
        }
        Some(Self { status: status.as_u16(), challenge, body: String::new(), shown, is_from_near })
    }

    /// Adds the beginning of the response's body.
    pub(super) fn saying(self, body: String) -> Self {
        Self { body, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: StatusCode, challenges: &[&'static str]) -> Option<CredentialRefusal> {
        let mut headers = HeaderMap::new();
        for value in challenges {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
        }
        CredentialRefusal::of(status, &headers, None, false)
    }

    #[test]
    fn a_401_and_a_403_for_want_of_scopes_are_refusals() {
        let all = refusal(StatusCode::UNAUTHORIZED, &["Basic realm=\"a\"", "Bearer scope=\"b\""]).unwrap();
        assert_eq!((all.status, &*all.challenge), (401, "Basic realm=\"a\", Bearer scope=\"b\""));
        assert_eq!(refusal(StatusCode::UNAUTHORIZED, &[]).unwrap().challenge, "");
        let more = refusal(StatusCode::FORBIDDEN, &["Bearer error=\"insufficient_scope\", scope=\"c\""]);
        assert_eq!(more.unwrap().status, 403);
        for status in [StatusCode::FORBIDDEN, StatusCode::OK, StatusCode::PROXY_AUTHENTICATION_REQUIRED] {
            assert!(refusal(status, &["Bearer scope=\"c\""]).is_none(), "{status}");
        }
    }

    #[test]
    fn a_credential_shows_nothing_of_itself() {
        let credential = Credential::default();
        assert!(credential.line().is_none());
        credential.set(Some(HeaderValue::from_static("Bearer to-ken")));
        assert_eq!(credential.get().unwrap(), "Bearer to-ken");
        let refused =
            CredentialRefusal::of(StatusCode::UNAUTHORIZED, &HeaderMap::new(), credential.get(), false);
        assert!(!format!("{credential:?}{refused:?}").contains("to-ken"));
    }
}
