//! Headers of clients' requests that the configuration passes on to servers: chosen by an allow-list, renamed, and never with the
//! credential that the client showed to the gateway. This module must not know servers, or how requests are sent.

use std::fmt;
use std::sync::Arc;

use config::PassedHeader;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;

use crate::credential::authorization::{self, ShownCredential};

/// The minimum length of a password that is searched for in other headers: a shorter one would match too many headers.
const LEAST_PASSWORD: usize = 6;

/// The headers of one request that are passed on. Their values are part of the key of everything that is kept about a server for
/// the request's caller: links, lists, subscriptions. Values are never printed.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct PassedHeaders(Option<Arc<[(HeaderName, HeaderValue)]>>);

impl PassedHeaders {
    /// The headers of a request that are on the list `names`. A value that contains the credential of the request is left out,
    /// regardless of the header's name.
    pub fn read(headers: &HeaderMap, names: &[HeaderName]) -> Self {
        let secrets = shown(headers);
        let is_free = |value: &HeaderValue| !secrets.iter().any(|secret| contains(value.as_bytes(), secret));
        let all = names.iter().filter(|name| **name != AUTHORIZATION).flat_map(|name| {
            headers.get_all(name).iter().filter(|value| is_free(value)).map(|value| sensitive(name, value))
        });
        Self::of(all)
    }

    /// The headers that are passed on to a server with these rules, under the names that the rules give them.
    #[must_use]
    pub fn mapped(&self, rules: &[PassedHeader]) -> Self {
        let all = rules.iter().flat_map(|rule| {
            let own = self.iter().filter(|(name, _)| *name == rule.from);
            own.map(|(_, value)| (rule.to.clone(), value.clone()))
        });
        Self::of(all)
    }

    fn of(all: impl Iterator<Item = (HeaderName, HeaderValue)>) -> Self {
        let all: Arc<[_]> = all.collect();
        Self(Some(all).filter(|all| !all.is_empty()))
    }

    /// Returns true if there are no headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The names and values of the headers.
    pub fn iter(&self) -> impl Iterator<Item = &(HeaderName, HeaderValue)> {
        self.0.iter().flat_map(|all| all.iter())
    }

    /// A key that two values share only if their headers are equal; empty if there are no headers.
    pub fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        for (name, value) in self.iter() {
            for part in [name.as_str().as_bytes(), value.as_bytes()] {
                key.extend_from_slice(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
                key.extend_from_slice(part);
            }
        }
        key
    }
}

impl fmt::Debug for PassedHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

fn sensitive(name: &HeaderName, value: &HeaderValue) -> (HeaderName, HeaderValue) {
    let mut value = value.clone();
    value.set_sensitive(true);
    (name.clone(), value)
}

/// The secret texts of the request's credentials: the text after the scheme, and the password in that text.
fn shown(headers: &HeaderMap) -> Vec<Vec<u8>> {
    let mut secrets = Vec::new();
    for value in headers.get_all(AUTHORIZATION) {
        let value = value.as_bytes().trim_ascii();
        let text = value.iter().position(|byte| *byte == b' ').map_or(value, |at| value[at..].trim_ascii());
        if !text.is_empty() {
            secrets.push(text.to_vec());
        }
        if let Ok(ShownCredential::Basic(basic)) = authorization::read(value) {
            let password = basic.password.expose_secret().as_bytes();
            secrets.extend((password.len() >= LEAST_PASSWORD).then(|| password.to_vec()));
        }
    }
    secrets
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn names(list: &[&str]) -> Vec<HeaderName> {
        list.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    fn rule(from: &str, to: &str) -> PassedHeader {
        PassedHeader { from: from.parse().unwrap(), to: to.parse().unwrap() }
    }

    #[test]
    fn headers_on_the_list_are_passed_on_and_renamed() {
        let request = headers(&[
            ("x-tenant", "a"),
            ("x-other", "b"),
            ("x-many", "1"),
            ("x-many", "2"),
            ("accept", "c"),
        ]);
        let passed = PassedHeaders::read(&request, &names(&["x-many", "x-missing", "x-tenant"]));
        let mapped = passed.mapped(&[
            rule("x-tenant", "x-team"),
            rule("x-many", "x-many"),
            rule("x-other", "x-other"),
        ]);
        let shown: Vec<String> =
            mapped.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect();
        assert_eq!(shown, ["x-team=a", "x-many=1", "x-many=2"]);
        assert!(mapped.iter().all(|(_, value)| value.is_sensitive()));
        assert_eq!(format!("{mapped:?}"), r#"["x-team", "x-many", "x-many"]"#);
        assert!(passed.mapped(&[rule("x-other", "x-other")]).is_empty());
        assert_eq!(PassedHeaders::read(&request, &[]), PassedHeaders::default());
    }

    #[test]
    fn the_gateways_own_credential_is_never_passed_on() {
        let list = names(&["authorization", "x-a", "x-b", "x-c"]);
        for (shown, copy) in [
            ("Bearer to-ken-1234", "Bearer to-ken-1234"),
            ("Bearer to-ken-1234", "to-ken-1234"),
            ("bearer   to-ken-1234 ", "key=to-ken-1234;v=1"),
            ("Basic YW5uOnBhc3N3b3Jk", "YW5uOnBhc3N3b3Jk"),
            ("Basic YW5uOnBhc3N3b3Jk", "password"),
            ("Digest x=y", "x=y"),
            ("bare-token", "bare-token"),
        ] {
            let request = headers(&[("authorization", shown), ("x-a", copy), ("x-b", "harmless")]);
            let passed = PassedHeaders::read(&request, &list);
            let all: Vec<&str> = passed.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(all, ["x-b"], "{shown}: {copy}");
        }
    }

    #[test]
    fn a_key_tells_all_values_apart() {
        let key =
            |lines: &[(&str, &str)]| PassedHeaders::read(&headers(lines), &names(&["a", "ab", "b"])).key();
        let keys = [
            key(&[]),
            key(&[("a", "b")]),
            key(&[("a", "")]),
            key(&[("ab", "")]),
            key(&[("a", "bb")]),
            key(&[("a", "b"), ("b", "")]),
            key(&[("a", "b"), ("a", "b")]),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert_eq!(keys.iter().filter(|other| *other == one).count(), 1, "{at}");
        }
        assert_eq!(key(&[]), Vec::<u8>::new());
    }

    proptest! {
        /// Whatever a request carries, only headers on the list leave, under the names in the list, with values of the request, and
        /// never a credential.
        #[test]
        fn nothing_leaves_that_is_not_on_the_list(
            lines in vec((select(vec!["x-a", "x-b", "x-c", "x-d", "cookie", "authorization", "host"]), "[a-z]{0,3}"), 0..8),
            list in vec((select(vec!["x-a", "x-b", "x-c", "authorization"]), select(vec!["x-a", "y-b", "y-c"])), 0..4),
            token in "[a-z]{4,8}",
        ) {
            let mut request = HeaderMap::new();
            for (name, value) in &lines {
                let value = if *name == "authorization" { format!("Bearer {token}") } else { value.clone() };
                request.append(*name, value.parse().unwrap());
            }
            request.append("x-a", format!("prefix{token}suffix").parse().unwrap());
            request.append("authorization", format!("Bearer {token}").parse().unwrap());
            let rules: Vec<PassedHeader> = list.iter().map(|(from, to)| rule(from, to)).collect();
            let from: Vec<HeaderName> = rules.iter().map(|rule| rule.from.clone()).collect();
            for (name, value) in PassedHeaders::read(&request, &from).mapped(&rules).iter() {
                let source = rules.iter().filter(|rule| rule.to == *name && rule.from != AUTHORIZATION);
                let mut values = source.flat_map(|rule| request.get_all(&rule.from).iter());
                prop_assert!(values.any(|own| own == value), "{name}");
                prop_assert!(!value.to_str().unwrap().contains(&token), "{name}");
            }
        }
    }
}
