//! The `params` of a request or notification: places, found in the same pass that validates the frame.

use crate::json::{Duplicate, Members, Span};

/// The members of `params` and, when it has one, of `params._meta`.
#[derive(Debug, Clone)]
pub struct Params {
    /// The members of `params`.
    pub members: Members,
    /// The members of `params._meta`, when that is an object.
    pub meta: Option<Members>,
}

impl Params {
    /// A member of `params`, refused when it stands twice.
    pub fn unique(&self, text: &[u8], key: &'static str) -> Result<Option<Span>, Duplicate> {
        self.members.unique(text, key)
    }

    /// A member of `params._meta`, refused when it stands twice.
    pub fn meta(&self, text: &[u8], key: &'static str) -> Result<Option<Span>, Duplicate> {
        self.meta.as_ref().map_or(Ok(None), |meta| meta.unique(text, key))
    }
}
