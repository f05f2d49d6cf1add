//! Links that are opened when they are needed: those that clients share, and those that one call has for itself. It must not
//! know what a call is for, or what a server offers.
//!
//! | file | is for |
//! |---|---|
//! | [`link_cell`] | a link that is opened when it is first needed, and again when it is gone |
//! | `turns` | the same for a link of the pool, which owners use in turns |
//! | `opening` | the ways in which it may be opened |
//! | [`links`] | the links to one server that are no session's own |
//! | `dedicated`, [`dispatch`], `rules` | links that serve one owner at a time; who of them gets which; how many there are |
//! | `rights` | requests in the queue, openings and calls: each ends when it is dropped |
//! | [`dedicated_link`] | links that one call has for itself while it runs |
//! | `spare` | those that make room for a process of another server |
//! | [`single`], `turn_queue` | the only link of a server that cannot run twice; the turns on it |
//! | [`dormant`] | those whose call or task waits for its client, and which of them makes way |

mod dedicated;
pub mod dedicated_link;
pub mod dispatch;
pub mod dormant;
pub mod link_cell;
pub mod links;
mod opening;
mod rights;
mod rules;
pub mod single;
mod spare;
mod starts;
mod turn_queue;
mod turns;

pub use dedicated::{Dedicated, PoolFigures};
pub use dedicated_link::DedicatedLink;
pub use link_cell::{LinkCell, LinkListener};
pub use links::{LinkFigures, Links};
pub use turn_queue::TurnParty;
