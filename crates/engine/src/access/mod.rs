//! Who may use what: the asker, the rules, and the one decision that lists and calls share.
//!
//! Pure. It must not know transports, sessions, or how a credential is checked.

mod principal;

pub use principal::{Principal, Scheme};
