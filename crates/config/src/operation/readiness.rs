//! `ready`: the state of the servers that `/ready` reports.

use crate::values::words::words;

words! {
    /// The state that the servers must have reached before `/ready` answers 200.
    #[derive(Default)]
    pub enum Readiness {
        /// Each server was tried once, or its lists are known from an earlier run.
        #[default]
        Started = "started",
        /// At least one server can be used.
        Any = "any",
        /// Every server can be used.
        All = "all",
    }
}
