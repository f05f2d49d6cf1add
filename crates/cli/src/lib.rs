//! The command line of Dragoman: its commands, its client for the terminal, the presets. This crate must not know how servers are served or
//! called: that is `gateway`, and `terminal` for the client.
//!
//! | module | is for |
//! |---|---|
//! | `commands` | the commands: arguments, files, output |
//! | `output` | printing |
//! | `preset` | built-in configurations that behave like other systems |
//! | `terminal` | the client behind `list`, `call`, `read`, `prompt` and `ping` |

// The compiler examines everything nested in a future to find out whether the future can move between threads.
#![recursion_limit = "256"]

mod commands;
mod output;
mod preset;
mod terminal;

pub use commands::main;
