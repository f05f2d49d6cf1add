//! The state of a client with a handshake: its streams, subscriptions, open questions. This module must not know HTTP
//! or lines.
//!
//! | file | is for |
//! |---|---|
//! | [`context`] | the context for making sessions |
//! | [`session`], [`usage`], [`handshake`] | one session, the times of its use, and its handshake |
//! | `session_client`, [`session_links`] | the introduction of a session's client; the links that a session uses |
//! | [`table`], [`sessions`] | a table of sessions, also used by dialects; all sessions with a handshake |
//! | [`streams`], `copied_events` | a session's event streams; their events as the cluster copies them |
//! | [`open_requests`] | a session's running requests |
//! | [`ending`], [`eviction`] | the end of sessions; the eviction of their events when there are too many |
//! | `followed`, [`subscriptions`], [`replaced`] | resources that a client listens to: kept, changed, moved to other servers |
//! | `log_level`, `denied_servers` | the log messages that a client wants; servers that are denied to a client |
//! | [`link_user`], [`question_origin`], `task_ids` | the session as links see it; origins of questions; task ids in messages |
//! | [`id`], [`kept`], `keeping` | the facts in a session's id; the stored facts, and the times at which they are stored |
//! | [`restore`], `turns` | the return of a session after a restart; turns, so that each session is restored only once |
//! | [`following`] | the effect of a new configuration on a session |
//! | [`until`] | the validity of the credentials that opened a session or a stream |
//! | `seal`, [`sealer`], [`tidying`] | states that cannot be forged; memory returned to the system |

pub(crate) mod changed;
pub(crate) mod context;
mod copied_events;
mod denied_servers;
pub(crate) mod ending;
pub(crate) mod eviction;
mod followed;
pub(crate) mod following;
pub(crate) mod handshake;
pub(crate) mod id;
mod keeping;
pub(crate) mod kept;
pub(crate) mod link_user;
mod log_level;
pub(crate) mod open_requests;
pub(crate) mod question_origin;
pub(crate) mod replaced;
pub(crate) mod restore;
pub(crate) mod seal;
pub(crate) mod sealer;
#[expect(clippy::module_inception, reason = "the module's main type")]
pub mod session;
mod session_client;
pub(crate) mod session_links;
pub(crate) mod sessions;
pub(crate) mod streams;
pub(crate) mod subscriptions;
pub(crate) mod table;
mod task_ids;
pub(crate) mod tidying;
mod turns;
pub mod until;
pub(crate) mod usage;

pub(crate) use context::{SessionContext, SessionState};
pub(crate) use session::Session;
