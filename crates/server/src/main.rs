//! The binary `dragoman`: a gateway and a server for the Model Context Protocol, and a client for the terminal.
//!
//! | module | is for |
//! |---|---|
//! | [`audit`] | the record of calls as it is written |
//! | [`auth`] | who asks: authentication of clients |
//! | [`cli`] | the commands: arguments, files, what is printed |
//! | [`gateway`] | serving: profiles, sessions, exchanges |
//! | [`manage`] | servers and profiles that are changed while serving |
//! | [`output`] | what commands print with |
//! | [`preset`] | built-in configurations that behave as other systems do |
//! | [`terminal`] | the client behind `list`, `call`, `read`, `prompt` and `ping` |

// Whether a future may change threads is told from all that is nested in it.
#![recursion_limit = "256"]

mod audit;
mod auth;
mod cli;
mod gateway;
mod manage;
mod output;
mod preset;
mod terminal;
mod tls;

fn main() -> std::process::ExitCode {
    cli::main()
}
