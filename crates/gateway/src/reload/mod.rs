//! Puts a new configuration into force while serving. This module must not know how a configuration is read.
//!
//! | file | is for |
//! |---|---|
//! | [`watch`] | watches the sources of the configuration; applies managers' changes |
//! | [`replacement`], [`warm`] | replaces one configuration with another; fetches the lists that clients will request |
//! | [`standing`] | the configuration with the changes that managers made |
//! | [`shared_changes`], `comparison` | managers' changes that the gateways of a cluster share |
//! | `removal` | servers and sessions that are no longer configured |
//! | [`per_caller`] | per-caller servers |
//! | [`revoked`] | credentials that end earlier than their sessions and streams |

mod comparison;
pub(crate) mod per_caller;
mod removal;
pub(crate) mod replacement;
pub(crate) mod revoked;
pub(crate) mod shared_changes;
pub(crate) mod standing;
pub(crate) mod warm;
pub(crate) mod watch;

pub use crate::changes::edits::UnreadConfig;
pub use watch::Origin;
