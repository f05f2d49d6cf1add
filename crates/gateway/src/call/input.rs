//! The events that a waiting call goes on with. It must not know calls.

use proto::rpc::Frame;
use transport::up::LinkError;
use upstream::link::Inbound;
use upstream::link::reply::{Item, Reply};

/// An event that a waiting call goes on with.
pub(super) enum CallInput {
    Replied(Result<Reply, LinkError>),
    Item(Result<Item, LinkError>),
    SideChannel(Inbound),
    Cancelled(Option<Frame>),
    Late,
}
