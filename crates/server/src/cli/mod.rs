//! The commands: their options and their output.
//!
//! | file | is for |
//! |---|---|
//! | `args` | the command line: global options and commands |
//! | `serve`, `stdio`, `check`, `list`, `call`, `read`, `prompt`, `ping`, `key`, `keyring`, `definitions`, `audit`, `admin`, `schema` | one command each |
//! | `settings` | the configuration: finding it, reading it, `${…}` |
//! | `state` | the folder of keys and the record of calls |
//! | `address` | addresses to listen at, and checks of those that other machines can reach |
//! | `welcome` | the first screen of `serve` |
//! | `log` | log filters and format |
//!
//! This module must not know how servers are served or called: that is `gateway` and `terminal`.

mod address;
mod admin;
mod args;
mod audit;
mod call;
mod check;
mod definitions;
mod key;
mod keyring;
mod list;
mod log;
mod ping;
mod prompt;
mod read;
mod schema;
mod serve;
pub(crate) mod settings;
pub(crate) mod state;
mod stdio;
pub(crate) mod target;
mod welcome;

use std::process::ExitCode;

use clap::Parser as _;

use crate::output::console::Console;
use crate::output::failure::Failure;
use args::{Cli, Command};

/// Runs the command and returns its exit code: 0 for success, 1 for failure, 2 for a wrong command line or
/// configuration, 130 after Ctrl-C.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = Console::new(&cli.global);
    match run(cli, &console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show(&console);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(cli: Cli, console: &Console) -> Result<(), Failure> {
    let Cli { global, serve, command } = cli;
    let serves = matches!(&command, None | Some(Command::Serve(_) | Command::Stdio(_)));
    let preset = serve.preset.is_some()
        || matches!(&command, Some(Command::Serve(args)) if args.preset.is_some())
        || matches!(&command, Some(Command::Stdio(args)) if args.preset.is_some());
    log::init(console, serves, preset)?;
    transport::memory::share_arenas();
    // This comes before any secret is read.
    if let Err(e) = transport::memory::protect() {
        tracing::warn!("cannot exclude this process's memory from core dumps: {e}");
    }
    if command.is_some() && serve != serve::Args::default() {
        let message = "options of `serve` precede another command";
        return Err(Failure::usage(message).help("write them after `serve`: dragoman serve --listen 9000"));
    }
    match command {
        None => serve::run(&serve, &global, console),
        Some(Command::Serve(args)) => serve::run(&args, &global, console),
        Some(Command::Stdio(args)) => stdio::run(&args, &global, console),
        Some(Command::Check(args)) => check::run(&args, &global, console),
        Some(Command::List(args)) => list::run(args, &global, console),
        Some(Command::Call(args)) => call::run(args, &global, console),
        Some(Command::Read(args)) => read::run(args, &global, console),
        Some(Command::Prompt(args)) => prompt::run(args, &global, console),
        Some(Command::Ping(args)) => ping::run(args, &global, console),
        Some(Command::Key(args)) => key::run(args, &global, console),
        Some(Command::Keyring(args)) => keyring::run(args, &global, console),
        Some(Command::Definitions(args)) => definitions::run(args, &global, console),
        Some(Command::Admin(args)) => admin::run(args, &global, console),
        Some(Command::Audit(args)) => audit::run(&args, &global, console),
        Some(Command::Config { what: args::ConfigCommand::Show { preset } }) => {
            settings::show(preset, global.config.as_deref(), console)
        }
        Some(Command::Schema | Command::Config { what: args::ConfigCommand::Schema }) => schema::run(console),
    }
}
