//! Clients that publish their metadata: the client's id is the address of a document (MCP 2025-11-25,
//! authorization: client ID metadata documents). Anybody can publish such a document, so people can rely only on
//! its address.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode, Uri};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::client_metadata::ClientMetadata;
use crate::outbound::{Outbound, SiteRequest};

/// The maximum size of a document, in bytes.
const LONGEST: usize = 64 * 1024;
/// The time for which a document is reused.
const HOLDS: Duration = Duration::from_mins(5);
/// The number of documents that are kept.
const MOST: usize = 256;

/// Documents that were fetched a short time ago.
#[derive(Debug, Default)]
pub(crate) struct ClientDocuments(Mutex<HashMap<String, (Arc<ClientMetadata>, Instant)>>);

/// Returns true if a client's id is the address of a document: an `https` URL with a path, at a port that `may` have a
/// document.
pub(crate) fn is_address(client_id: &str, may: impl Fn(u16) -> bool) -> bool {
    let Ok(url) = client_id.parse::<Uri>() else { return false };
    let has_user = url.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let walks = url.path().split('/').any(|part| matches!(part, "." | ".."));
    let port = url.port_u16().unwrap_or(443);
    url.scheme_str() == Some("https")
        && (port == 443 || may(port))
        && url.path().len() > 1
        && !has_user
        && !walks
        && !client_id.contains('#')
}

impl ClientDocuments {
    /// Returns the metadata at this address, if it was fetched a short time ago.
    pub(crate) fn recent(&self, address: &str) -> Option<Arc<ClientMetadata>> {
        let now = Instant::now();
        self.0.lock().get(address).filter(|(_, until)| now < *until).map(|(known, _)| known.clone())
    }

    /// Fetches the metadata at this address.
    ///
    /// # Errors
    /// Returns the reason, for the person who signs in.
    pub(crate) async fn fetch(
        &self,
        address: &str,
        outbound: &dyn Outbound,
        public_only: bool,
    ) -> Result<Arc<ClientMetadata>, String> {
        let now = Instant::now();
        let url: Uri = address.parse().map_err(|_| "the client's id is not a URL".to_owned())?;
        let request =
            SiteRequest { method: Method::GET, url, authorization: None, public_only, cap: LONGEST };
        let answer = outbound.send(request).await.map_err(|error| format!("{address}: {error}"))?;
        if answer.status != StatusCode::OK {
            return Err(format!("{address} answered with status {}", answer.status.as_u16()));
        }
        let client = Arc::new(read(address, &answer.body)?);
        let mut known = self.0.lock();
        known.retain(|_, (_, until)| now < *until);
        if known.len() < MOST {
            known.insert(address.to_owned(), (client.clone(), now + HOLDS));
        }
        Ok(client)
    }
}

fn read(address: &str, body: &[u8]) -> Result<ClientMetadata, String> {
    let client: ClientMetadata = serde_json::from_slice(body)
        .map_err(|_| format!("the document at {address} does not describe a client"))?;
    if client.client_id != address {
        return Err(format!("the document at {address} describes another client"));
    }
    if !client.may_be_public() {
        return Err(format!("the client at {address} does not support the authentication method `none`"));
    }
    client.checked().map_err(|fault| format!("the document at {address}: {fault}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_an_address_only_if_it_can_be_one() {
        let is_address = |id: &str| is_address(id, |port| port == 8443);
        assert!(is_address("https://claude.ai/oauth/client.json"));
        assert!(is_address("https://claude.ai:8443/oauth/client.json"));
        for other in [
            "https://claude.ai",
            "https://claude.ai/",
            "http://claude.ai/client",
            "https://a@claude.ai/client",
            "https://claude.ai:22/client",
            "https://claude.ai/a/../client",
            "https://claude.ai/client#x",
            "dgc_abc",
            "",
        ] {
            assert!(!is_address(other), "{other}");
        }
    }

    #[test]
    fn a_document_describes_its_own_client_alone() {
        let address = "https://app.example/client";
        let document = |id: &str, method: &str| {
            json!({ "client_id": id, "redirect_uris": ["https://app.example/cb"], "token_endpoint_auth_method": method })
                .to_string()
        };
        assert!(read(address, document(address, "none").as_bytes()).is_ok());
        assert!(read(address, document("https://other.example/client", "none").as_bytes()).is_err());
        assert!(read(address, document(address, "private_key_jwt").as_bytes()).is_err());
        let mut both: serde_json::Value =
            serde_json::from_str(&document(address, "private_key_jwt")).unwrap();
        both["token_endpoint_auth_methods_supported"] = json!(["none", "private_key_jwt"]);
        assert!(read(address, both.to_string().as_bytes()).is_ok(), "a client that can do without is served");
        assert!(read(address, b"<html>").is_err());
    }
}
