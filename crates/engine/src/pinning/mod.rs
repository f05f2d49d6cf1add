//! The definitions of a server's tools, pinned: recorded on first sight, compared with every later list, and approved by a
//! person when they change. Otherwise, a server that has passed a review could replace a description or a schema later, and no
//! client would notice.
//!
//! ```text
//!  tool as listed ─► normal form ─► fingerprint ─► Pins: approved, changed or new ─► withheld, or only reported
//!                         └────── two of them ───► difference ─► lines for people
//! ```
//!
//! | file | is for |
//! |---|---|
//! | `normal_form` | the part of a definition that is compared, in one spelling for all versions |
//! | `pins` | the record of one server: which definitions are approved, which are not |
//! | `difference` | the differences between two definitions, member by member |
//! | `tree` | a definition as a tree, read in one pass |
//! | `text_difference` | the differences between two texts, word by word |
//! | `layout` | foreign text in lines of a terminal, with all invisible characters escaped |
//!
//! Pure: digests are computed by the caller. This module must not know where the record is stored, or what a policy does to
//! clients.

mod difference;
mod layout;
mod normal_form;
mod pins;
mod text_difference;
mod tree;

#[cfg(test)]
mod tests;

pub use difference::{DefinitionDiff, DiffLine, DiffSign, difference};
pub use layout::visible;
pub use normal_form::normal_form;
pub use pins::{COMMON, Fingerprint, ListedDefinition, PinVerdict, Pins};
