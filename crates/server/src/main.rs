//! The binary `dragoman`: a gateway and a server for the Model Context Protocol, and a client for the terminal.
//!
//! | module | is for |
//! |---|---|
//! | [`cli`] | the commands: arguments, files, output |
//! | [`output`] | printing |
//! | [`preset`] | built-in configurations that behave like other systems |
//! | [`terminal`] | the client behind `list`, `call`, `read`, `prompt` and `ping` |

// Whether a future may change threads is told from all that is nested in it.
#![recursion_limit = "256"]

mod cli;
mod output;
mod preset;
mod terminal;

fn main() -> std::process::ExitCode {
    // Before there is a thread, an allocator that is tuned, or a configuration.
    #[cfg(target_os = "linux")]
    if let Some(code) = transport::child::guardian::enter() {
        return code;
    }
    cli::main()
}
