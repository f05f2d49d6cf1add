//! The kinds of protocol versions that the server supports. This module must not know any message.

/// The lifecycles that the server supports.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifecycle {
    /// `initialize` and a session.
    #[default]
    Handshake,
    /// Both.
    Both,
    /// 2026-07-28 alone.
    Stateless,
}
