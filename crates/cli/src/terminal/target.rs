//! The server to connect to: a URL, a command, an embedded server.

use std::sync::Arc;
use std::time::Duration;

use config::{HttpTransport, Link, Native, Server};
use http::{HeaderMap, Uri};
use transport::child::Spec;
use transport::net::client::Route;

use crate::output::console::one_line;
use crate::output::failure::Failure;
use upstream::destination;
use upstream::oauth::{Consents, Grant, GrantSettings};
use upstream::route::Routes;

/// The time for connecting to an authorization server.
const CONNECT: Duration = Duration::from_secs(10);

/// A server, and how this client reaches it.
#[derive(Debug)]
pub(crate) enum Target {
    /// A server over HTTP.
    Http {
        /// The server's endpoint.
        uri: Uri,
        /// The headers of every request.
        headers: HeaderMap,
        /// The HTTP transport to use.
        transport: HttpTransport,
        /// The proxy and the TLS settings for the connection.
        route: Route,
        /// The grant that supplies the token, for a server at which Dragoman is an OAuth client.
        grant: Option<Arc<Grant>>,
    },
    /// A server that runs as a child process.
    Child(Spec),
    /// A server in this process.
    Native(Native),
}

impl Target {
    /// Returns a server by its URL.
    ///
    /// # Errors
    /// Fails if the text is not a URL with a host.
    pub(crate) fn of_url(url: &str, headers: HeaderMap) -> Result<Self, Failure> {
        let help = "write it as https://host/path or http://host:port/path";
        let uri: Uri =
            url.parse().map_err(|e| Failure::usage(format!("{url:?} is not a URL: {e}")).help(help))?;
        if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
            let message = "a URL needs a host, and must not contain a user name or a password";
            return Err(
                Failure::usage(message).help("send credentials as a header: --header 'Authorization: …'")
            );
        }
        Ok(Self::Http { uri, headers, transport: HttpTransport::Auto, route: Route::default(), grant: None })
    }

    /// Returns a server by its command.
    pub(crate) fn of_command(command: &[String]) -> Self {
        let (program, args) =
            command.split_first().map_or((String::new(), &[][..]), |(p, args)| (p.clone(), args));
        Self::Child(Spec { program, args: args.to_vec(), inherit: vec!["*".to_owned()], ..Spec::default() })
    }

    /// Returns a configured server; `extra` headers override configured ones.
    ///
    /// # Errors
    /// Fails if this client cannot reach the server.
    pub(crate) fn of_server(name: &str, server: &Server, extra: &HeaderMap) -> Result<Self, Failure> {
        match &server.link {
            Link::Native(native) => Ok(Self::Native(native.native)),
            Link::Http(http) => {
                let mut headers = destination::headers(name, http).map_err(Failure::usage)?;
                headers.extend(extra.clone());
                let mut target = Self::of_url(http.url.expose(), headers)?;
                if let Self::Http { uri, transport, route, grant, .. } = &mut target {
                    *transport = http.transport;
                    let routes = Routes::of(&server.link);
                    let routes = routes.map_err(|why| Failure::usage(format!("{name}: {why}")))?;
                    *route = routes.server;
                    *grant = http.oauth.as_ref().filter(|oauth| oauth.is_machine()).map(|oauth| {
                        let (url, client) = (uri.clone(), oauth.clone());
                        let settings = GrantSettings { url, client, route: routes.others };
                        Consents::new(None, CONNECT).enter(&name.into(), None, settings)
                    });
                }
                Ok(target)
            }
            Link::Stdio(link) => Ok(Self::Child(destination::child(link))),
        }
    }

    /// Returns the line that is shown while the connection is being opened.
    pub(crate) fn opening_line(&self, waited: Duration) -> String {
        /// The time after which the reason for a slow first start is given.
        const SLOW: Duration = Duration::from_secs(5);
        let seconds = waited.as_secs();
        match self {
            Self::Http { uri, .. } => {
                let host = uri.authority().map_or("the server", |authority| authority.as_str());
                format!("connecting to {}, {seconds} s", one_line(host))
            }
            Self::Child(spec) => {
                let program = spec.program.rsplit('/').next().unwrap_or_default();
                let fetches = matches!(program, "npx" | "uvx" | "bunx" | "pipx" | "docker" | "podman");
                let why =
                    if fetches && waited >= SLOW { " (the first start downloads the server)" } else { "" };
                format!("starting {}, {seconds} s{why}", one_line(program))
            }
            Self::Native(_) => format!("starting, {seconds} s"),
        }
    }

    /// Returns true if requests have headers.
    pub(crate) fn over_http(&self) -> bool {
        matches!(self, Self::Http { .. })
    }
}
