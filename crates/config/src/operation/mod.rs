//! The settings for those who operate the gateway: what they see, what is recorded, what they may change. This module must not
//! know what clients see.
//!
//! | file | is for |
//! |---|---|
//! | [`admin`], [`management`] | the admin pages; changes over HTTP |
//! | [`audit`], [`log_format`] | the audit log of calls; the format of the log |
//! | [`metrics`], [`readiness`] | metrics for Prometheus; the states of servers that `/ready` reports |
//! | [`cluster`] | several gateways that work as one |

pub(crate) mod admin;
pub(crate) mod audit;
pub(crate) mod cluster;
pub(crate) mod log_format;
pub(crate) mod management;
pub(crate) mod metrics;
pub(crate) mod readiness;
