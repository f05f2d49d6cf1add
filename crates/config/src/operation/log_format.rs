//! `logFormat`: the format of the log.

use crate::values::words::words;

words! {
    /// The format of the log.
    #[derive(Default)]
    pub enum LogFormat {
        /// Lines on a terminal, and JSON everywhere else.
        #[default]
        Auto = "auto",
        /// Lines for people.
        Pretty = "pretty",
        /// One JSON object per line.
        Json = "json",
    }
}
