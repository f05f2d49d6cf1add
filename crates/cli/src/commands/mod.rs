//! The commands: their options and their output.
//!
//! | file | is for |
//! |---|---|
//! | `args` | the command line: global options and commands |
//! | `init`, `import`, `connect`, `disconnect`, `serve`, `stdio`, `add`, `remove`, `check`, `doctor`, `status`, `logs`, `top`, `server`, `session`, `consent`, `list`, `call`, `read`, `prompt`, `ping`, `key`, `user`, `keyring`, `definitions`, `audit`, `admin`, `schema`, `completions`, `man` | one command each |
//! | `settings` | the configuration: finding it, reading it, `${…}` |
//! | `text_file`, `config_file` | a text file that is edited; the configuration file |
//! | `client_files`, `connection_records` | the settings files of clients; what `connect` changed in them |
//! | `run_bundle` | the start of a server in a bundle, by the gateway |
//! | `download` | documents and files from the network |
//! | `confirmation` | questions to the person at the terminal |
//! | `running` | requests to the running gateway |
//! | `state` | the folder of keys and the record of calls |
//! | `address` | addresses to listen at, and checks of those that other machines can reach |
//! | `welcome` | the first screen of `serve` |
//! | `log`, `log_format` | log filters; the format of the log |
//!
//! This module must not know how servers are served or called: that is `gateway` and `terminal`.

mod add;
mod address;
mod admin;
mod args;
mod audit;
mod call;
mod check;
mod client_credentials;
mod client_files;
mod completions;
mod config_file;
mod confirmation;
mod connect;
mod connection_records;
mod consent;
mod definitions;
mod disconnect;
mod doctor;
mod download;
mod import;
mod init;
mod key;
mod keyring;
mod list;
mod log;
mod log_format;
mod logs;
mod man;
mod ping;
mod profile;
mod prompt;
mod read;
mod remove;
mod run_bundle;
mod running;
mod schema;
mod serve;
mod server;
mod session;
pub(crate) mod settings;
pub(crate) mod state;
mod status;
mod stdio;
pub(crate) mod target;
mod text_file;
mod top;
mod user;
mod welcome;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use config::LogFormat;

use crate::output::console::{Console, terminal_width};
use crate::output::failure::Failure;
use crate::output::options::Global;
use args::{Cli, Command};

/// Runs the command and returns its exit code: 0 for success, 1 for failure, 2 for a wrong command line or
/// configuration, 130 after Ctrl-C.
pub fn main() -> ExitCode {
    let cli = match parsed() {
        Ok(cli) => cli,
        Err(error) => return misunderstood(&error),
    };
    let console = Console::new(&cli.global);
    match run(cli, &console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show(&console);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Reads the command line. Help and errors fit the terminal; elsewhere, their lines stay whole.
fn parsed() -> Result<Cli, clap::Error> {
    let width = terminal_width().map(|width| width.min(args::WIDEST));
    let command = width.map_or_else(Cli::command, |width| args::fitted(Cli::command(), width));
    let parsed = command.term_width(width.unwrap_or(0)).try_get_matches();
    parsed.and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Prints help, or the error of a command line. For scripts, the error is JSON like every other.
fn misunderstood(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
    if !wants_json || !error.use_stderr() {
        error.exit()
    }
    let console = Console::new(&Global { json: true, ..Global::default() });
    let text = error.render().to_string();
    let failure = Failure::usage(text.trim().trim_start_matches("error: "));
    failure.show(&console);
    ExitCode::from(failure.exit_code())
}

fn run(cli: Cli, console: &Console) -> Result<(), Failure> {
    let Cli { global, serve, command } = cli;
    start_log(&serve, command.as_ref(), console)?;
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
        Some(Command::Init(args)) => init::run(&args, &global, console),
        Some(Command::Import(args)) => import::run(&args, &global, console),
        Some(Command::Connect(args)) => connect::run(&args, &global, console),
        Some(Command::Disconnect(args)) => disconnect::run(&args, console),
        Some(Command::Add(args)) => add::run(&args, &global, console),
        Some(Command::Remove(args)) => remove::run(&args, &global, console),
        Some(Command::Check(args)) => check::run(&args, &global, console),
        Some(Command::Doctor(args)) => doctor::run(&args, &global, console),
        Some(Command::Status(args)) => status::run(&args, &global, console),
        Some(Command::Logs(args)) => logs::run(&args, &global, console),
        Some(Command::Top(args)) => top::run(&args, &global, console),
        Some(Command::Server(args)) => server::run(&args, &global, console),
        Some(Command::Profile(args)) => profile::run(&args, &global, console),
        Some(Command::Session(args)) => session::run(&args, &global, console),
        Some(Command::Consent(args)) => consent::run(&args, &global, console),
        Some(Command::List(args)) => list::run(args, &global, console),
        Some(Command::Call(args)) => call::run(args, &global, console),
        Some(Command::Read(args)) => read::run(args, &global, console),
        Some(Command::Prompt(args)) => prompt::run(args, &global, console),
        Some(Command::Ping(args)) => ping::run(args, &global, console),
        Some(Command::Key(args)) => key::run(args, &global, console),
        Some(Command::User(args)) => user::run(args, console),
        Some(Command::Keyring(args)) => keyring::run(args, &global, console),
        Some(Command::Definitions(args)) => definitions::run(args, &global, console),
        Some(Command::Admin(args)) => admin::run(args, &global, console),
        Some(Command::Audit(args)) => audit::run(&args, &global, console),
        Some(Command::Completions(args)) => completions::run(&args, console),
        Some(Command::Man(args)) => man::run(&args, console),
        Some(Command::RunBundle(args)) => run_bundle::run(&args),
        Some(Command::Config { what: args::ConfigCommand::Show { preset } }) => {
            let file = global.config.as_deref();
            match preset {
                Some(preset) => settings::show_preset(preset, file, console),
                None => settings::show(file, console),
            }
        }
        Some(Command::Schema | Command::Config { what: args::ConfigCommand::Schema }) => schema::run(console),
    }
}

/// Starts the log of this command, in its format.
fn start_log(serve: &serve::Args, command: Option<&Command>, console: &Console) -> Result<(), Failure> {
    let serves = matches!(command, None | Some(Command::Serve(_) | Command::Stdio(_)));
    let preset = serve.preset.is_some()
        || matches!(command, Some(Command::Serve(args)) if args.preset.is_some())
        || matches!(command, Some(Command::Stdio(args)) if args.preset.is_some());
    let serving = match command {
        None => Some(serve),
        Some(Command::Serve(args)) => Some(args),
        Some(_) => None,
    };
    log::init(console, serves, preset)?;
    let option = serving.and_then(|args| args.log_format);
    log::choose_format(console, option, LogFormat::Auto, serving.is_some() && !preset)
}
