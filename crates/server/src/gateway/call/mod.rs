//! One request of a client, done: decided, forwarded, answered. It must not know HTTP or lines.
//!
//! | file | is for |
//! |---|---|
//! | [`context`] | what calls are made with |
//! | [`in_session`], [`stateless`] | what a request comes to, in a session or by itself |
//! | [`call`], [`caller`], `begin`, `ending`, `said`, `mail`, `late` | one forwarded request: the engine's exchange, performed |
//! | `deliver`, `lease`, `relist` | over which link it goes; whether it has one for itself; lists read again when they were old |
//! | [`parked`] | calls that wait for a client without a session |
//! | [`in_flight`], [`unchecked`] | how many at once; tools whose arguments nobody checks here |
//! | [`record`], [`consent`] | what is written down of a request; servers that want the consent of their users |
//! | [`listen`] | streams of notices for stateless clients |
//! | [`tasks`], `task_home`, [`task_homes`] | calls that became tasks; those that need the link over which they were begun |

mod begin;
#[expect(clippy::module_inception, reason = "the room's own subject")]
pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod consent;
pub(crate) mod context;
mod deliver;
mod ending;
pub(crate) mod in_flight;
pub(crate) mod in_session;
mod late;
mod lease;
pub(crate) mod listen;
mod mail;
pub(crate) mod parked;
pub(crate) mod record;
mod relist;
mod said;
pub(crate) mod stateless;
mod task_home;
pub(crate) mod task_homes;
pub(crate) mod tasks;
pub(crate) mod unchecked;

pub(crate) use context::{CallContext, CallState};
