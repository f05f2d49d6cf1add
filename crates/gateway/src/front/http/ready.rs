//! `/ready`: reports whether Dragoman accepts requests, and whether its servers are available. Anybody may ask, so the
//! answer contains no text from a server, and no names if callers have to authenticate. This module must not know how
//! servers are monitored.

use std::fmt::Write as _;

use config::Readiness;
use http::{Response, StatusCode};
use transport::net::Body;
use upstream::health::HealthReport;

use super::answer;
use crate::process::Shard;

/// A server whose state decides if Dragoman is ready, and this state.
struct CountedServer {
    name: Option<String>,
    health: HealthReport,
}

/// Returns the answer at `/ready`.
pub(super) fn ready(shard: &Shard) -> Response<Body> {
    if shard.gateway.process.stop.is_stopped() {
        return answer::text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    let mode = shard.gateway.standing.config().ready;
    match missing(mode, &counted(shard)) {
        None => answer::text(StatusCode::OK, "ready\n"),
        Some(reasons) => answer::text(StatusCode::SERVICE_UNAVAILABLE, &reasons),
    }
}

/// Returns the servers whose states decide if Dragoman is ready. A server that requires each caller's own consent
/// is included only if it has a state that all callers share.
fn counted(shard: &Shard) -> Vec<CountedServer> {
    let gateway = &shard.gateway;
    let (servers, hides_names) = (&gateway.standing.config().mcp_servers, shard.door.asks());
    let counts = |name: &str| servers.get(name).is_some_and(|server| !server.optional);
    let all = shard.view.state.upstreams.all();
    let own = all.iter().map(|one| &one.common.server);
    own.filter(|server| gateway.snapshot.upstream(server.spec.id).is_some())
        .filter(|server| counts(server.name()) && (!server.is_per_caller() || server.has_common_state()))
        .map(|server| CountedServer {
            name: (!hides_names).then(|| server.name().to_string()),
            health: server.health.report(),
        })
        .collect()
}

/// Returns the reasons why Dragoman is not ready, one line for each server; `None` if it is ready.
fn missing(mode: Readiness, servers: &[CountedServer]) -> Option<String> {
    let is_there = |server: &CountedServer| match mode {
        Readiness::Started => server.health.was_tried,
        Readiness::Any | Readiness::All => server.health.word.is_usable(),
    };
    let away: Vec<&CountedServer> = servers.iter().filter(|server| !is_there(server)).collect();
    let is_ready = match mode {
        Readiness::Any => away.len() < servers.len() || servers.is_empty(),
        Readiness::Started | Readiness::All => away.is_empty(),
    };
    if is_ready {
        return None;
    }
    let mode = mode.name();
    let mut text = format!(
        "not ready: {} of {} servers are missing (setting `ready: {mode}`)\n",
        away.len(),
        servers.len()
    );
    for CountedServer { name, health } in away {
        let name = name.as_deref().unwrap_or("a server");
        let (word, cause) = (health.word, &health.cause.brief);
        let lasted = health.since.elapsed().as_secs();
        let _ = writeln!(text, "{name}: {word} for {lasted} s: {cause}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use upstream::health::{HealthCause, HealthWord};

    use super::*;

    fn server(name: &str, word: HealthWord, was_tried: bool) -> CountedServer {
        let cause = HealthCause::of_lists("in brief".to_owned(), "with a secret".to_owned());
        let health = HealthReport { word, cause, since: Instant::now(), next_try: None, was_tried };
        CountedServer { name: Some(name.to_owned()), health }
    }

    #[test]
    fn each_mode_has_its_own_measure() {
        use HealthWord::{AuthRequired, Degraded, Ready, Resting, Starting, Unreachable};
        let is_ready = |mode, words: &[(HealthWord, bool)]| {
            let all: Vec<_> = words.iter().map(|(word, tried)| server("x", *word, *tried)).collect();
            missing(mode, &all).is_none()
        };
        for mode in [Readiness::Started, Readiness::Any, Readiness::All] {
            assert!(is_ready(mode, &[]), "{mode:?}: nothing is missing where there are no servers");
            assert!(is_ready(mode, &[(Ready, true), (Resting, true), (Degraded, true)]), "{mode:?}");
            assert!(!is_ready(mode, &[(Starting, false)]), "{mode:?}");
        }
        let some = [(Unreachable, true), (AuthRequired, true), (Ready, true)];
        assert!(is_ready(Readiness::Started, &some) && is_ready(Readiness::Any, &some));
        assert!(!is_ready(Readiness::All, &some));
        assert!(!is_ready(Readiness::Any, &some[..2]) && is_ready(Readiness::Started, &some[..2]));
        assert!(!is_ready(Readiness::Started, &[(Ready, true), (Starting, false)]));
    }

    #[test]
    fn each_server_that_is_missing_has_a_line_without_what_it_said() {
        let mut servers = vec![
            server("far", HealthWord::Unreachable, true),
            server("near", HealthWord::Ready, true),
            server("other", HealthWord::BackingOff, true),
        ];
        let text = missing(Readiness::All, &servers).expect("two are missing");
        assert_eq!(
            text,
            "not ready: 2 of 3 servers are missing (setting `ready: all`)\nfar: unreachable for 0 s: in brief\n\
             other: backing_off for 0 s: in brief\n"
        );
        servers[0].name = None;
        let text = missing(Readiness::All, &servers).expect("two are missing");
        assert!(text.contains("\na server: unreachable") && !text.contains("far"), "{text}");
    }
}
