//! Where an upstream is: at an address, in a child, in this process. It must not know what is asked of it.

use std::sync::Arc;

use engine::config::{HttpLink as HttpConfig, Link as LinkConfig, StdioLink};
use engine::snapshot::{Snapshot, UpstreamSpec};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Uri};
use native::NativeServer;
use transport::child::Spec;
use transport::up::{HttpLimits, HttpTarget};

use crate::embedded;
use crate::oauth::{Consents, Grant, Whose};

/// Where an upstream is.
pub enum Destination {
    /// At an address.
    Http(Arc<HttpTarget>),
    /// In a child.
    Child(Spec),
    /// In this process.
    Native(Arc<dyn NativeServer>),
}

impl Destination {
    /// The place that the configuration names, and the consent of its users where a credential comes from that.
    ///
    /// # Errors
    /// What of it cannot be, for a person.
    pub fn of(
        spec: &UpstreamSpec,
        snapshot: &Snapshot,
        consents: &Consents,
    ) -> Result<(Self, Option<Arc<Grant>>), String> {
        let limits = &snapshot.limits;
        let mut grant = None;
        let place = match &spec.link {
            LinkConfig::Native(native) => {
                let made = embedded::server(native, snapshot);
                Self::Native(made.map_err(|e| format!("{}: {e}", spec.name))?)
            }
            LinkConfig::Http(http) => {
                let uri: Uri = http.url.expose().parse().map_err(|e| format!("{}: {e}", spec.name))?;
                let headers = headers(&spec.name, http)?;
                if !headers.contains_key(AUTHORIZATION) && !spec.apart {
                    let client = http.oauth.clone().unwrap_or_default();
                    grant = Some(consents.enter(&spec.name, None, uri.clone(), client));
                }
                let credential = grant.as_ref().map(|grant| grant.credential()).unwrap_or_default();
                let limits = HttpLimits {
                    result: limits.result,
                    event: limits.result,
                    patience: limits.connect_timeout * 3,
                    body: spec.timeouts.overall,
                    frame: engine::snapshot::frame_limits(limits),
                };
                Self::Http(Arc::new(HttpTarget { uri, headers, credential, limits }))
            }
            LinkConfig::Stdio(link) => Self::Child(child(link)),
        };
        Ok((place, grant))
    }

    /// The same place for one caller alone, and its own consent.
    pub fn owned(
        &self,
        spec: &UpstreamSpec,
        whose: &Whose,
        consents: &Consents,
    ) -> (Self, Option<Arc<Grant>>) {
        match (self, &spec.link) {
            (Self::Http(target), LinkConfig::Http(http)) => {
                let client = http.oauth.clone().unwrap_or_default();
                let whose = Some(whose.clone()).filter(Whose::is_known);
                let grant = consents.enter(&spec.name, whose, target.uri.clone(), client);
                let (uri, headers) = (target.uri.clone(), target.headers.clone());
                let target =
                    HttpTarget { uri, headers, credential: grant.credential(), limits: target.limits };
                (Self::Http(Arc::new(target)), Some(grant))
            }
            // Nobody's consent is asked for there.
            (Self::Http(target), _) => (Self::Http(target.clone()), None),
            (Self::Child(child), _) => (Self::Child(child.clone()), None),
            (Self::Native(native), _) => (Self::Native(native.clone()), None),
        }
    }
}

/// The configured program.
pub fn child(link: &StdioLink) -> Spec {
    Spec {
        program: link.command.expose().to_owned(),
        args: link.args.iter().map(|arg| arg.expose().to_owned()).collect(),
        env: link.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
        cwd: link.cwd.as_ref().map(|cwd| cwd.expose().into()),
        inherit: Vec::new(),
    }
}

/// The configured headers of requests to it.
///
/// # Errors
/// Which of them cannot be.
pub fn headers(server: &str, http: &HttpConfig) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &http.headers {
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| format!("{server}: header {name} has a value that HTTP cannot carry"))?;
        value.set_sensitive(true);
        headers.insert(name.clone(), value);
    }
    Ok(headers)
}
