//! Finds out whether a child that accepted a handshake also serves clients without a handshake; if so, the requests of
//! such clients need no translation. The running child is asked, so no additional process is needed. This module must
//! not know what is listed.

use proto::era::{Era, discover_request, newest_stateless};
use proto::rpc::{FrameKind, Id};
use tokio::time::timeout;
use transport::up::{LinkError, read_hello};

use super::cell::Catalogue;
use crate::egress::Egress;
use crate::link::OpenLink;
use crate::negotiation::negotiator::PROBE;

impl Catalogue {
    /// Returns true if the child can be asked whether it serves clients without a handshake, and has to be asked
    /// before clients of this version are served.
    pub(super) fn is_lifecycle_unlearned(&self, client: &'static Era) -> bool {
        self.is_child_asked_for(client)
            && self.server.negotiator.may_be_stateless_too()
            && self.can_be_asked()
    }

    fn is_child_asked_for(&self, client: &'static Era) -> bool {
        !client.has_sessions() && self.server.is_child()
    }

    /// Asks the child, unless it has been asked before. If the connection fails, the next caller that needs the child
    /// asks again.
    pub(super) async fn learn_lifecycle(&self, egress: &Egress, client: &'static Era) {
        if !self.is_child_asked_for(client) {
            return;
        }
        let Some(links) = self.links.upgrade() else { return };
        let Ok(link) = links.shared_link(client).get(egress).await else { return };
        let negotiator = &self.server.negotiator;
        if negotiator.may_be_stateless_too() {
            let answer = timeout(PROBE, discovers(egress, &link)).await;
            negotiator.note_stateless(matches!(answer, Ok(Ok(()))));
        }
    }
}

/// Sends `server/discover` on a link with a handshake; returns an error unless the answer is an introduction.
async fn discovers(egress: &Egress, link: &OpenLink) -> Result<(), LinkError> {
    let (era, key) = (newest_stateless(), egress.next_key());
    let request = discover_request(&Id::number(key), era, crate::CLIENT_INFO);
    let mut call = link.wire.own_call(egress.client(), key, request).await?;
    loop {
        let frame = call.next().await?;
        if matches!(frame.kind(), FrameKind::Response | FrameKind::Error) {
            return read_hello(&frame, era).map(drop);
        }
    }
}
