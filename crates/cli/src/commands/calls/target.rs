//! The TARGET of commands, and their common steps: connect, work, disconnect.

use std::net::IpAddr;
use std::time::Duration;

use config::Limits;
use config::nearest::nearest;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use proto::era::{ERAS, Era, by_version};
use tokio::time::Instant;

use crate::commands::configuration::settings::Settings;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::output::status_line;
use crate::terminal::connect::{ConnectOptions, connect};
use crate::terminal::rounds::interruptible;
use crate::terminal::target::Target;
use crate::terminal::{ClientHandler, Connection};
use upstream::mask::Mask;

/// The default time to wait for an answer or a progress message.
const PATIENCE: Duration = Duration::from_mins(1);

/// The options of a target.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetOptions {
    /// A header for every request to a URL; may be repeated
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(HeaderName, HeaderValue)>,
    /// Use this protocol version instead of the newest that the server supports
    #[arg(long, value_name = "VERSION", value_parser = era)]
    era: Option<&'static Era>,
    /// Wait at most this long for an answer or a progress message [default: 60; for a command to start: 90]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// The command that starts a server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    let name = name.trim().parse::<HeaderName>().map_err(|e| e.to_string())?;
    let mut value = HeaderValue::from_str(value.trim()).map_err(|e| e.to_string())?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn era(version: &str) -> Result<&'static Era, String> {
    by_version(version).ok_or_else(|| {
        let known: Vec<&str> = ERAS.iter().map(|era| era.version).collect();
        format!("supported versions are {}", known.join(", "))
    })
}

impl TargetOptions {
    /// Returns the target: the command after `--`, or else the first of `words`, which is removed. Also returns the
    /// secrets to mask, and the time that the target may take to start.
    fn target(
        &self,
        words: &mut Vec<String>,
        global: &Global,
        console: &Console,
    ) -> Result<(Target, Mask, Duration), Failure> {
        let start = Limits::default().start_timeout;
        if !self.command.is_empty() {
            return Ok((Target::of_command(&self.command), Mask::default(), start));
        }
        let headers: HeaderMap = self.header.iter().cloned().collect();
        let help = "give a URL, the name of a configured server, or a command after --";
        if words.is_empty() {
            let settings = Settings::read(global.config.as_deref(), console)?;
            let message = format!("which server? {}", configured(&settings));
            return Err(Failure::usage(message).help(help));
        }
        let name = words.remove(0);
        if name.contains("://") {
            return Ok((Target::of_url(&name, headers)?, Mask::default(), start));
        }
        let settings = Settings::read(global.config.as_deref(), console)?;
        let Some(server) = settings.config.mcp_servers.get(&name) else {
            let message = format!("there is no server {name:?}; {}", configured(&settings));
            let near = nearest(&name, settings.config.mcp_servers.keys().map(String::as_str));
            let meant = near.map(str::to_owned).or_else(|| as_url(&name));
            let help = meant.map_or(help.to_owned(), |meant| format!("did you mean {meant}?"));
            return Err(Failure::usage(message).help(help));
        };
        let start = server.start_timeout.unwrap_or(settings.config.limits.start_timeout);
        Ok((Target::of_server(&name, server, &headers)?, Mask::of(&server.link), start))
    }

    /// Returns true if the target is a command after `--`.
    pub(crate) fn has_command(&self) -> bool {
        !self.command.is_empty()
    }

    /// Returns the command after `--`; empty if there is none.
    pub(crate) fn command(&self) -> &[String] {
        &self.command
    }

    /// Connects to the target, works with it, and disconnects. `words` are the arguments before the command; `work`
    /// gets those that remain after the target.
    pub(crate) fn visit<T>(
        &self,
        mut words: Vec<String>,
        questions: Questions,
        global: &Global,
        console: &Console,
        work: impl AsyncFnOnce(&mut Connection, &mut ClientHandler<'_>, Vec<String>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (target, mask, start) = self.target(&mut words, global, console)?;
        if !self.header.is_empty() && !target.over_http() {
            return Err(Failure::usage("only servers with a URL accept headers").help("omit --header"));
        }
        let given = self.timeout.map(Duration::from_secs);
        let mut handler = ClientHandler::new(console, questions == Questions::WithoutStdin);
        let wishes = ConnectOptions {
            era: self.era,
            patience: given.unwrap_or(PATIENCE),
            start: given.unwrap_or(start),
            may_ask: questions != Questions::None && handler.can_ask(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
        let visited = runtime.block_on(async {
            let opening = |waited: Duration| target.opening_line(waited);
            let connecting =
                status_line::watched(console, Instant::now(), opening, connect(&target, mask, wishes));
            let connected = tokio::select! {
                connected = connecting => connected,
                _ = tokio::signal::ctrl_c() => return Err(Failure::interrupted()),
            };
            status_line::clear();
            let mut connection = connected?;
            let done = interruptible(&mut connection, async |connection: &mut Connection| {
                work(connection, &mut handler, words).await
            })
            .await;
            connection.close().await;
            done
        });
        // A pending read of stdin cannot be cancelled.
        runtime.shutdown_background();
        visited
    }
}

/// The questions that a server may have for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Questions {
    /// No questions: the command sends no request that could lead to one.
    None,
    /// Questions that the user can answer on stdin.
    Any,
    /// Questions are possible, but the command itself reads stdin, so the user cannot answer there.
    WithoutStdin,
}

/// Returns the URL that was probably meant by a text without a scheme: a host with a port or a path.
fn as_url(text: &str) -> Option<String> {
    let (authority, _) = text.split_once('/').unwrap_or((text, ""));
    let uri: Uri = format!("http://{text}").parse().ok()?;
    let host = uri.host().filter(|host| !host.is_empty())?;
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let is_host = is_address || host == "localhost" || host.contains('.') || uri.port().is_some();
    let is_near = is_address || host == "localhost" || !host.contains('.');
    let scheme = if is_near { "http" } else { "https" };
    let path = if text.contains('/') { "" } else { "/mcp" };
    (is_host && !authority.contains('@')).then(|| format!("{scheme}://{text}{path}"))
}

fn configured(settings: &Settings) -> String {
    let names: Vec<&str> = settings.config.mcp_servers.keys().map(String::as_str).collect();
    match &settings.file {
        Some(file) if names.is_empty() => format!("{} configures none", file.display()),
        Some(file) => format!("{} configures {}", file.display(), names.join(", ")),
        None => format!("without a configuration, the only one is {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let (name, value) = header("Authorization:  Bearer x:y ").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("authorization", "Bearer x:y"));
        assert!(value.is_sensitive());
        for text in ["x", ": y", "a b: c", "a: b\nc"] {
            assert!(header(text).is_err(), "{text}");
        }
    }

    #[test]
    fn urls_without_a_scheme_are_recognised() {
        for (text, want) in [
            ("127.0.0.1:8808/mcp", Some("http://127.0.0.1:8808/mcp")),
            ("localhost:8808", Some("http://localhost:8808/mcp")),
            ("[::1]:8808/mcp", Some("http://[::1]:8808/mcp")),
            ("box:80", Some("http://box:80/mcp")),
            ("example.com/mcp", Some("https://example.com/mcp")),
            ("example.com", Some("https://example.com/mcp")),
            ("files", None),
            ("my server", None),
            ("u:p@h.example/", None),
            ("", None),
        ] {
            assert_eq!(as_url(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn versions_are_those_that_are_known() {
        for known in ERAS {
            assert_eq!(era(known.version).unwrap(), known);
        }
        assert!(era("1999-01-01").unwrap_err().contains(ERAS[0].version));
    }
}
