//! MCPB bundles: zip archives that contain an MCP server with its manifest (manifest versions 0.1 to 0.4).
//!
//! The content of a bundle is untrusted; [`unpack`] unpacks it within limits. This crate must not start a program,
//! and must not know the configuration.
//!
//! | module | is for |
//! |---|---|
//! | [`archive`] | the files in a bundle, and what may be unpacked |
//! | [`manifest`] | the description of the server, and the settings that it asks for |
//! | [`launch`] | the command that starts the server |
//! | [`unpack`] | a bundle's files in a folder that is named after its checksum |

pub mod archive;
pub mod launch;
pub mod manifest;
pub mod unpack;
