//! The settings of servers: `mcpServers`. This module must not know profiles.
//!
//! | file | is for |
//! |---|---|
//! | [`mcp_servers`] | the block, as clients write it: which kind of link an entry describes, and which keys belong to it |
//! | [`server`] | the keys of any server, regardless of its link |
//! | [`server_tools`], [`tool_calls`] | the tools that a server serves; the rules for calls to single tools |
//! | [`links`] | programs, and URLs with their headers |
//! | [`native`] | servers inside the gateway |
//! | [`route`] | the route to a server: its proxy, and its files for TLS |
//! | [`pass_headers`] | the headers of clients' requests that a server gets |
//! | [`consent`] | the consent of a server's users |

pub(crate) mod consent;
pub(crate) mod links;
pub(crate) mod mcp_servers;
pub(crate) mod native;
pub(crate) mod pass_headers;
pub(crate) mod route;
pub(crate) mod server;
pub(crate) mod server_tools;
pub(crate) mod tool_calls;
