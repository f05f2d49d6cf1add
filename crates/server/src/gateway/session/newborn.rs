//! A session before its client has heard of it.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::View;
use proto::era::{ClientHello, client_hello};
use proto::rpc::{Frame, code};

use crate::gateway::session::SessionContext;
use crate::gateway::session::session::{Birth, Session};

/// How many bytes the params of an introduction may have: they are kept as long as the session lasts.
const MAX_HELLO: usize = 64 << 10;

/// Reads a client's introduction. What is kept of it does not keep the message that it came in.
///
/// # Errors
/// The fault to answer with.
pub(crate) fn introduction(frame: &Frame) -> Result<ClientHello, Fault> {
    let refuse = |why: String| Fault::client(code::INVALID_PARAMS, format!("initialize: {why}"));
    let said = client_hello(frame).map_err(|e| refuse(e.to_string()))?;
    if said.params.len() > MAX_HELLO {
        return Err(refuse(format!("params may have {MAX_HELLO} bytes, not {}", said.params.len())));
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

/// A session that no client can name yet. Unless it is kept it ends when this is dropped, also when its client leaves
/// while servers are still being asked: links that were opened for it serve nobody else.
pub(crate) struct Newborn {
    context: Arc<SessionContext>,
    session: Arc<Session>,
    kept: bool,
}

impl Newborn {
    pub(crate) fn new(context: &Arc<SessionContext>, session: Arc<Session>) -> Self {
        Self { context: context.clone(), session, kept: false }
    }

    /// The session, which somebody else will end.
    pub(crate) fn keep(mut self) -> Arc<Session> {
        self.kept = true;
        self.session.clone()
    }
}

impl Deref for Newborn {
    type Target = Arc<Session>;

    fn deref(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Drop for Newborn {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let (context, session) = (self.context.clone(), self.session.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { session.end(&context).await });
        }
    }
}

impl Session {
    /// Makes a session and finds its view.
    pub(crate) async fn introduce(context: &Arc<SessionContext>, birth: Birth) -> (Newborn, Arc<View>) {
        let session = Newborn::new(
            context,
            Self::new(birth, &context.egress.snapshot.limits, context.state.sealer.clone()),
        );
        let view = session.find_view(&context.view).await.view();
        (session, view)
    }
}
