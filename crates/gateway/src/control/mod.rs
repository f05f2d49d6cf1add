//! The command line's access to a running gateway: the management API over the socket in the gateway's state folder. This
//! module must not know what the gateway serves there.
//!
//! | file | is for |
//! |---|---|
//! | `client` | requests to a running gateway |
//! | `events` | the events of a stream |

mod client;
mod events;

pub use client::{ControlClient, ControlError};
pub use events::{ControlEvent, ControlEvents};
