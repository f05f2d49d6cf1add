//! What is kept of clients at endpoints with a dialect: sessions, event streams, resources that they listen to, ready lists. It
//! must not know transports, or what is kept in it is for.
//!
//! | file | is for |
//! |---|---|
//! | [`sessions`] | whether a client has introduced itself, and where its events go |
//! | [`subscribed`] | the resources that it listens to |
//! | [`lists`] | lists of tools as dialects say them |

pub(crate) mod lists;
pub(crate) mod sessions;
pub(crate) mod subscribed;
