//! Links that are opened when they are needed: those that clients share, and those that one call has for itself. It must not
//! know what a call is for, or what a server offers.
//!
//! | file | is for |
//! |---|---|
//! | [`link_cell`] | a link that is opened when it is first needed, and again when it is gone |
//! | `opening` | the ways in which it may be opened |
//! | [`links`] | the links to one server that are no session's own |
//! | [`lease`] | links that one call has for itself while it runs |

pub mod lease;
pub mod link_cell;
pub mod links;
mod opening;

pub use lease::{Lease, Leases};
pub use link_cell::{LinkCell, LinkListener};
pub use links::Links;
