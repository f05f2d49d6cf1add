//! The ways to connect clients.

use super::{ForeignText, Millis, Severity};

/// The snippets for clients, and the self-test.
#[derive(Debug, Clone, Default)]
pub struct ConnectPage {
    /// The profiles to choose from. The query parameter is `profile`.
    pub profiles: Vec<ForeignText>,
    /// The chosen profile.
    pub profile: ForeignText,
    /// The wanted profile, if there is none with this name.
    pub unknown: Option<ForeignText>,
    /// The URL of the profile.
    pub url: ForeignText,
    /// The header that clients must send, with a placeholder for the secret; `None` if no authentication is needed.
    pub header: Option<(ForeignText, ForeignText)>,
    /// Notes to read before connecting: `this address is reachable from this machine only`.
    pub notes: Vec<ForeignText>,
    /// One entry for each client.
    pub clients: Vec<ClientSnippet>,
    /// The id of the chosen client. The query parameter is `client`.
    pub client: String,
    /// The self-test, if it was started.
    pub test: Option<SelfTest>,
}

/// The instructions for one client.
#[derive(Debug, Clone, Default)]
pub struct ClientSnippet {
    /// The id in addresses: `cursor`.
    pub id: &'static str,
    /// The name: `Cursor`.
    pub name: &'static str,
    /// The place for the snippet: `~/.cursor/mcp.json`, or `a terminal`.
    pub place: &'static str,
    /// The text to copy.
    pub text: ForeignText,
    /// The step after copying: `Restart Cursor.`
    pub then: &'static str,
}

/// A self-test: Dragoman waits for the first request of a client.
#[derive(Debug, Clone, Default)]
pub struct SelfTest {
    /// The id of the test, for the stream of its events.
    pub id: String,
    /// The progress.
    pub state: SelfTestState,
    /// The time at which the test ends by itself.
    pub until: Millis,
    /// The events, the earliest first.
    pub events: Vec<SelfTestEvent>,
}

/// The progress of a self-test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SelfTestState {
    /// No request has arrived.
    #[default]
    Waiting,
    /// Requests arrive, but the client has not listed any tools yet.
    Talking,
    /// The client has listed tools.
    Works,
    /// The test failed; the last event gives the reason.
    Fails,
    /// The time limit of the test has passed.
    Over,
}

/// An event during a self-test.
#[derive(Debug, Clone, Default)]
pub struct SelfTestEvent {
    /// The time of the event.
    pub at: Millis,
    /// The importance.
    pub severity: Severity,
    /// The event: `initialize from cursor 1.7, version 2025-11-25`.
    pub text: ForeignText,
    /// Advice: the next step.
    pub advice: Option<ForeignText>,
}
