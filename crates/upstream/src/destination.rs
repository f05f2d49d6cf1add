//! The destination of an upstream: a URL, a child process, or this process. This module must not know the requests.

use std::sync::Arc;

use config::{HttpLink as HttpConfig, Link as LinkConfig, StdioLink};
use engine::passed_headers::PassedHeaders;
use engine::snapshot::{Snapshot, UpstreamSpec};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Uri};
use native::NativeServer;
use transport::child::{ChildCaps, Spec};
use transport::net::client::Route;
use transport::up::{HttpLimits, HttpTarget};

use crate::embedded;
use crate::oauth::{CallerId, Consents, Grant, GrantSettings};
use crate::route::Routes;

/// Returns the caps on what a server over HTTP may send.
fn http_limits(spec: &UpstreamSpec, snapshot: &Snapshot) -> HttpLimits {
    let limits = &snapshot.limits;
    HttpLimits {
        result: limits.result,
        event: limits.result,
        patience: limits.connect_timeout * 3,
        body: spec.calls.longest(),
        frame: engine::snapshot::frame_limits(limits),
    }
}

/// The destination to which links to an upstream lead.
pub enum Destination {
    /// A URL, and the route to the server's authorization server.
    Http(Arc<HttpTarget>, Route),
    /// A child process.
    Child(Spec),
    /// This process.
    Native(Arc<dyn NativeServer>),
}

impl Destination {
    /// Returns the host and the port of a server that is reached over HTTP.
    pub(crate) fn address(&self) -> Option<(Arc<str>, u16)> {
        let Self::Http(target, _) = self else { return None };
        let port = if target.uri.scheme_str() == Some("https") { 443 } else { 80 };
        Some((target.uri.host()?.into(), target.uri.port_u16().unwrap_or(port)))
    }

    /// Returns the configured destination, and the OAuth grant if the credential comes from users' consent.
    ///
    /// # Errors
    /// Returns a message that names the invalid setting.
    pub fn of(
        spec: &UpstreamSpec,
        snapshot: &Snapshot,
        consents: &Consents,
    ) -> Result<(Self, Option<Arc<Grant>>), String> {
        let mut grant = None;
        let place = match &spec.link {
            LinkConfig::Native(native) => {
                let made = embedded::server(native, snapshot);
                Self::Native(made.map_err(|e| format!("{}: {e}", spec.name))?)
            }
            LinkConfig::Http(http) => {
                let uri: Uri = http.url.expose().parse().map_err(|e| format!("{}: {e}", spec.name))?;
                let headers = headers(&spec.name, http)?;
                let routes = Routes::of(&spec.link).map_err(|e| format!("{}: {e}", spec.name))?;
                let passes = http.pass_headers.iter().any(|passed| passed.to == AUTHORIZATION);
                if !headers.contains_key(AUTHORIZATION) && !passes && !spec.own_consent {
                    let settings = grant_settings(&uri, http, &routes.others);
                    grant = Some(consents.enter(&spec.name, None, settings));
                }
                let credential = grant.as_ref().map(|grant| grant.credential()).unwrap_or_default();
                let limits = http_limits(spec, snapshot).into();
                let target = HttpTarget { uri, headers, credential, limits, route: routes.server };
                Self::Http(Arc::new(target), routes.others)
            }
            LinkConfig::Stdio(link) => Self::Child(child(link)),
        };
        Ok((place, grant))
    }

    /// Applies the limits of another snapshot to every later request; `spec` is the server's entry in that snapshot.
    pub fn follow(&self, spec: &UpstreamSpec, snapshot: &Snapshot) {
        if let Self::Http(target, _) = self {
            target.limits.set(http_limits(spec, snapshot));
        }
    }

    /// Returns the same destination for one caller only. If every caller gives consent separately, also returns the
    /// caller's own grant; otherwise, the grant is `None`.
    pub fn owned(
        &self,
        spec: &UpstreamSpec,
        caller: &CallerId,
        passed: &PassedHeaders,
        consents: &Consents,
    ) -> (Self, Option<Arc<Grant>>) {
        match (self, &spec.link) {
            (Self::Http(target, authorization), LinkConfig::Http(http))
                if spec.own_consent && !caller.is_stranger() =>
            {
                let caller = caller.clone().passing(PassedHeaders::default());
                let caller = Some(caller).filter(CallerId::is_known);
                let settings = grant_settings(&target.uri, http, authorization);
                let grant = consents.enter(&spec.name, caller, settings);
                let target = HttpTarget { credential: grant.credential(), ..with_headers(target, passed) };
                (Self::Http(Arc::new(target), authorization.clone()), Some(grant))
            }
            // These destinations need no consent.
            (Self::Http(target, authorization), _) => {
                (Self::Http(Arc::new(with_headers(target, passed)), authorization.clone()), None)
            }
            (Self::Child(child), _) => (Self::Child(child.clone()), None),
            (Self::Native(native), _) => (Self::Native(native.clone()), None),
        }
    }
}

/// Returns the same target, whose requests carry these headers in addition to the configured ones.
fn with_headers(target: &HttpTarget, passed: &PassedHeaders) -> HttpTarget {
    let mut target = HttpTarget::clone(target);
    for (name, value) in passed.iter() {
        target.headers.append(name.clone(), value.clone());
    }
    target
}

fn grant_settings(url: &Uri, http: &HttpConfig, route: &Route) -> GrantSettings {
    GrantSettings { url: url.clone(), client: http.oauth.clone().unwrap_or_default(), route: route.clone() }
}

/// Returns the configured program.
pub fn child(link: &StdioLink) -> Spec {
    Spec {
        program: link.command.expose().to_owned(),
        args: link.args.iter().map(|arg| arg.expose().to_owned()).collect(),
        env: link.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
        cwd: link.cwd.as_ref().map(|cwd| cwd.expose().into()),
        inherit: Vec::new(),
        caps: ChildCaps {
            memory: link.max_memory.and_then(|bytes| bytes.try_into().ok()),
            processes: link.max_processes.and_then(|count| count.try_into().ok()),
        },
    }
}

/// Returns the configured headers of requests to the server.
///
/// # Errors
/// Returns a message that names the invalid header.
pub fn headers(server: &str, http: &HttpConfig) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &http.headers {
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| format!("{server}: the {name} header has a value that HTTP cannot carry"))?;
        value.set_sensitive(true);
        headers.insert(name.clone(), value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_the_caps_of_its_server() {
        let link = StdioLink { max_memory: Some(64 << 20), max_processes: Some(4), ..StdioLink::default() };
        assert_eq!(child(&link).caps, ChildCaps { memory: Some(64 << 20), processes: Some(4) });
        assert_eq!(child(&StdioLink::default()).caps, ChildCaps::default());
    }
}
