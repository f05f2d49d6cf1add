//! Self-tests: Dragoman watches for the first requests of a client, and reports what is wrong with them. This
//! module must not know how a test looks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pages::model::{SelfTest, SelfTestEvent, SelfTestState, Severity};
use parking_lot::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use transport::net::Stop;

use crate::insight::moment::PointInTime;
use gateway::admission::arrivals::{AnswerContent, ArrivalEvent, WatchedArrivals};

/// The time after which a test ends by itself.
const PATIENCE: Duration = Duration::from_mins(10);

/// The time to wait for the answer to a list request; after this time, the request is considered accepted.
const ANSWER: Duration = Duration::from_secs(5);

/// The maximum number of events that are shown.
const EVENTS: usize = 40;

/// A self-test.
pub(super) struct RunningTest {
    pub(super) id: String,
    /// The token of the session that began the test; no other session may see it.
    pub(super) owner: Arc<str>,
    /// The profile whose clients are watched.
    pub(super) profile: String,
    /// The id of the client whose snippet the page shows.
    pub(super) client: String,
    until: u64,
    seen: Mutex<(SelfTestState, Vec<SelfTestEvent>)>,
    changed: watch::Sender<()>,
    stopped: Stop,
}

impl RunningTest {
    /// Begins a test.
    pub(super) fn begin(
        (id, owner, (profile, client)): (String, Arc<str>, (String, String)),
        watched: WatchedArrivals,
        stop: Stop,
    ) -> Arc<Self> {
        let test = Arc::new(Self {
            id,
            owner,
            profile,
            client,
            until: PointInTime::at(Instant::now() + PATIENCE).0,
            seen: Mutex::default(),
            changed: watch::channel(()).0,
            stopped: Stop::new(),
        });
        let own = test.clone();
        // The task ends with the test: when it succeeds, is stopped or is over, or when the gateway stops.
        transport::task::spawn(async move {
            tokio::select! {
                () = own.observe(watched) => {}
                () = tokio::time::sleep(PATIENCE) => {}
                () = own.stopped.stopped() => {}
                () = stop.stopped() => {}
            }
            own.end();
        });
        test
    }

    pub(super) fn stop(&self) {
        self.stopped.stop();
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns true if the test has ended.
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.seen.lock().0, SelfTestState::Waiting | SelfTestState::Talking)
    }

    /// Returns the test as the page shows it.
    pub(super) fn shown(&self) -> SelfTest {
        let (state, events) = self.seen.lock().clone();
        SelfTest { id: self.id.clone(), state, until: self.until, events }
    }

    async fn observe(&self, mut watched: WatchedArrivals) {
        loop {
            match watched.events.recv().await {
                Ok(event) => {
                    let is_list =
                        matches!(&event, ArrivalEvent::Message { method, .. } if method == "tools/list");
                    let is_elsewhere =
                        matches!(&event, ArrivalEvent::Message { profile, .. } if *profile != self.profile);
                    if is_elsewhere {
                        continue;
                    }
                    self.note(&event);
                    if is_list {
                        // The next answer is nearly always the one to the list.
                        let next = tokio::time::timeout(ANSWER, watched.events.recv()).await;
                        let next = next.ok().and_then(Result::ok);
                        if self.note_list(next.as_ref()) {
                            return;
                        }
                    }
                }
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Notes the answer to a list request; returns true if the answer ends the test.
    fn note_list(&self, answer: Option<&ArrivalEvent>) -> bool {
        let end = match answer {
            Some(ArrivalEvent::Answered { status: 200..400, answer: Some(content), .. }) => {
                let (end, shown) = listed(content);
                self.add(SelfTestState::Talking, shown);
                Some(end)
            }
            Some(ArrivalEvent::Answered { status: 400.., .. }) => None,
            // The content of a stream is not seen.
            _ => Some(SelfTestState::Works),
        };
        if let (None, Some(answer)) = (end, answer) {
            self.note(answer);
        }
        if let Some(end) = end {
            self.seen.lock().0 = end;
        }
        end.is_some()
    }

    fn note(&self, event: &ArrivalEvent) {
        if let Some((state, shown)) = judged(event) {
            self.add(state, shown);
        }
    }

    fn add(&self, state: SelfTestState, shown: SelfTestEvent) {
        let mut seen = self.seen.lock();
        if seen.1.len() < EVENTS {
            seen.1.push(shown);
        }
        if state == SelfTestState::Talking {
            seen.0 = state;
        }
        drop(seen);
        self.changed.send_replace(());
    }

    fn end(&self) {
        let mut seen = self.seen.lock();
        if matches!(seen.0, SelfTestState::Waiting | SelfTestState::Talking) {
            let is_bad = seen.1.last().is_some_and(|event| event.severity == Severity::Bad);
            seen.0 = if is_bad { SelfTestState::Fails } else { SelfTestState::Over };
        }
        drop(seen);
        self.changed.send_replace(());
    }
}

fn shown(severity: Severity, text: String, advice: Option<String>) -> SelfTestEvent {
    SelfTestEvent { at: PointInTime::now().0, severity, text: text.into(), advice: advice.map(Into::into) }
}

/// Returns the result of a test whose client got this answer to `tools/list`, and the answer as the page shows it.
fn listed(content: &AnswerContent) -> (SelfTestState, SelfTestEvent) {
    let none = |text: String, advice: &str| {
        (SelfTestState::Fails, shown(Severity::Bad, text, Some(advice.to_owned())))
    };
    match content {
        AnswerContent::Error(message) => none(
            format!("The client got no tools: tools/list was answered with the error {message:?}"),
            "The servers of this profile may be unavailable, or the profile's `tools` or the access rules leave nothing to this caller. The pages Profiles and Access check show which.",
        ),
        AnswerContent::Tools { count: 0, .. } => none(
            "The client got 0 tools.".to_owned(),
            "The profile's `tools` or the access rules leave no tool to this caller. The page Access check shows which rule decides.",
        ),
        AnswerContent::Tools { count, is_more } => {
            let tools = if *count == 1 { "tool" } else { "tools" };
            let more = if *is_more { ", the first part of the list" } else { "" };
            (
                SelfTestState::Works,
                shown(Severity::Good, format!("The client got {count} {tools}{more}."), None),
            )
        }
    }
}

/// Returns the state of the test after an event, and the event as the page shows it. Returns `None` for a
/// successful answer.
fn judged(event: &ArrivalEvent) -> Option<(SelfTestState, SelfTestEvent)> {
    match event {
        ArrivalEvent::Message { method, client, version, .. } => {
            let by = client.as_deref().map(|client| format!(" from {client}")).unwrap_or_default();
            let version =
                version.as_deref().map(|version| format!(", version {version}")).unwrap_or_default();
            Some((SelfTestState::Talking, shown(Severity::Good, format!("{method}{by}{version}"), None)))
        }
        ArrivalEvent::Answered { status: 200..400, .. } => None,
        ArrivalEvent::Answered { address, request, status, has_credentials, agent, answer } => {
            let by = agent.as_deref().map(|agent| format!(" ({agent})")).unwrap_or_default();
            let text = format!("{request} from {address}{by} was refused with status {status}");
            let severity = if *status == 405 { Severity::Note } else { Severity::Bad };
            let general = advice(*status, *has_credentials).map(str::to_owned);
            // A 403 has several causes, and the client was told the one that applies.
            let advice = match answer {
                Some(AnswerContent::Error(message)) if *status == 403 => Some(message.clone()),
                _ => general,
            };
            Some((SelfTestState::Waiting, shown(severity, text, advice)))
        }
    }
}

fn advice(status: u16, has_credentials: bool) -> Option<&'static str> {
    Some(match (status, has_credentials) {
        (401, false) => "The client sends no credentials. Add the header above to its configuration.",
        (401, true) => {
            "The credentials are wrong: a key may be mistyped, revoked or expired. Make a new key, and copy it completely."
        }
        (403, _) => {
            "The credentials are not valid for this profile, or the client's origin or host is not allowed (`allowedOrigins`, `allowedHosts`)."
        }
        (404, _) => {
            "The client uses another path. Use exactly the URL above. If Dragoman was restarted, it may no longer know the client's session: restart the client."
        }
        (405, _) => "The client tried another way to connect; most clients then continue with the right one.",
        (406 | 415, _) => {
            "The client does not send the headers of Streamable HTTP. Choose the transport HTTP or Streamable HTTP in its configuration."
        }
        (413, _) => "The request is longer than `limits.requestBody`.",
        (429, _) => "A rate limit or too many wrong credentials stopped the client. Wait, and try again.",
        (500.., _) => "Dragoman or a server failed. The log says more: dragoman logs.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_without_tools_is_no_success() {
        let tools = |count| AnswerContent::Tools { count, is_more: false };
        let (state, event) = listed(&tools(142));
        assert_eq!((state, event.text.raw()), (SelfTestState::Works, "The client got 142 tools."));
        let (state, event) = listed(&tools(0));
        assert_eq!((state, event.severity), (SelfTestState::Fails, Severity::Bad));
        let (state, event) = listed(&AnswerContent::Error("this profile has no tools".to_owned()));
        assert_eq!(state, SelfTestState::Fails);
        assert!(event.text.raw().contains("this profile has no tools") && event.advice.is_some());
    }

    #[test]
    fn refusals_come_with_advice() {
        let event = |status, has_credentials| ArrivalEvent::Answered {
            address: [127, 0, 0, 1].into(),
            request: "POST /mcp".to_owned(),
            status,
            has_credentials,
            agent: Some("cursor".to_owned()),
            answer: (status == 403).then(|| AnswerContent::Error("not valid for the profile".to_owned())),
        };
        let (state, shown) = judged(&event(401, false)).unwrap();
        assert_eq!((state, shown.severity), (SelfTestState::Waiting, Severity::Bad));
        assert_eq!(shown.text.raw(), "POST /mcp from 127.0.0.1 (cursor) was refused with status 401");
        assert!(shown.advice.unwrap().raw().contains("sends no credentials"));
        assert!(judged(&event(401, true)).unwrap().1.advice.unwrap().raw().contains("wrong"));
        assert_eq!(
            judged(&event(403, true)).unwrap().1.advice.unwrap().raw(),
            "not valid for the profile",
            "the cause that applies, and no list of causes"
        );
        assert!(judged(&event(200, true)).is_none());
        let message = ArrivalEvent::Message {
            profile: "default".to_owned(),
            method: "initialize".to_owned(),
            client: Some("cursor 1.7".to_owned()),
            version: Some("2025-11-25".to_owned()),
        };
        assert_eq!(judged(&message).unwrap().1.text.raw(), "initialize from cursor 1.7, version 2025-11-25");
    }
}
