//! A client with a session, as the links know it over which its calls go. It must not know what a session is.

use std::sync::Arc;

use bytes::Bytes;
use engine::catalogue::UpstreamId;
use proto::era::Era;
use proto::rpc::Frame;
use transport::up::Owner;

use super::open_link::OpenLink;
use crate::egress::Egress;
use crate::server::Server;

/// A client with a session, over whose links servers speak unasked.
pub trait LinkUser: Send + Sync {
    /// Whose what servers say is that belongs to its calls.
    fn attribution(&self) -> Owner;

    /// In which era it is spoken to.
    fn era(&self) -> &'static Era;

    /// Returns true if it may use something of this server.
    fn may_use(&self, server: UpstreamId) -> bool;

    /// Returns true if it wants this message; one for the log is not wanted below the level that the client asked for.
    fn wants(&self, message: &Frame) -> bool;

    /// Returns true if it listens to a resource that a notice about `uri` concerns.
    fn is_concerned(&self, uri: &str) -> bool;

    /// The resources that it listens to at this server, in a session there.
    fn taken_at(&self, server: &Server) -> Vec<String>;

    /// Returns true if it listens to exactly this resource.
    fn is_subscribed(&self, uri: &str) -> bool;

    /// Puts a server's question to the client; why that cannot be.
    ///
    /// # Errors
    /// What the server is told instead of an answer.
    fn ask(&self, egress: &Egress, link: &Arc<OpenLink>, question: &Frame) -> Result<(), String>;

    /// Takes back the question that the server's notice names.
    fn withdraw(&self, link: &Arc<OpenLink>, notice: &Frame);

    /// Tells the client what the server says on this link.
    fn receive(&self, egress: &Egress, link: &OpenLink, message: &Frame);

    /// Tells the client what a server of this era says, in the words of the client's.
    fn hear(&self, era: &'static Era, message: &Frame);

    /// Tells the client of its call's progress, in its own words.
    fn progress(&self, text: Bytes);

    /// Joins the link that has taken the place of the one that it used: the server there knows nothing of it yet.
    fn rejoin(self: Arc<Self>, egress: &Egress, server: UpstreamId);
}
