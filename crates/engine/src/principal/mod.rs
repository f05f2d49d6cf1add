//! The authenticated identity of a caller. This module must not know how credentials are checked.

mod calls;
#[expect(clippy::module_inception, reason = "the room's own subject")]
mod principal;

pub use calls::{CallPlace, Calls};
pub use config::Scheme;
pub use principal::Principal;
