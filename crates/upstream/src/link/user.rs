//! A client with a session, as seen by the links that its calls use. This module must not know what a session is.

use std::sync::Arc;

use bytes::Bytes;
use engine::catalogue::UpstreamId;
use proto::era::Era;
use proto::rpc::Frame;
use transport::up::Owner;

use super::open_link::OpenLink;
use crate::egress::{Announcement, Egress};
use crate::server::Server;

/// A client with a session, whose links receive unsolicited messages.
pub trait LinkUser: Send + Sync {
    /// Returns the owner of the messages that servers send about this client's calls.
    fn attribution(&self) -> Owner;

    /// Returns the client's version.
    fn era(&self) -> &'static Era;

    /// Returns true if the client may use anything on this server.
    fn may_use(&self, server: UpstreamId) -> bool;

    /// Returns true if the client can receive messages outside of its calls now.
    fn is_listening(&self) -> bool;

    /// Returns true unless the message is a log message below the level for which the client asked.
    fn wants(&self, message: &Frame) -> bool;

    /// Notifies the client that a resource of a server has changed, if the client listens to it. `message` is the server's
    /// notification about its own `uri`, in the form of version `era`.
    fn updated(&self, server: UpstreamId, uri: &str, era: &'static Era, message: &Frame);

    /// Returns the resources at this server to which the client has subscribed through a session, as the server's
    /// own URIs.
    fn taken_at(&self, server: &Server) -> Vec<String>;

    /// Returns true if the client is subscribed to exactly this resource of a server; `uri` is the server's own URI.
    fn is_subscribed(&self, server: UpstreamId, uri: &str) -> bool;

    /// Passes a server's question to the client.
    ///
    /// # Errors
    /// Returns the text for the server if the client cannot be asked.
    fn ask(&self, egress: &Egress, link: &Arc<OpenLink>, question: &Frame) -> Result<(), String>;

    /// Withdraws the question that the server's notification names.
    fn withdraw(&self, link: &Arc<OpenLink>, notice: &Frame);

    /// Passes on to the client a message that the server sent on this link.
    fn receive(&self, egress: &Egress, link: &OpenLink, message: &Frame);

    /// Passes on to the client a message from a server of this version, in the form of the client's version.
    fn hear(&self, era: &'static Era, message: &Frame);

    /// Prepares for a change to lists. The returned function notifies the client of the changed lists, except for
    /// those of which the client was notified in the meantime.
    fn before_change(self: Arc<Self>) -> Announcement;

    /// Notifies the client of the progress of one of its calls; `text` is in the client's form.
    fn progress(&self, text: Bytes);

    /// Moves the client's subscriptions to other links, because this link now serves another client.
    fn was_left(self: Arc<Self>, egress: &Egress, link: &Arc<OpenLink>);

    /// Joins the link that replaces a lost one, and sends the session's state to the server again.
    fn rejoin(self: Arc<Self>, egress: &Egress, server: UpstreamId);
}
