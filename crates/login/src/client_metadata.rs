//! A client's metadata (RFC 7591, 2), checked. This module must not know where the metadata comes from.

use serde::{Deserialize, Serialize};

use crate::redirect_uri;

/// The maximum number of redirect URIs of a client.
const MOST_REDIRECTS: usize = 32;
/// The maximum length of a name that is shown, in characters.
const LONGEST_NAME: usize = 80;

/// The metadata that a client states about itself. Members that Dragoman does not use are ignored, as RFC 7591
/// requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientMetadata {
    /// The client's id. Dragoman assigns the id of a client that registers.
    #[serde(default)]
    pub(crate) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_name: Option<String>,
    #[serde(default)]
    pub(crate) redirect_uris: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token_endpoint_auth_method: Option<String>,
    /// All methods with which the client can authenticate. A document is published for all servers, and a server that
    /// supports only some of these methods uses one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grant_types: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) response_types: Option<Vec<String>>,
}

/// The reason why metadata cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MetadataFault {
    /// A redirect URI is missing or not allowed.
    #[error("{0}")]
    Redirect(String),
    /// Another member is not allowed.
    #[error("{0}")]
    Other(&'static str),
}

impl ClientMetadata {
    /// Checks the metadata, and shortens the name.
    pub(crate) fn checked(mut self) -> Result<Self, MetadataFault> {
        if self.redirect_uris.is_empty() || self.redirect_uris.len() > MOST_REDIRECTS {
            return Err(MetadataFault::Redirect(format!("give 1 to {MOST_REDIRECTS} redirect URIs")));
        }
        for uri in &self.redirect_uris {
            redirect_uri::check(uri).map_err(|why| MetadataFault::Redirect(why.to_owned()))?;
        }
        let has = |all: &Option<Vec<String>>, one: &str| {
            all.as_ref().is_none_or(|all| all.iter().any(|value| value == one))
        };
        if !has(&self.grant_types, "authorization_code") || !has(&self.response_types, "code") {
            return Err(MetadataFault::Other("only the authorization code flow is supported"));
        }
        // Nothing that is not used is kept: anybody may send long lists.
        (self.grant_types, self.response_types) = (None, None);
        self.token_endpoint_auth_methods_supported = None;
        let name = self.client_name.map(|name| visible(&name).chars().take(LONGEST_NAME).collect::<String>());
        self.client_name = name.filter(|name| !name.is_empty());
        Ok(self)
    }

    /// Returns true if the client can do without authentication, which a client has to do here.
    pub(crate) fn may_be_public(&self) -> bool {
        let is_none = |method: &str| method == "none";
        self.token_endpoint_auth_method.as_deref().is_none_or(is_none)
            || self.token_endpoint_auth_methods_supported.iter().flatten().any(|method| is_none(method))
    }

    /// Returns true if the browser may be sent to this address.
    pub(crate) fn may_receive_at(&self, uri: &str) -> bool {
        redirect_uri::check(uri).is_ok()
            && self.redirect_uris.iter().any(|own| redirect_uri::is_same(own, uri))
    }

    /// Returns the client's name for people. The name is not verified.
    pub(crate) fn name(&self) -> &str {
        self.client_name.as_deref().unwrap_or("An application without a name")
    }
}

/// Returns the text on one line, without characters that hide or reorder other characters.
pub(crate) fn visible(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let shown: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(redirects: &[&str]) -> ClientMetadata {
        let text = serde_json::json!({ "client_name": " A\u{202e}b\n c ", "redirect_uris": redirects, "logo_uri": 7 });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn only_sound_metadata_is_used() {
        let sound = client(&["http://localhost/cb"]).checked().unwrap();
        assert_eq!(sound.name(), "Ab c");
        assert!(sound.may_receive_at("http://localhost:7/cb"));
        assert!(
            !sound.may_receive_at("http://localhost:7/cb2") && !sound.may_receive_at("https://evil.example/")
        );
        assert!(client(&[]).checked().is_err());
        assert!(client(&["http://localhost/", "javascript:x"]).checked().is_err());
        let mut other = client(&["http://localhost/"]);
        other.grant_types = Some(vec!["client_credentials".to_owned()]);
        assert!(other.checked().is_err());
    }
}
