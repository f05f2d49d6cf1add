//! The state of clients at endpoints that imitate another system (a dialect): sessions, event streams, subscriptions,
//! ready lists. This module must not know transports, or the purpose of the state.
//!
//! | file | is for |
//! |---|---|
//! | [`sessions`] | introductions, and the receivers of events |
//! | [`subscribed`] | the resources that a client listens to |
//! | [`lists`] | lists of tools in the form of dialects |

pub(crate) mod lists;
pub(crate) mod sessions;
pub(crate) mod subscribed;
