//! One request from a client: decided, forwarded, answered. This module must not know HTTP or lines.
//!
//! | file | is for |
//! |---|---|
//! | [`context`] | the access to servers and shared state that calls need |
//! | [`decide`], `forwarded`, `own_answers`, `for_gateways`, [`requester`] | the outcome of a request; the input of its call; answers that need no server; lists for other gateways; the request's sender |
//! | [`in_session`], [`stateless`] | a session's other messages; the views of clients without one |
//! | [`drive`] | a call run to its end, for any receiver |
//! | [`call`], [`caller`], `begin`, `questions`, `ending`, `expiry`, `client_introduction`, `side_channel`, `input`, `lazy_deadline` | one forwarded request: the engine's exchange, performed |
//! | `connection`, `waiting_client` | a call's links and its reply; the client that waits for a call |
//! | `deliver`, `dedicated_link`, `relist`, `resending`, `retries` | the choice of a link; links of a single call; stale lists; requests sent again |
//! | [`parked`], [`elsewhere`], `adopted` | calls that wait for a client without a session; requests for other gateways of the cluster; waiting calls of a gateway that has ended |
//! | [`in_flight`], [`turn`], [`unchecked`] | limits of running calls, by caller and by server; tools whose arguments are not validated |
//! | [`record`], `refused`, `recorded_target`, `audit_entry`, `traced`, [`consent`] | records of requests, including refused ones; servers that require their users' consent |
//! | [`capture`] | the messages of calls, for operators who investigate a problem |
//! | `result_rules`, `result_limit`, [`limited_tasks`], `remainders`, [`result_store`] | long results, shortened; requests for their remainders; results that are kept |
//! | `cached`, `cache_slot`, [`at_once`] | calls that are answered from a cache; limits of running calls, by tool |
//! | [`listen`] | streams of notifications for stateless clients |
//! | [`tasks`], `task_home`, [`task_homes`] | calls that became tasks; tasks that need the link on which they were started |

mod adopted;
pub(crate) mod at_once;
mod audit_entry;
mod begin;
mod cache_slot;
mod cached;
#[expect(clippy::module_inception, reason = "the module's main type")]
pub mod call;
pub(crate) mod caller;
pub mod capture;
mod client_introduction;
mod connection;
pub mod consent;
pub(crate) mod context;
pub mod decide;
mod dedicated_link;
mod deliver;
pub mod drive;
pub mod elsewhere;
mod ending;
mod expiry;
mod for_gateways;
mod forwarded;
pub(crate) mod in_flight;
pub mod in_progress;
pub(crate) mod in_session;
mod input;
mod lazy_deadline;
pub(crate) mod limited_tasks;
pub(crate) mod listen;
mod own_answers;
pub(crate) mod parked;
mod questions;
pub(crate) mod record;
mod recorded_target;
mod refused;
mod relist;
mod remainders;
pub mod requester;
mod resending;
mod result_limit;
mod result_rules;
pub(crate) mod result_store;
mod retries;
mod side_channel;
pub mod stateless;
mod task_home;
pub(crate) mod task_homes;
pub(crate) mod tasks;
mod traced;
pub(crate) mod turn;
mod unchecked;
mod waiting_client;

pub(crate) use context::{CallContext, CallState};
