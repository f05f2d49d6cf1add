//! The commands: their options and their output. Each folder imports only from those above it. This module must not know how servers
//! are served or called: that is `gateway` and `terminal`.
//!
//! | folder | is for |
//! |---|---|
//! | `configuration` | the configuration file and the state folder: found, read, edited |
//! | `reference` | `schema`, `completions`, `man`: the program described for other programs |
//! | `credentials` | `key`, `user`, `keyring`: API keys, passwords, the keys that seal states |
//! | `records` | `audit`, `definitions`: the record of calls, and the approved definitions of tools |
//! | `calls` | `list`, `call`, `read`, `prompt`, `ping`: a server used from the terminal |
//! | `serving` | `serve`, `stdio`: the start of the gateway, and its first screen |
//! | `servers` | `add`, `remove`, `run-bundle`: servers in the configuration file |
//! | `clients` | `connect`, `disconnect`, `import`: the settings files of clients |
//! | `setup` | `init`, `check`, `doctor`: the first configuration, and checks of what it needs |
//! | `running` | `status`, `logs`, `top`, `server`, `profile`, `session`, `consent`, `admin`: the running gateway |
//! | `args` | the command line: global options and commands |

mod args;
mod calls;
mod clients;
mod configuration;
mod credentials;
mod records;
mod reference;
mod running;
mod servers;
mod serving;
mod setup;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser as _};

use config::LogFormat;

use crate::output::console::{Console, terminal_width};
use crate::output::failure::Failure;
use crate::output::log;
use crate::output::options::Global;
use args::{Cli, Command};
use calls::{call, list, ping, prompt, read};
use clients::{connect, disconnect, import};
use configuration::settings;
use credentials::{key, keyring, user};
use records::{audit, definitions};
use reference::{completions, man, schema};
use running::{admin, consent, logs, profile, server, session, status, top};
use servers::{add, remove, run_bundle};
use serving::{serve, stdio};
use setup::{check, doctor, init};

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

/// Parses the command line. On a terminal, help and errors are wrapped to its width; elsewhere, their lines stay
/// whole.
fn parsed() -> Result<Cli, clap::Error> {
    if let Ok(serving) = args::ServingCli::try_parse() {
        return Ok(serving.into());
    }
    let width = terminal_width().map(|width| width.min(args::WIDEST));
    let command = width.map_or_else(Cli::command, |width| args::fitted(Cli::command(), width));
    let parsed = command.term_width(width.unwrap_or(0)).try_get_matches();
    parsed.and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Prints help, or the error in a command line. With `--json`, the error is JSON, like all other errors.
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
        Some(Command::Completions(args)) => completions::run(&args, Cli::command(), console),
        Some(Command::Man(args)) => man::run(&args, Cli::command(), console),
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
