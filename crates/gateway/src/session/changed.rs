//! Notifies a session's client of changed lists. This module must not know which list changed, or why.

use proto::mcp::Notice;

use crate::session::session::Session;

/// Notifies a session that a list has changed.
pub(crate) fn notify_changed(session: &Session, notice: Notice) {
    // Many clients first fetch a list, and only then open the stream (GET) for notifications: a change in between must
    // not be lost.
    session.send(proto::era::notice(notice.name(), b""), true);
}
