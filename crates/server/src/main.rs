//! The binary `dragoman`: a gateway and a server for the Model Context Protocol, and a client for the terminal.
//!
//! | module | is for |
//! |---|---|
//! | [`cli`] | the commands: arguments, files, output |
//! | [`output`] | printing |
//! | [`preset`] | built-in configurations that behave like other systems |
//! | [`terminal`] | the client behind `list`, `call`, `read`, `prompt` and `ping` |

// The compiler examines everything nested in a future to find out whether the future can move between threads.
#![recursion_limit = "256"]

mod cli;
mod output;
mod preset;
mod terminal;

fn main() -> std::process::ExitCode {
    // This comes before any thread, any tuning of the allocator, and any configuration.
    #[cfg(target_os = "linux")]
    if let Some(code) = transport::child::guardian::enter() {
        return code;
    }
    cli::main()
}
