//! Checks a link after an ambiguous refusal, which may mean that the server now uses another version or has forgotten a
//! session, and after a request that was not answered in time. This module must not know the request.

use proto::era::Mismatch;
use proto::mcp::Method;
use tokio::time::timeout;
use transport::net::client::Client;
use transport::up::{HttpLink, LinkError};

use super::open_link::OpenLink;
use super::probe::{PATIENCE, Reaction, Rejection, question, refuses_sessions};
use crate::egress::Egress;
use crate::negotiation::wire::Wire;

/// The meaning of a refusal, derived from the server's reaction to a harmless request.
pub(super) enum RefusalMeaning {
    /// The refusal is the server's own answer.
    Answer,
    /// The request was not executed, because the server was replaced or has forgotten the session.
    Lost(LinkError),
    /// The refusal may be an answer, or come from a server that was restarted in between.
    Ambiguous,
}

impl OpenLink {
    /// Finds out whether the server was replaced, or has forgotten the session.
    ///
    /// If the server refuses the probe with a different error than the request, it may have executed the request
    /// before it was restarted. The link is then reopened for later requests. If the server gives no usable answer,
    /// the link stays open: a busy server may still have the session.
    pub(super) async fn settle_mismatch(
        &self,
        client: &Client,
        link: &HttpLink,
        rejection: &Rejection,
        mismatch: Mismatch,
    ) -> RefusalMeaning {
        let is_lost = match self.probe.reaction(client, link).await {
            Reaction::Alive => return RefusalMeaning::Answer,
            Reaction::Silent => return RefusalMeaning::Ambiguous,
            // A server that has forgotten a session reports this before it looks at the method; a server of another
            // version may not.
            Reaction::Unknown if self.era.has_sessions() && mismatch == Mismatch::Session => {
                return RefusalMeaning::Answer;
            }
            Reaction::Unknown if self.era.has_sessions() => {
                if !refuses_sessions(client, link).await {
                    return RefusalMeaning::Answer;
                }
                true
            }
            Reaction::Unknown => false,
            Reaction::Rejected(other) => other == *rejection,
        };
        self.bury();
        match mismatch {
            _ if !is_lost => RefusalMeaning::Ambiguous,
            Mismatch::Session => RefusalMeaning::Lost(LinkError::SessionGone),
            Mismatch::Era => RefusalMeaning::Lost(LinkError::Foreign(self.era.version)),
        }
    }

    /// Sends the server a harmless request on the link itself, after another request was not answered in time. If
    /// the server answers this request, the server is responsive, and only the tool is slow.
    ///
    /// # Errors
    /// Returns [`LinkError::Late`] if the server does not answer this request either, or the reason why it could not
    /// be sent.
    pub async fn check_alive(&self, egress: &Egress) -> Result<(), LinkError> {
        let late = LinkError::Late(PATIENCE.as_secs());
        match &self.wire {
            Wire::Native(_) => Ok(()),
            Wire::Http(link) => match self.probe.reaction(egress.client(), link).await {
                Reaction::Silent => Err(late),
                _ => Ok(()),
            },
            Wire::Pipe(_) | Wire::Sse(_) => {
                let method = if self.era.has_sessions() { Method::Ping } else { Method::Discover };
                let key = egress.next_key();
                let outbound = self.server.own_request(self.era, key, question(self.era, key).0, method);
                match timeout(PATIENCE, self.ask(egress.client(), outbound, egress.frame_limits())).await {
                    Ok(asked) => asked.map(drop),
                    Err(_) => Err(late),
                }
            }
        }
    }
}
