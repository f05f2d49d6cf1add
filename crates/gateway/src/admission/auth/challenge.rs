//! `WWW-Authenticate` (RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1): tells clients how to authenticate. This module
//! must not know credentials.

use std::fmt::Write as _;

/// The challenges that this gateway sends.
#[derive(Debug, Default)]
pub(super) struct Challenges {
    /// True if tokens are accepted.
    pub(super) bearer: bool,
    /// True if names with passwords are accepted.
    pub(super) basic: bool,
    /// The address of the protected resource's metadata.
    pub(super) metadata_url: Option<String>,
    /// The scopes that every token must have; if none is required, the scopes that a client may request.
    pub(super) scopes: Vec<Box<str>>,
}

/// The problem with a credential (RFC 6750, 3.1).
#[derive(Debug, Clone, Copy)]
pub(super) enum CredentialProblem<'a> {
    /// The request has no credential.
    Missing,
    /// `invalid_token`, with the reason.
    Invalid(&'a str),
    /// `insufficient_scope`, with all required scopes.
    Scope(&'a [Box<str>]),
}

impl Challenges {
    /// Returns the header's value; `None` if no authentication method is configured.
    pub(super) fn value(&self, wrong: CredentialProblem<'_>) -> Option<String> {
        let mut value = String::new();
        if self.bearer {
            self.add_bearer(&mut value, wrong);
        }
        // A password cannot provide more scopes.
        if self.basic && !matches!(wrong, CredentialProblem::Scope(_)) {
            let comma = if value.is_empty() { "" } else { ", " };
            let _ = write!(value, "{comma}Basic realm=\"dragoman\", charset=\"UTF-8\"");
        }
        Some(value).filter(|value| !value.is_empty())
    }

    fn add_bearer(&self, value: &mut String, wrong: CredentialProblem<'_>) {
        let mut parts: Vec<(&str, String)> = Vec::new();
        let scopes = match wrong {
            CredentialProblem::Scope(needed) => needed,
            _ => &self.scopes,
        };
        match wrong {
            CredentialProblem::Missing => {}
            CredentialProblem::Invalid(why) => {
                parts.push(("error", "invalid_token".to_owned()));
                parts.push(("error_description", why.chars().filter(|c| is_quotable(*c)).collect()));
            }
            CredentialProblem::Scope(_) => parts.push(("error", "insufficient_scope".to_owned())),
        }
        match &self.metadata_url {
            Some(url) => parts.push(("resource_metadata", url.clone())),
            None => parts.push(("realm", "dragoman".to_owned())),
        }
        if !scopes.is_empty() {
            parts.push(("scope", scopes.join(" ")));
        }
        for (index, (name, text)) in parts.iter().enumerate() {
            let before = if index == 0 { "Bearer" } else { "," };
            let _ = write!(value, "{before} {name}=\"{text}\"");
        }
    }
}

/// Returns true if the character is allowed in an `error_description` (RFC 6750, 3): visible ASCII and spaces, without
/// `"` and `\`.
fn is_quotable(c: char) -> bool {
    matches!(c, ' '..='~') && c != '"' && c != '\\'
}

/// Returns true if `scope` is valid (RFC 6749, 3.3).
pub(super) fn is_scope(scope: &str) -> bool {
    !scope.is_empty() && scope.chars().all(|c| c != ' ' && is_quotable(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenges() -> Challenges {
        Challenges {
            bearer: true,
            basic: false,
            metadata_url: Some("https://a/.well-known/oauth-protected-resource/mcp".to_owned()),
            scopes: vec!["mcp".into(), "more".into()],
        }
    }

    #[test]
    fn a_client_learns_where_the_metadata_is_and_what_it_needs() {
        let asked = challenges();
        let metadata = "resource_metadata=\"https://a/.well-known/oauth-protected-resource/mcp\"";
        assert_eq!(
            asked.value(CredentialProblem::Missing).unwrap(),
            format!("Bearer {metadata}, scope=\"mcp more\"")
        );
        assert_eq!(
            asked.value(CredentialProblem::Invalid("it \"is\" old\\\r\n")).unwrap(),
            format!(
                "Bearer error=\"invalid_token\", error_description=\"it is old\", {metadata}, scope=\"mcp more\""
            )
        );
        assert_eq!(
            asked.value(CredentialProblem::Scope(&["a".into(), "b".into()])).unwrap(),
            format!("Bearer error=\"insufficient_scope\", {metadata}, scope=\"a b\"")
        );
    }

    #[test]
    fn each_scheme_that_is_taken_is_offered() {
        let both = Challenges { bearer: true, basic: true, ..Challenges::default() };
        assert_eq!(
            both.value(CredentialProblem::Missing).unwrap(),
            "Bearer realm=\"dragoman\", Basic realm=\"dragoman\", charset=\"UTF-8\""
        );
        let basic = Challenges { basic: true, ..Challenges::default() };
        assert_eq!(
            basic.value(CredentialProblem::Missing).unwrap(),
            "Basic realm=\"dragoman\", charset=\"UTF-8\""
        );
        assert_eq!(basic.value(CredentialProblem::Scope(&[])), None);
        assert_eq!(Challenges::default().value(CredentialProblem::Missing), None);
    }

    #[test]
    fn scopes_are_words() {
        assert!(is_scope("mcp:tools.read"));
        for bad in ["", "a b", "a\"b", "a\\b", "ä", "a\n"] {
            assert!(!is_scope(bad), "{bad:?}");
        }
    }
}
