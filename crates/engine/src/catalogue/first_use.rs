//! Values about a catalogue that are computed at their first use, because most catalogues never need them. This module must not
//! know what the values mean.

use std::sync::{Arc, OnceLock};

/// Values that are computed at their first use. Cloning gives an empty cell, because the cloned catalogue may get other tools.
#[derive(Debug)]
pub(super) struct FirstUse<T>(OnceLock<Arc<[T]>>);

impl<T> Default for FirstUse<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for FirstUse<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> FirstUse<T> {
    /// Returns the values, and computes them if this is their first use.
    pub(super) fn get(&self, compute: impl FnOnce() -> Vec<T>) -> Arc<[T]> {
        self.0.get_or_init(|| compute().into()).clone()
    }

    /// Returns true if the values have already been computed.
    pub(super) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }
}
