//! The commands as a person or a script sees them: texts, JSON, exit codes; the terminal's client against a server.

mod arguments;
mod client;
mod config;
mod eras;
mod help;
mod person;
mod run;
mod serve;
#[path = "../support/mod.rs"]
mod support;
