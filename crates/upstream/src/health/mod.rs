//! The health of one server: which state it is in, since when, for which reason, and when it is tried next. It must not know
//! links, catalogues or clients: what happens comes in as events, with the time.
//!
//! | file | is for |
//! |---|---|
//! | `event` | what happens to a server |
//! | `facts` | what is known of a server |
//! | `machine`, `derived` | the state machine: events in, changes of state out; from what is known to the state |
//! | `state` | the states and their reasons |
//! | `breaker` | when clients' requests are held back |
//! | `schedule` | when a server that fails is tried again |
//! | `journal` | one line in the log for each change, and few for a server that flaps |
//! | `returning` | those who wait for the server to come back |
//! | `observed` | all of this for one server that is in use, behind a short lock |

mod breaker;
mod derived;
mod event;
mod facts;
mod journal;
mod machine;
mod observed;
mod returning;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

pub use event::{Failure, HealthEvent};
pub use observed::{HealthReport, OpeningWatch, ServerHealth};
pub use state::{HealthCause, HealthWord};
