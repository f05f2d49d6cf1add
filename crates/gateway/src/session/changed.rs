//! Notifications of changed lists to a session's client. It must not know which list changed, or why.

use proto::mcp::Notice;

use crate::session::session::{Face, Session};

/// Notifies a session that a list has changed.
pub(crate) fn notify_changed(session: &Session, notice: Notice) {
    // Without a standing stream nobody would read it, and the next list request gets the new list anyway.
    let keep = matches!(session.face, Face::Pipe(_));
    session.send(proto::era::notice(notice.name(), b""), keep);
}
