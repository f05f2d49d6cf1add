//! A fast MCP upstream on one thread: `echo`, `payload` and any number of further tools.
//!
//! It answers legacy clients (handshake, sessions) and modern ones (2026-07-28) alike. `answer` decides the content
//! of answers, whatever the transport; `http` and `stdio` move bytes.

mod answer;
mod body;
mod http;
mod options;
mod request;
mod sessions;
mod stdio;
mod tools;

use std::io;

pub use options::{Era, Options};

/// Serves until stdin closes (`--stdio`, `--until-stdin-closes`) or the process is ended.
///
/// Over HTTP the first line on stdout is `listening http://127.0.0.1:PORT/mcp`.
///
/// # Errors
/// Fails if the port is not available, or stdin or stdout fail.
pub fn run(options: &Options) -> io::Result<()> {
    let answers = answer::Answers::new(options.tools, options.era).agreeing_on(options.handshake.clone());
    if options.stdio {
        return stdio::serve(&answers, &mut io::stdin().lock(), &mut io::stdout().lock());
    }
    http::run(answers, options)
}
