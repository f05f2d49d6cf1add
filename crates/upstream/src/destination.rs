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

/// Returns the configured program. For a bundle, this is Dragoman itself, which unpacks the bundle in a separate process.
/// That process then becomes the server, so a hostile bundle cannot harm the gateway or other servers.
pub fn child(link: &StdioLink) -> Spec {
    let (program, args) = if let Some(bundle) = &link.bundle {
        (own_program(), bundle_args(link, bundle))
    } else {
        let args = link.args.iter().map(|arg| arg.expose().to_owned());
        (link.command.expose().to_owned(), args.collect())
    };
    let mut env: Vec<(String, String)> =
        link.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    if link.bundle.is_some() {
        // The settings are not passed as arguments, because every user of the machine may see a process's arguments.
        env.push((BUNDLE_SETTINGS.to_owned(), bundle_settings(link)));
    }
    Spec {
        program,
        args,
        env,
        cwd: link.cwd.as_ref().map(|cwd| cwd.expose().into()),
        inherit: Vec::new(),
        caps: ChildCaps {
            memory: link.max_memory.and_then(|bytes| bytes.try_into().ok()),
            processes: link.max_processes.and_then(|count| count.try_into().ok()),
        },
    }
}

/// The variable with the settings of a bundle: a JSON object of lists of strings.
pub const BUNDLE_SETTINGS: &str = "DRAGOMAN_BUNDLE_SETTINGS";

/// The command that starts the server of a bundle.
pub const RUN_BUNDLE: &str = "run-bundle";

fn own_program() -> String {
    let path =
        std::env::current_exe().map_or_else(|_| "dragoman".to_owned(), |path| path.display().to_string());
    // The program's file was replaced while the program was running.
    path.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(path)
}

fn bundle_args(link: &StdioLink, bundle: &config::Text) -> Vec<String> {
    let mut args = vec![RUN_BUNDLE.to_owned(), bundle.expose().to_owned()];
    if let Some(sha256) = &link.sha256 {
        args.extend(["--sha256".to_owned(), sha256.expose().to_owned()]);
    }
    if link.cwd.is_some() {
        args.push("--stay".to_owned());
    }
    args
}

fn bundle_settings(link: &StdioLink) -> String {
    let settings = link.config.iter().map(|(name, values)| {
        let values = values.iter().map(|value| value.expose().into()).collect();
        (name.clone(), serde_json::Value::Array(values))
    });
    serde_json::Value::Object(settings.collect()).to_string()
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
    use config::Text;

    #[test]
    fn a_child_has_the_caps_of_its_server() {
        let link = StdioLink { max_memory: Some(64 << 20), max_processes: Some(4), ..StdioLink::default() };
        assert_eq!(child(&link).caps, ChildCaps { memory: Some(64 << 20), processes: Some(4) });
        assert_eq!(child(&StdioLink::default()).caps, ChildCaps::default());
    }

    #[test]
    fn a_bundle_is_started_by_dragoman_with_its_settings_in_the_environment() {
        let link = StdioLink {
            bundle: Some(Text::plain("/x.mcpb")),
            sha256: Some(Text::plain("ab")),
            config: [("key".to_owned(), vec![Text::plain("s3cret")])].into_iter().collect(),
            ..StdioLink::default()
        };
        let spec = child(&link);
        assert_eq!(spec.args, ["run-bundle", "/x.mcpb", "--sha256", "ab"]);
        assert_eq!(spec.env, [(BUNDLE_SETTINGS.to_owned(), r#"{"key":["s3cret"]}"#.to_owned())]);
    }
}
