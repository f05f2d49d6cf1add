//! The protocol version and the transport for a server, and the connection attempts that show which ones work. This
//! module must not know who asks, or what the connection is for.
//!
//! | file | is for |
//! |---|---|
//! | [`negotiator`] | versions and transports, tried in turn and remembered |
//! | [`guest`] | the side that opens the handshake |
//! | [`wire`] | the transports |
//! | [`greeting`] | the handshake with a child, over its pipe |
//! | [`connector`] | an open transport after the handshake, over HTTP or a pipe |

pub mod connector;
pub mod greeting;
pub mod guest;
pub mod negotiator;
pub mod wire;
