//! The commands as a person or a script sees them: texts, JSON, exit codes; the terminal's client against a server.

mod arguments;
mod client;
mod clients;
mod config;
mod doctor;
mod edits;
mod eras;
mod help;
mod hostile;
mod person;
mod registry;
mod run;
mod running;
mod serve;
mod shells;
#[path = "../support/mod.rs"]
mod support;
