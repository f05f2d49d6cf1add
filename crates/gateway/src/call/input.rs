//! The events that let a waiting call continue. This module must not know calls.

use proto::rpc::Frame;
use transport::up::LinkError;
use upstream::link::Inbound;
use upstream::link::reply::{Item, Reply};

use super::deliver::DeliveryOutcome;

/// An event that lets a waiting call continue.
pub(super) enum CallInput {
    Replied(Result<Reply, LinkError>),
    /// The server has asked this question, and gets the request only once the client has answered.
    AskedFirst(Frame),
    Item(Result<Item, LinkError>),
    SideChannel(Inbound),
    Cancelled(Option<Frame>),
    Late,
}

impl From<Result<DeliveryOutcome, LinkError>> for CallInput {
    fn from(delivered: Result<DeliveryOutcome, LinkError>) -> Self {
        match delivered {
            Ok(DeliveryOutcome::Reply(reply)) => Self::Replied(Ok(reply)),
            Ok(DeliveryOutcome::AsksFirst(question)) => Self::AskedFirst(question),
            Err(error) => Self::Replied(Err(error)),
        }
    }
}
