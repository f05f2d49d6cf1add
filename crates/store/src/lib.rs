//! The port to kept state. Empty until something has to be kept.
