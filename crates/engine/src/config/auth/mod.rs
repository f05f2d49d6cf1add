//! `auth`: whom Dragoman knows, and how they show who they are.

mod check;
mod model;
mod read;

pub(super) use check::{safe_url, scope};
pub use model::{Algorithm, Auth, Bearer, FailureLimit, Jwt, OAuth, SiteCheck};
pub(super) use read::read;
