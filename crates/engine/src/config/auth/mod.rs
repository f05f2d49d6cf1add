//! `auth`: whom Dragoman knows, and how callers show who they are.

mod bearer;
mod check;
mod jwt;
mod sections;

pub use bearer::Bearer;
pub(super) use check::{safe_url, scope};
pub use jwt::{Algorithm, Jwt};
pub use sections::{Auth, OAuth, SiteCheck};
