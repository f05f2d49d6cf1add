//! The profile of an endpoint with a dialect.

use std::sync::Arc;

use engine::dialect::Dialect;

/// A profile, served in a dialect.
#[derive(Clone)]
pub(crate) struct Front {
    pub(crate) row: Arc<Dialect>,
    pub(crate) profile: usize,
}
