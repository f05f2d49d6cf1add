//! The server to connect to: a URL, a command, an embedded server.

use engine::config::{HttpTransport, Link, Native, Server};
use http::{HeaderMap, Uri};
use transport::child::Spec;

use crate::output::failure::Failure;
use upstream::destination;

/// A server, in the form in which this client reaches it.
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
        Ok(Self::Http { uri, headers, transport: HttpTransport::Auto })
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
                if let Self::Http { transport, .. } = &mut target {
                    *transport = http.transport;
                }
                Ok(target)
            }
            Link::Stdio(link) => Ok(Self::Child(destination::child(link))),
        }
    }

    /// Returns true if requests have headers.
    pub(crate) fn over_http(&self) -> bool {
        matches!(self, Self::Http { .. })
    }
}
