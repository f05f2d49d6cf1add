//! A link that continues the connection of another process for one request: in the server's session, after the last event that the
//! other process has received. This module must not know why the other process has ended.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;
use engine::exchange::StreamPosition;
use proto::era::{Asks, ServerHello};
use transport::net::client::Client;
use transport::up::{HttpLink, HttpTarget, LinkError};

use super::OpenLink;
use super::reply::{Incoming, ReplySource};
use crate::destination::Destination;
use crate::negotiation::wire::Wire;
use crate::server::Server;

/// Returns the place from which the messages of `source` continue, if the server can continue them for another process.
pub fn position(link: &OpenLink, source: Option<&ReplySource>) -> Option<StreamPosition> {
    let (Destination::Http(target, _), Wire::Http(http), Some(ReplySource::Web(incoming))) =
        (&link.server.destination, &link.wire, source)
    else {
        return None;
    };
    if link.era.asks != Asks::Requests {
        return None;
    }
    let event = incoming.position()?.clone();
    let session = http.session().map(Bytes::copy_from_slice);
    Some(StreamPosition { era: link.era, address: address(target), session, event })
}

/// Continues the messages of a request.
///
/// # Errors
/// Returns the reason why the server does not continue them.
pub async fn adopt(
    server: &Arc<Server>,
    client: &Client,
    position: &StreamPosition,
) -> Result<(OpenLink, ReplySource), LinkError> {
    let StreamPosition { era, session, event, .. } = position;
    let Destination::Http(target, _) = &server.destination else { return Err(LinkError::Closed) };
    // The session's id is a secret of the server that has issued it.
    if address(target) != position.address {
        return Err(LinkError::Closed);
    }
    let http = HttpLink::in_session(target.clone(), era, session.as_deref()).ok_or(LinkError::Closed)?;
    let stream = http.resume(client, event.clone()).await?;
    let nothing = Bytes::from_static(b"{}");
    let hello = ServerHello { era, capabilities: nothing.clone(), info: nothing, instructions: None };
    let link = OpenLink::new(server.clone(), Wire::Http(http), hello, false);
    let source = ReplySource::Web(Incoming::new(Box::new(stream), era, None, &link.calls));
    Ok((link, source))
}

/// Returns a digest of the server's address.
fn address(target: &HttpTarget) -> [u8; 8] {
    let digest = digest(&SHA256, target.uri.to_string().as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest.as_ref()[..8]);
    first
}
