//! One client request from its arrival to its answer, without I/O.
//!
//! ```text
//!  frame ─► dispatch ─► Local (answered from the view)
//!                   └─► Route ─► Exchange::begin ─► poll ─► Send, Relay, Ask, Put, Park, Cancel, Answer, End
//!                                        ▲           │
//!                                        └── feed ◄──┘ events of the upstream, the client or the clock
//! ```
//!
//! The gateway owns the loop that performs the steps; tests replay events to an exchange. This module must not know sockets or
//! sessions.

mod adopted;
mod bridged;
mod by_uri;
mod clock;
mod dispatch;
mod era_translation;
mod event;
mod expiry;
mod input;
mod invalid;
mod kept;
mod outbound;
mod own_tools;
mod position;
mod prepare;
mod progress;
mod resend;
mod run;
mod start;
mod task_bridge;
mod tasks;
mod trace_hop;

#[cfg(test)]
mod tests;

pub use crate::sealer::Sealer;
pub use dispatch::{Dispatch, Route, TaskNames, dispatch, may_gain, may_own, unknown_resource, wants_list};
pub use event::{Event, ExchangeAnswer, LinkFailure, Step, Timeouts};
pub use input::{Binding, ParkedElsewhere, ParkedRequest, Ticket, no_longer_open, parked};
pub use outbound::{Headers, Mirror, Outbound, check_mirrored};
pub use own_tools::inner_request;
pub use position::{ResumableRequest, StreamPosition};
pub use progress::ProgressToken;
pub use resend::{Execution, ResendPolicy};
pub use run::Exchange;
pub use start::Start;
pub use task_bridge::TaskEffect;
pub use trace_hop::{TraceHop, TraceParent};
