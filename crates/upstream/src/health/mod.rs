//! The health of one server: its current state, the time at which this state began, the reason for it, and the time of
//! the next attempt. This module must not know links, catalogues or clients: everything that happens arrives as an
//! event, with the time.
//!
//! | file | is for |
//! |---|---|
//! | `event` | the events that concern a server's health |
//! | `facts` | the facts about a server |
//! | `machine`, `derived` | the state machine, which turns events into changes of state; the derivation of a state from the facts |
//! | `state`, `reason_class` | the states and their reasons; the classes of reasons |
//! | `breaker` | the decision to hold back clients' requests |
//! | `schedule` | the times of the next attempts at a failing server |
//! | `history` | the last changes of state |
//! | `journal` | log lines: one for each change, and few for a flapping server |
//! | `returning` | the requests that wait for the server to become available again |
//! | `observed` | the health of a server in use, under a lock that is held only briefly |

mod breaker;
mod derived;
mod event;
mod facts;
mod history;
mod journal;
mod machine;
mod observed;
mod reason_class;
mod returning;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

pub use event::{Failure, HealthEvent};
pub use history::PastChange;
pub use observed::{HealthReport, OpeningWatch, ServerHealth};
pub use reason_class::ReasonClass;
pub use state::{HealthCause, HealthWord};
