//! The catalogue of a server: one for all callers, fetched over shared links, stored, and fetched again when it changes. It
//! must not know who sees it.
//!
//! | file | is for |
//! |---|---|
//! | `cell` | the catalogue of one server: its known items, and the introduction that is served to clients of a version |
//! | `beginning` | the beginning of a caller's own catalogue: the lists of the common one |
//! | `refresh` | fetches of the catalogue, one at a time |
//! | `face` | the lists of one lifecycle, and the reason if they are missing |
//! | `freshness` | whether the lists are known to be current, the reason if they are not, and how long they remain valid |
//! | `gated` | items that are shown only to clients that can be asked something |
//! | `learning` | how these items are learned, one class of clients after the other |
//! | `lifecycles` | whether a child also serves clients without a handshake |
//! | `kept` | the stored catalogue, which outlives the process |
//! | `fetching` | the state that allows one fetch at a time |

mod beginning;
mod cell;
mod face;
mod fetching;
mod freshness;
mod gated;
mod kept;
mod learning;
mod lifecycles;
mod refresh;

pub use cell::Catalogue;
pub use freshness::{Freshness, StaleReason};
pub use gated::Learner;
pub use kept::CatalogueStore;
