//! Connects to each configured server, and reports the server's version, its transport and the number of its tools,
//! or the reason why the connection fails.

use std::time::Duration;

use config::{Config, Link, Native, Server};
use engine::catalogue::ListKind;
use engine::credential::challenge::Challenge;
use engine::snapshot::gives_own_consent;
use http::HeaderMap;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, timeout, timeout_at};
use upstream::mask::Mask;

use super::finding::{Finding, Level};
use crate::commands::configuration::settings::Settings;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::status_line;
use crate::terminal::catalogue::gather;
use crate::terminal::connect::{ConnectOptions, Unconnected, try_to_connect};
use crate::terminal::target::Target;
use crate::terminal::{ClientHandler, Connection};

/// The number of servers that are checked at the same time.
const AT_ONCE: usize = 4;

/// The time for an answer over HTTP, and for the list of tools.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server to check.
struct Candidate {
    name: String,
    server: Server,
    /// The time limit for the first answer.
    start: Duration,
    /// The time limit for the whole check.
    limit: Duration,
    /// True if each caller gives its own consent to a server that requires consent.
    is_per_caller: bool,
}

impl Candidate {
    /// Returns true if the server refused this command only because each caller gives its own consent.
    fn awaits_callers(&self, refused: &Unconnected) -> bool {
        let Link::Http(link) = &self.server.link else { return false };
        let offers = |challenge: &String| Challenge::read(challenge).resource_metadata.is_some();
        let is_consent = |challenge| link.oauth.is_some() || offers(challenge);
        self.is_per_caller && refused.challenge.as_ref().is_some_and(is_consent)
    }
}

/// Connects to the servers, and reports the result for each as soon as it is known.
///
/// # Errors
/// Fails if a named server is not configured, or after Ctrl-C.
pub(super) fn check(
    settings: &Settings,
    named: &[String],
    limit: Option<u64>,
    console: &Console,
    tell: &mut dyn FnMut(Finding) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let candidates = chosen(&settings.config, named, limit.map(Duration::from_secs))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
    LocalSet::new().block_on(&runtime, async {
        tokio::select! {
            done = all(candidates, console, tell) => done,
            _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
        }
    })
}

fn chosen(config: &Config, named: &[String], limit: Option<Duration>) -> Result<Vec<Candidate>, Failure> {
    for name in named {
        if !config.mcp_servers.contains_key(name) {
            let known: Vec<&str> = config.mcp_servers.keys().map(String::as_str).collect();
            let near = config::nearest::nearest(name, known.iter().copied());
            let help = near.map_or_else(
                || format!("the configured servers are {}", known.join(", ")),
                |near| format!("did you mean {near}?"),
            );
            return Err(Failure::usage(format!("there is no server {name:?}")).help(help));
        }
    }
    let is_chosen = |name: &String, server: &Server| {
        if named.is_empty() { !server.disabled } else { named.contains(name) }
    };
    let chosen = config.mcp_servers.iter().filter(|(name, server)| is_chosen(name, server));
    let candidate = |(name, server): (&String, &Server)| {
        let start = limit.or(server.start_timeout).unwrap_or(config.limits.start_timeout);
        // Over HTTP, several versions and transports may be tried, and a list may have many pages, each with its own deadline.
        let limit = limit.unwrap_or(start + 3 * PATIENCE);
        let is_per_caller = gives_own_consent(config, &server.link);
        Candidate { name: name.clone(), server: server.clone(), start, limit, is_per_caller }
    };
    Ok(chosen.map(candidate).collect())
}

async fn all(
    candidates: Vec<Candidate>,
    console: &Console,
    tell: &mut dyn FnMut(Finding) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (total, since) = (candidates.len(), Instant::now());
    let mut waiting = candidates.into_iter();
    let mut running = JoinSet::new();
    for candidate in waiting.by_ref().take(AT_ONCE) {
        running.spawn_local(one(candidate));
    }
    let mut done = 0;
    while !running.is_empty() {
        let line =
            |waited: Duration| format!("checking servers: {done} of {total} done, {} s", waited.as_secs());
        let ended = status_line::watched(console, since, line, running.join_next()).await;
        done += 1;
        status_line::clear();
        if let Some(candidate) = waiting.next() {
            running.spawn_local(one(candidate));
        }
        match ended {
            Some(Ok(finding)) => tell(finding)?,
            Some(Err(error)) => {
                let help =
                    "report this as a bug in Dragoman, with the log of `dragoman doctor -vv`".to_owned();
                let message = format!("the check of a server failed: {error}");
                tell(Finding::new(Level::Error, "servers", message, Some(help)))?;
            }
            None => {}
        }
    }
    Ok(())
}

/// Connects to one server, and lists its tools, within the candidate's time limit.
async fn one(candidate: Candidate) -> Finding {
    let Candidate { name, server, start, limit, .. } = &candidate;
    let (start, limit) = (*start, *limit);
    let subject = format!("server {name}");
    if matches!(&server.link, Link::Native(native) if native.native != Native::Demo) {
        let message = "it is embedded in Dragoman, so it needs no connection";
        return Finding::new(Level::Ok, subject, message, None);
    }
    let wishes = ConnectOptions { era: None, patience: PATIENCE.min(start), start, may_ask: false };
    let target = match Target::of_server(name, server, &HeaderMap::new()) {
        Ok(target) => target,
        Err(failure) => {
            return Finding::new(Level::Error, subject, failure.message_alone(), failure.help_alone());
        }
    };
    let asked = Instant::now();
    let until = asked + limit;
    let mut connection =
        match timeout_at(until, try_to_connect(&target, Mask::of(&server.link), wishes)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(refused)) if candidate.awaits_callers(&refused) => {
                let message = "it answers; its tools are not known until a caller has given consent";
                return Finding::new(Level::Ok, subject, message, None);
            }
            Ok(Err(Unconnected { failure, .. })) => {
                return Finding::new(Level::Error, subject, failure.message_alone(), failure.help_alone());
            }
            Err(_) => return late(subject, "answer", limit),
        };
    let millis = asked.elapsed().as_millis();
    let told = timeout_at(until, tools(&mut connection)).await;
    let how = format!("{}, protocol {}, {millis} ms", connection.transport(), connection.era().version);
    // If the server does not close the connection in time, the check ends without waiting any longer.
    let _ = timeout(PATIENCE, connection.close()).await;
    match told {
        Ok(Ok(Some(count))) => Finding::new(Level::Ok, subject, format!("{count} tools ({how})"), None),
        Ok(Ok(None)) => Finding::new(Level::Ok, subject, format!("it has no tools ({how})"), None),
        Ok(Err(failure)) => {
            let message = format!("its tools cannot be listed: {} ({how})", failure.message_alone());
            Finding::new(Level::Error, subject, message, failure.help_alone())
        }
        Err(_) => late(subject, "list its tools", limit),
    }
}

fn late(subject: String, what: &str, limit: Duration) -> Finding {
    let message = format!("it did not {what} within {} s", limit.as_secs());
    let help =
        "run `dragoman list SERVER -vv` to see what the server does, or allow more time with --timeout"
            .to_owned();
    Finding::new(Level::Error, subject, message, Some(help))
}

/// Returns the number of the server's tools; `None` if the server has none.
async fn tools(connection: &mut Connection) -> Result<Option<usize>, Failure> {
    let silent = Console::silent();
    let mut handler = ClientHandler::new(&silent, true);
    let catalogue = gather(connection, &[ListKind::Tools], &mut handler).await?;
    Ok(Some(catalogue.list(ListKind::Tools).len()).filter(|count| *count > 0))
}
