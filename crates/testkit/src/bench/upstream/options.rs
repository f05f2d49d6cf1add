//! The options of the upstream, and its limits. This module must not know any answer.

use super::request;

/// The longest message that is read, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 16 << 20;

/// The protocol versions that the upstream supports.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// All versions; each message selects its own.
    Both,
    /// The versions with a handshake.
    Legacy,
    /// 2026-07-28 only.
    Modern,
}

/// The behaviour of the upstream.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// The number of tools in the list, `echo` and `payload` among them.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub tools: u32,
    /// The protocol versions to support.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub era: Era,
    /// The only version to agree on in a handshake; if absent, the version that the client requests.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(request::LEGACY))]
    pub handshake: Option<String>,
    /// Answer requests with event streams instead of JSON.
    #[arg(long)]
    pub sse: bool,
    /// Serve stdin and stdout instead of HTTP.
    #[arg(long, conflicts_with_all = ["sse", "port"])]
    pub stdio: bool,
    /// The port on 127.0.0.1; 0 selects a free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// End when stdin closes, so that the server cannot outlive the program that started it.
    #[arg(long)]
    pub until_stdin_closes: bool,
}
