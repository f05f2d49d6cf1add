//! The catalogue of a server: one for all callers, fetched over shared links, stored, and fetched again when the
//! server's lists change. This module must not know which clients see the catalogue.
//!
//! | file | is for |
//! |---|---|
//! | `cell` | the catalogue of one server: its known items, and the introduction that is served to clients of a version |
//! | `circle` | lists that lead back to this gateway |
//! | `beginning` | the first lists of a caller's own catalogue: those of the common catalogue |
//! | `refresh` | fetching the catalogue, one fetch at a time |
//! | `served` | lists as the server sent them, and as they are served to clients |
//! | `withholding` | comparing lists with the record of definitions, and withholding tools that await approval |
//! | `lifecycle_lists` | the lists of one lifecycle, and the reason if they are missing |
//! | `freshness` | whether the lists are known to be current, the reason if they are not, and how long they remain valid |
//! | `gated` | items that are shown only to clients that can be asked questions |
//! | `learning` | learning the items that are shown only to clients that can be asked questions, one class of clients after the other |
//! | `lifecycles` | whether a child also serves clients without a handshake |
//! | `kept` | the stored catalogue, which outlives the process |
//! | `fetching` | the state that allows one fetch at a time |

mod beginning;
mod cell;
mod circle;
mod fetching;
mod freshness;
mod gated;
mod kept;
mod learning;
mod lifecycle_lists;
mod lifecycles;
mod refresh;
mod served;
#[cfg(test)]
mod testing;
mod withholding;

pub use cell::Catalogue;
pub use freshness::{Freshness, StaleReason};
pub use gated::Learner;
pub use kept::CatalogueStore;
