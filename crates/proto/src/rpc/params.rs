//! The `params` of a request or notification: spans that are found in the same pass that validates the frame.

use crate::json::{Duplicate, Members, Span};

/// The members of `params` and, if present, of `params._meta`.
#[derive(Debug, Clone, Default)]
pub struct Params {
    /// The members of `params`.
    pub members: Members,
    /// The members of `params._meta`, if that is an object.
    pub meta: Option<Members>,
}

impl Params {
    /// A member of `params`; an error if it occurs twice.
    pub fn unique(&self, text: &[u8], key: &'static str) -> Result<Option<Span>, Duplicate> {
        self.members.unique(text, key)
    }

    /// A member of `params._meta`; an error if it occurs twice.
    pub fn meta(&self, text: &[u8], key: &'static str) -> Result<Option<Span>, Duplicate> {
        self.meta.as_ref().map_or(Ok(None), |meta| meta.unique(text, key))
    }
}
