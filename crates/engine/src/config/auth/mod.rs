//! `auth`: whom Dragoman knows, and how they show who they are.

mod model;

pub use model::{Algorithm, Auth, Bearer, Jwt, OAuth, SiteCheck};
