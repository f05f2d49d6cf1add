//! Tools that the binary hosts itself.
