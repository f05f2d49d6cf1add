//! The handshake of a session: reads `initialize`, opens a session, and returns the answer. This module must not know
//! HTTP or lines.

use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use proto::bridge::input::Askable;
use proto::era::{ClientHello, Era, client_hello, initialize_result, negotiate};
use proto::rpc::{Frame, code};
use store::sessions::SessionKey;

use super::SessionContext;
use super::session::{ClientChannel, NewSession, Session};
use crate::admission::Identity;
use upstream::quota::Permit;

/// The maximum size of a handshake's params, in bytes; they are kept as long as the session lasts.
const MAX_HELLO: usize = 64 << 10;

/// Reads a client's introduction. Copies the parts that are kept, so they do not hold the memory of the whole
/// message.
///
/// # Errors
/// Returns the fault to answer with.
pub(super) fn introduction(frame: &Frame) -> Result<ClientHello, Fault> {
    let refuse = |why: String| Fault::client(code::INVALID_PARAMS, format!("initialize: {why}"));
    let said = client_hello(frame).map_err(|e| refuse(e.to_string()))?;
    if said.params.len() > MAX_HELLO {
        return Err(refuse(format!(
            "params has {} bytes; at most {MAX_HELLO} are allowed",
            said.params.len()
        )));
    }
    let own = |text: &Bytes| Bytes::copy_from_slice(text);
    Ok(ClientHello {
        version_json: own(&said.version_json),
        params: own(&said.params),
        capabilities: own(&said.capabilities),
        info: said.info.as_ref().map(own),
        ..said
    })
}

/// A session whose id no client knows yet. Dropping this value ends the session, unless [`PendingSession::keep`]
/// was called. This also applies if the client leaves while servers are still being asked, because the links of the
/// session serve nobody else.
pub(super) struct PendingSession {
    context: Arc<SessionContext>,
    session: Arc<Session>,
    kept: bool,
}

impl PendingSession {
    pub(super) fn new(context: &Arc<SessionContext>, session: Arc<Session>) -> Self {
        Self { context: context.clone(), session, kept: false }
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Keeps the session. From now on, other code is responsible for ending it.
    pub(super) fn keep(mut self) -> Arc<Session> {
        self.kept = true;
        self.session.clone()
    }
}

impl Drop for PendingSession {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let (context, session) = (self.context.clone(), self.session.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(transport::task::boxed(async move { session.end(&context).await }));
        }
    }
}

/// The facts about a client that its transport provides.
pub(crate) struct SessionOpening {
    pub(crate) profile: usize,
    pub(crate) identity: Identity,
    /// The channel for messages to the client.
    pub(crate) channel: ClientChannel,
}

/// The identity of a new session, with its permit.
pub(crate) struct AdmittedSession {
    pub(crate) id: Box<str>,
    /// The key under which the session is stored for the next process, if it is stored.
    pub(crate) key: Option<SessionKey>,
    /// The session's permit, if sessions are counted.
    pub(crate) permit: Option<Permit>,
}

/// Opens the session that `initialize` requests, and returns it with the answer. `admit` is called once the request
/// is known to be valid: it receives the client's version and class, and returns the session's id. If this future
/// is dropped early, the session ends.
///
/// # Errors
/// Returns the fault to answer with; in this case there is no session.
pub(crate) async fn handshake(
    context: &Arc<SessionContext>,
    frame: &Frame,
    opening: SessionOpening,
    admit: impl FnOnce((&'static Era, Askable)) -> Result<AdmittedSession, Fault> + Send,
) -> Result<(Arc<Session>, Bytes), Fault> {
    let Some(request) = frame.id() else {
        return Err(Fault::client(code::INVALID_REQUEST, "initialize must be a request, with an id"));
    };
    let hello = introduction(frame)?;
    let (era, asked) = (negotiate(&hello.version), hello.version_json.clone());
    let AdmittedSession { id, key, permit } = admit((era, Askable::of(era, &hello.capabilities)))?;
    let SessionOpening { profile, identity, channel } = opening;
    let session = Session::new(
        NewSession { id, key, profile, identity, era, hello, channel },
        &context.egress.snapshot().limits,
        context.state.sealer.clone(),
    );
    context.state.copy_events(&session, &context.egress.snapshot().limits);
    let pending = PendingSession::new(context, session);
    let view = pending.session().find_view(&context.view).await.view();
    let info = context.egress.snapshot().profiles[profile].introduction();
    let answer = initialize_result(request, era, &asked, view.capabilities(), &info, view.instructions());
    context.state.sessions.add(pending.session(), permit);
    let session = pending.keep();
    context.state.note_change(&session);
    Ok((session, answer))
}
