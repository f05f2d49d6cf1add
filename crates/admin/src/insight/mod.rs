//! The data that an operator can see of a running gateway, gathered as plain data. The management API serializes
//! these values, and the pages render them. This module must not know HTTP.
//!
//! | file | is for |
//! |---|---|
//! | [`moment`] | points in time |
//! | [`servers`], [`links`] | servers: their state and its history; their connections and processes |
//! | [`catalogue`], [`profiles`] | what servers offer; what clients of a profile see of it |
//! | [`tool_history`] | the times at which a server's tools appeared, changed and vanished |
//! | [`calls`], [`refusals`], [`usage`] | the record of calls; the reasons why calls did not reach a tool; figures about a period |
//! | [`captured`] | captured messages |
//! | [`live`] | events as they happen |
//! | [`sessions`], [`keys`], [`consents`], [`sign_ins`] | sessions and streams; API keys; consents of callers to servers; people who have signed in |
//! | [`access`] | whether the rules let a caller use a tool |
//! | [`limits`] | limits and their use |
//! | [`replicas`], [`shared_calls`] | the gateways of the cluster; their recorded calls |
//! | [`configuration`] | the configuration in force, and changes made at run time |
//! | [`gateway_log`] | the last lines of the gateway's own log |
//! | [`health`] | what an operator should look at |

pub(crate) mod access;
pub(crate) mod calls;
pub(crate) mod captured;
pub(crate) mod catalogue;
pub(crate) mod configuration;
pub(crate) mod consents;
pub(crate) mod gateway_log;
pub(crate) mod health;
pub(crate) mod in_progress;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod links;
pub(crate) mod live;
pub(crate) mod moment;
pub(crate) mod profiles;
pub(crate) mod refusals;
pub(crate) mod replicas;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod shared_calls;
pub(crate) mod sign_ins;
pub(crate) mod tool_history;
pub(crate) mod usage;
