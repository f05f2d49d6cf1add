//! `auth`: the accepted callers, and the ways in which they authenticate.

mod bearer;
mod check;
mod jwt;
mod login;
mod sections;

pub use bearer::Bearer;
pub(crate) use check::{safe_url, scope};
pub use jwt::{Algorithm, Jwt};
pub use login::Login;
pub(crate) use sections::users;
pub use sections::{Auth, OAuth, SiteCheck};
