//! The vocabulary of the Model Context Protocol: method names, reserved `_meta` keys, and the word by which a result says that
//! its tool failed.
//!
//! Which of them exist in which version is the business of [`crate::era`].

mod failure;
mod method;

pub use failure::says_failure;
pub use method::{Method, Notice};

/// Reserved keys of `_meta` (MCP, basic protocol).
pub mod meta {
    /// The version that a stateless request speaks.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client of a stateless request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who the client of a stateless request is.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The least severe log message that a stateless request wants.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Who answered.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The listen request that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The token under which progress of a request is reported.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}
