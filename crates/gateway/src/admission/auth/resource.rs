//! This gateway as a protected resource of OAuth 2.1: its metadata (RFC 9728), and the paths of the metadata. This
//! module must not know tokens.

use bytes::Bytes;
use http::Uri;
use serde_json::json;

/// The path of the metadata of a resource whose URL has no path (RFC 9728, 3).
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The gateway as a protected resource.
#[derive(Debug)]
pub(super) struct Resource {
    /// The absolute URL of the resource's metadata.
    pub(super) metadata_url: String,
    /// The path of `metadata_url`.
    path: String,
    body: Bytes,
}

/// The error for an invalid resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot be this gateway's resource: it must be an absolute https URL without a query or fragment (http only on this \
     machine)"
)]
pub(crate) struct NoResource(pub(crate) String);

/// Returns the accepted spellings of a resource in tokens: the configured URL, and the form to which clients' URL
/// types normalize it (host and scheme in lower case, no default port, and `/` for an empty path; RFC 3986, 6.2).
pub(super) fn spellings(url: &str) -> Vec<Box<str>> {
    let mut all: Vec<Box<str>> = vec![url.into()];
    let parsed = url.parse::<Uri>().ok();
    if let Some((uri, authority)) = parsed.as_ref().and_then(|uri| Some((uri, uri.authority()?))) {
        let scheme = uri.scheme_str().unwrap_or("https").to_ascii_lowercase();
        let own = if scheme == "http" { 80 } else { 443 };
        let port = authority.port_u16().filter(|port| *port != own);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let origin = format!("{scheme}://{}{port}", authority.host().to_ascii_lowercase());
        all.push(format!("{origin}{}", uri.path()).into());
        if uri.path() == "/" {
            all.push(origin.into());
        }
    }
    all
}

impl Resource {
    /// Creates the resource at `url`. The authorization servers `issuers` issue tokens for it, with `scopes`.
    pub(super) fn new(url: &str, issuers: &[&str], scopes: &[Box<str>]) -> Result<Self, NoResource> {
        let bad = || NoResource(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let authority = uri.authority().filter(|_| upstream::web::is_safe(&uri)).ok_or_else(bad)?;
        if uri.query().is_some() || url.contains('#') {
            return Err(bad());
        }
        // The well-known part goes between host and path; a path that is only `/` counts as empty (RFC 9728, 3.1).
        let path =
            format!("{WELL_KNOWN}{}", Some(uri.path()).filter(|path| *path != "/").unwrap_or_default());
        let metadata_url = format!("{}://{authority}{path}", uri.scheme_str().unwrap_or("https"));
        let mut body = json!({
            "resource": url,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            body["scopes_supported"] = json!(scopes);
        }
        Ok(Self { metadata_url, path, body: Bytes::from(body.to_string()) })
    }

    /// Returns the metadata if `path` is the resource's own metadata path, or the metadata path without a resource
    /// path, which clients try next (MCP, authorization: protected resource metadata discovery).
    pub(super) fn metadata(&self, path: &str) -> Option<Bytes> {
        (path == self.path || path == WELL_KNOWN).then(|| self.body.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(url: &str) -> Result<Resource, NoResource> {
        Resource::new(url, &["https://id.example.com"], &["mcp".into()])
    }

    #[test]
    fn metadata_is_at_the_inserted_place_and_at_the_root() {
        let made = resource("https://mcp.example.com/mcp").unwrap();
        assert_eq!(made.metadata_url, "https://mcp.example.com/.well-known/oauth-protected-resource/mcp");
        let body = made.metadata("/.well-known/oauth-protected-resource/mcp").unwrap();
        assert_eq!(made.metadata(WELL_KNOWN), Some(body.clone()));
        for elsewhere in [
            "/",
            "/mcp",
            "/.well-known/oauth-protected-resource/",
            "/.well-known/oauth-protected-resource/mcp/x",
        ] {
            assert_eq!(made.metadata(elsewhere), None, "{elsewhere}");
        }
        let said: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            said,
            json!({
                "resource": "https://mcp.example.com/mcp",
                "authorization_servers": ["https://id.example.com"],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["mcp"],
            })
        );
        let bare = resource("https://mcp.example.com").unwrap();
        assert_eq!(bare.metadata_url, "https://mcp.example.com/.well-known/oauth-protected-resource");
        assert_eq!(resource("https://mcp.example.com/").unwrap().metadata_url, bare.metadata_url);
        assert_eq!(
            resource("http://127.0.0.1:8808/mcp").unwrap().metadata_url,
            "http://127.0.0.1:8808/.well-known/oauth-protected-resource/mcp"
        );
    }

    #[test]
    fn a_resource_is_the_same_in_other_spellings() {
        let all = |url: &str| spellings(url).iter().map(ToString::to_string).collect::<Vec<_>>();
        for (written, other) in [
            ("https://mcp.example.com", "https://mcp.example.com/"),
            ("https://mcp.example.com/", "https://mcp.example.com"),
            ("https://MCP.example.com:443/Mcp", "https://mcp.example.com/Mcp"),
            ("http://127.0.0.1:80", "http://127.0.0.1/"),
            ("http://[::1]:8808", "http://[::1]:8808/"),
        ] {
            let all = all(written);
            assert!(all.contains(&written.to_owned()) && all.contains(&other.to_owned()), "{all:?}");
        }
        let all = all("https://mcp.example.com/mcp");
        assert!(all.iter().all(|one| one == "https://mcp.example.com/mcp"), "{all:?}");
    }

    #[test]
    fn what_is_no_safe_absolute_url_is_no_resource() {
        for bad in [
            "",
            "/mcp",
            "mcp.example.com",
            "http://mcp.example.com/mcp",
            "https://mcp.example.com/mcp?x=1",
            "https://mcp.example.com/mcp#top",
            "https://user:word@mcp.example.com/mcp",
            "ftp://127.0.0.1/mcp",
            "http://127.0.0.1.example.com/mcp",
        ] {
            assert_eq!(resource(bad).unwrap_err(), NoResource(bad.to_owned()));
        }
    }
}
