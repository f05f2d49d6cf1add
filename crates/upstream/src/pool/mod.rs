//! Links that are opened on demand: those that clients share, and dedicated links, each of which serves one owner (a
//! session or a call) at a time. This module must not know what a call is for, or what a server offers.
//!
//! | file | is for |
//! |---|---|
//! | [`link_cell`] | a link that is opened at its first use, and again after it is lost |
//! | `turns` | cells whose links come from the pool, on which owners take turns |
//! | `opening` | the opening of a link |
//! | [`links`] | the links to one server that belong to no session |
//! | `dedicated`, [`dispatch`], `rules` | links that serve one owner at a time; the choice of a link for each owner; their limits |
//! | `admission` | the wait of an owner for a dedicated link |
//! | `budget`, `family` | the number of links of all pools of a server; these pools, one for each caller with an upstream of its own |
//! | `spare` | links that make room for others |
//! | `rights` | the right to a request in the queue, to an opening or to a call: each ends when it is dropped |
//! | [`dedicated_link`] | links that belong to one call while it runs |
//! | [`dormant`] | links whose call or task waits for its client, and the choice of the one that is given up |

mod admission;
mod budget;
mod dedicated;
pub mod dedicated_link;
pub mod dispatch;
pub mod dormant;
mod family;
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
pub use links::{LinkFigures, Links, StderrLine};
pub use turn_queue::TurnParty;
