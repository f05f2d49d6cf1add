//! What a refusal means that may say that a server speaks another era now, or has forgotten a session. It must not know what
//! was refused.

use proto::era::Doubt;
use transport::net::client::Client;
use transport::up::{HttpLink, LinkError};

use super::open_link::OpenLink;
use super::probe::{Reaction, Rejection, refuses_sessions};

impl OpenLink {
    /// Settles a doubt about the server; the error that takes the refusal's place if the server is another now, or has
    /// forgotten the session: then the request was not acted on. `None` leaves the refusal to the client.
    ///
    /// A server that refuses the question in other words than the request may have acted on that. It is opened anew for
    /// whoever comes next, and the request is not sent again.
    pub async fn settle_doubt(
        &self,
        client: &Client,
        link: &HttpLink,
        rejection: &Rejection,
        doubt: Doubt,
    ) -> Option<LinkError> {
        let is_lost = match self.probe.reaction(client, link).await {
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
}
