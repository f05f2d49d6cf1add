//! The catalogue of a server: one for all who ask, fetched over the links that everybody shares, kept, and fetched again
//! when it changes. It must not know who sees it.
//!
//! | file | is for |
//! |---|---|
//! | `cell` | the catalogue of one server: what is known, and by which introduction clients of a version are served |
//! | `refresh` | fetching it, one fetch at a time |
//! | `face` | the lists of one lifecycle, and why they are missing |
//! | `freshness` | if they are known to be current, else why not, and for how long they hold |
//! | `gated` | items that are shown only to clients that can be asked something |
//! | `learning` | learning these, one class of clients after the other |
//! | `lifecycles` | whether a child also serves clients without a handshake |
//! | `kept` | it outlives the process |
//! | `fetching` | one fetch at a time |

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
