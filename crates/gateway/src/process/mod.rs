//! The gateway under one configuration, the state that outlives it, and each thread's handle to both. This module must
//! not know the entry points of clients.
//!
//! | file | is for |
//! |---|---|
//! | [`gateway`] | the gateway under one configuration |
//! | [`key_ring`] | the keys that seal the data that clients carry |
//! | [`kept_catalogues`] | servers' catalogues, stored for the next start |
//! | `definition_news` | the servers whose definitions differ from those of the other gateways |
//! | [`kept_definitions`] | the record of servers' tool definitions |
//! | [`kept_sessions`] | sessions, stored for the next start |
//! | [`serving`] | the addresses at which the process listens |
//! | [`shared_sign_ins`] | sign-ins in the store of the cluster |
//! | [`state`] | the process's state, independent of the configuration |
//! | [`threads`] | each thread's handle to the current gateway |

pub(crate) mod definition_news;
pub(crate) mod gateway;
pub(crate) mod kept_catalogues;
pub(crate) mod kept_definitions;
pub(crate) mod kept_sessions;
pub(crate) mod key_ring;
pub(crate) mod serving;
pub(crate) mod shared_sign_ins;
pub(crate) mod state;
pub mod threads;

pub use gateway::{Gateway, GatewayParts, VERSION};
pub(crate) use state::ExternalParts;
pub use threads::{Shard, Thread};
