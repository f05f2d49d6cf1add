//! What a client with a handshake has here: its streams, subscriptions, open questions. It must not know HTTP or lines.
//!
//! | file | is for |
//! |---|---|
//! | [`context`] | what sessions are made with |
//! | [`session`], [`usage`], [`newborn`] | one session, how it is used, and before its client has heard of it |
//! | [`sessions`] | the table of all |
//! | [`streams`] | its event streams |
//! | [`open_requests`] | its requests that are open |
//! | [`ending`] | how sessions end |
//! | `followed`, [`subscriptions`], [`remade`] | the resources that it listens to; where their servers are others now |
//! | `log_level`, `shut` | which log messages it wants; servers of which it may use nothing |
//! | [`link_user`], [`asker`], `task_ids` | it as links to servers know it; who asks its client; tasks in what it hears |
//! | [`following`] | what a change of the configuration changes for it |
//! | [`until`] | how long the credentials are good that opened it |
//! | `seal`, [`sealer`], [`tidying`] | states that nobody can forge; memory given back |

pub(crate) mod asker;
pub(crate) mod changed;
pub(crate) mod context;
pub(crate) mod ending;
mod followed;
pub(crate) mod following;
pub(crate) mod link_user;
mod log_level;
pub(crate) mod newborn;
pub(crate) mod open_requests;
pub(crate) mod remade;
pub(crate) mod seal;
pub(crate) mod sealer;
#[expect(clippy::module_inception, reason = "the room's own subject")]
pub(crate) mod session;
pub(crate) mod sessions;
mod shut;
pub(crate) mod streams;
pub(crate) mod subscriptions;
mod task_ids;
pub(crate) mod tidying;
pub(crate) mod until;
pub(crate) mod usage;

pub(crate) use context::{SessionContext, SessionState};
pub(crate) use session::Session;
