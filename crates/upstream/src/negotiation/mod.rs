//! In which version of the protocol, and over which transport, a server is spoken to. It must not know who asks, or how a
//! connection is made.
//!
//! | file | is for |
//! |---|---|
//! | [`ladder`] | the ways, tried in turn and remembered |
//! | [`greeting`] | the introduction to a child, over its pipe |

pub mod greeting;
pub mod ladder;
