//! How a session's client is told that a list has changed. It must not know which list, or why.

use proto::mcp::Notice;

use crate::gateway::session::session::{Face, Session};

/// Tells a session that a list has changed.
pub(crate) fn tell_changed(session: &Session, notice: Notice) {
    // Without a standing stream nobody would read it, and the next list request gets the new list anyway.
    let keep = matches!(session.face, Face::Pipe(_));
    session.tell(proto::era::notice(notice.name(), b""), keep);
}
