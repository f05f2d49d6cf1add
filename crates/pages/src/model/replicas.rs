//! The gateways of a cluster, and the store that they share.

use super::{ForeignText, Millis};

/// The gateways of the cluster.
#[derive(Debug, Clone, Default)]
pub struct ReplicasPage {
    /// The store; `None` if this gateway works alone.
    pub store: Option<StoreRow>,
    /// The gateways that are alive, this one first.
    pub replicas: Vec<ReplicaRow>,
    /// The events of clients' event streams that this gateway has copied to the store; `None` if it copies none.
    pub events: Option<CopiedEventsRow>,
}

/// The events of clients' event streams that a gateway has copied to the store since its start.
#[derive(Debug, Clone, Copy, Default)]
pub struct CopiedEventsRow {
    /// The number of events that were copied.
    pub copied: u64,
    /// The number of events that were not copied.
    pub lost: u64,
    /// The number of streams of other gateways that clients have resumed at this gateway.
    pub resumed: u64,
    /// The number of streams that the store keeps for this gateway.
    pub streams: u64,
    /// The size of these streams in the store, in bytes.
    pub bytes: u64,
}

/// The store that the gateways share.
#[derive(Debug, Clone, Default)]
pub struct StoreRow {
    /// The state of the connection.
    pub standing: StoreStanding,
    /// The version of the store, or the reason why it cannot be used.
    pub detail: Option<ForeignText>,
    /// The time at which this state began.
    pub since: Millis,
}

/// The state of the connection to the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoreStanding {
    /// No connection has been opened yet.
    #[default]
    Connecting,
    /// The store can be used.
    Ready,
    /// There is no connection.
    Unreachable,
    /// The store cannot be used.
    Unfit,
}

/// A gateway of the cluster.
#[derive(Debug, Clone, Default)]
pub struct ReplicaRow {
    /// The gateway's name: `cluster.name`, or the name of the machine.
    pub name: ForeignText,
    /// The gateway's id, which changes with each start.
    pub id: ForeignText,
    /// The version of Dragoman that the gateway runs.
    pub version: ForeignText,
    /// The time at which the gateway started.
    pub started: Millis,
    /// The number of sessions in the gateway's memory.
    pub sessions: u64,
    /// The address at which the gateway accepts requests that other gateways pass on.
    pub address: Option<ForeignText>,
    /// True for the gateway that shows the page.
    pub is_this_one: bool,
}
