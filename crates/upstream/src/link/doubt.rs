//! The meaning of a refusal that may say that a server speaks another era now, or has forgotten a session, and of silence. It
//! must not know the request.

use proto::era::Doubt;
use proto::mcp::Method;
use tokio::time::timeout;
use transport::net::client::Client;
use transport::up::{HttpLink, LinkError};

use super::open_link::OpenLink;
use super::probe::{PATIENCE, Reaction, Rejection, question, refuses_sessions};
use crate::egress::Egress;
use crate::negotiation::wire::Wire;

impl OpenLink {
    /// Finds out if the server was replaced, or has forgotten the session; returns the error in the refusal's place if
    /// so: then the request was not executed. `None` leaves the refusal to the client.
    ///
    /// A server that refuses the probe in other words than the request may have executed the request. The link is opened
    /// anew for later requests, and this one is not sent again.
    pub async fn settle_doubt(
        &self,
        client: &Client,
        link: &HttpLink,
        rejection: &Rejection,
        doubt: Doubt,
    ) -> Option<LinkError> {
        let is_lost = match self.probe.reaction(client, link).await {
            // Silence proves nothing: the refusal stands as the server's own.
            Reaction::Alive | Reaction::Silent => return None,
            // Servers that forgot a session say so before they look at the method; servers of another era may not.
            Reaction::Unknown if self.era.has_sessions() && doubt == Doubt::Session => return None,
            Reaction::Unknown if self.era.has_sessions() => {
                if !refuses_sessions(client, link).await {
                    return None;
                }
                true
            }
            Reaction::Unknown => false,
            Reaction::Rejected(other) => other == *rejection,
        };
        self.bury();
        is_lost.then(|| match doubt {
            Doubt::Session => LinkError::SessionGone,
            Doubt::Era => LinkError::Foreign(self.era.version),
        })
    }

    /// Asks the server something harmless on the link itself, after a request that was not answered in time: a slow tool is no
    /// sick server. An error if it does not answer that either.
    ///
    /// # Errors
    /// [`LinkError::Late`], or the reason why it could not be asked.
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
