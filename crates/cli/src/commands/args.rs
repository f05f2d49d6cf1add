//! The command line: global options and commands. Each command's own options are in its file.

use clap::{Parser, Subcommand};

use crate::output::layout::{columns, wrap, wrap_command};
use crate::output::options::Global;

use super::calls::{call, list, ping, prompt, read};
use super::clients::{connect, disconnect, import};
use super::credentials::{key, keyring, user};
use super::records::{audit, definitions};
use super::reference::{completions, man};
use super::running::{admin, consent, logs, profile, server, session, status, top};
use super::servers::{add, remove, run_bundle};
use super::serving::{serve, stdio};
use super::setup::{check, doctor, init};

const ABOUT: &str = "A gateway for the Model Context Protocol: any client, any server, one endpoint";

const LONG_ABOUT: &str = "\
A gateway for the Model Context Protocol: any client, any server, one endpoint.

Without a command, Dragoman serves the configuration: the file given by --config, else ./dragoman.yaml (or .yml, .json),
else dragoman/dragoman.yaml in your configuration folder. Without any of these files, it serves a small demo server.";

const EXAMPLES: &str = "\
Examples:
  dragoman                                        serve, and print the URL and how to connect your client
  dragoman init                                   write a first configuration file
  dragoman import                                 take servers from the settings of clients
  dragoman connect cursor                         let a client use Dragoman
  dragoman add time -- uvx mcp-server-time        add a server to the configuration file
  dragoman check                                  check the configuration and report every error
  dragoman list demo                              list what a configured server offers
  dragoman call demo add a=2 b=3                  call a tool
  dragoman list https://example.com/mcp           list what a server on the network offers
  dragoman list -- npx -y @modelcontextprotocol/server-everything
                                                  start a server with a command, and list what it offers
  dragoman doctor                                 check the configuration, this machine and all servers

Exit codes:
  0    success
  1    failure: no connection, an error answer, a tool that reports an error, or an error that `doctor` found
  2    an invalid command line or configuration
  130  Ctrl-C";

/// The maximum width of help, in columns: longer lines are hard to read.
pub(super) const WIDEST: usize = 110;

/// Returns a command whose examples fit a terminal: an explanation that does not fit beside its example moves to
/// the next line.
pub(super) fn fitted(mut command: clap::Command, width: usize) -> clap::Command {
    if let Some(about) = command.get_long_about() {
        // The lines are wrapped to the width of a page; here, each paragraph is joined, to be wrapped again.
        let about = about.to_string();
        let paragraphs: Vec<String> = about.split("\n\n").map(|one| one.replace('\n', " ")).collect();
        command = command.long_about(paragraphs.join("\n\n"));
    }
    if let Some(examples) = command.get_after_help() {
        let lines: Vec<String> = examples.to_string().lines().map(|line| example(line, width)).collect();
        command = command.after_help(lines.join("\n"));
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    names.iter().fold(command, |command, name| command.mut_subcommand(name, |one| fitted(one, width)))
}

fn example(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start().len();
    match line.trim_start().split_once("  ") {
        Some((left, right)) => {
            let below = indent + 4;
            let right = wrap(right.trim_start(), width, below, below);
            let left = wrap_command(left, width, indent);
            format!("{}{left}\n{}{right}", " ".repeat(indent), " ".repeat(below))
        }
        None if indent > 8 => wrap(&format!("      {}", line.trim_start()), width, 0, 0),
        None if line.trim_start().starts_with("dragoman") => wrap_command(line, width, 0),
        None => wrap(line, width, 0, 0),
    }
}

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "dragoman", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES)]
#[command(subcommand_value_name = "COMMAND")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(flatten, next_help_heading = "Options of serve")]
    pub(super) serve: serve::Args,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Serve(serve::Args),
    Stdio(stdio::Args),
    Init(init::Args),
    Import(import::Args),
    Connect(connect::Args),
    Disconnect(disconnect::Args),
    Add(add::Args),
    Remove(remove::Args),
    Check(check::Args),
    Doctor(doctor::Args),
    Status(status::Args),
    Logs(logs::Args),
    Top(top::Args),
    Server(server::Args),
    Profile(profile::Args),
    Session(session::Args),
    Consent(consent::Args),
    List(list::Args),
    Call(call::Args),
    Read(read::Args),
    Prompt(prompt::Args),
    Ping(ping::Args),
    Key(key::Args),
    User(user::Args),
    Keyring(keyring::Args),
    Definitions(definitions::Args),
    Audit(audit::Args),
    Admin(admin::Args),
    /// Print the JSON schema of the configuration file
    Schema,
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    RunBundle(run_bundle::Args),
    /// Show the effective configuration, built-in configurations, and the schema
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
}

/// The part of the command line that starts a gateway. Parsing it does not build the other commands, which would cost
/// more time and memory than the rest of the start.
#[derive(Debug, Parser)]
#[command(name = "dragoman", version)]
pub(super) struct ServingCli {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    serve: serve::Args,
    #[command(subcommand)]
    command: Option<ServingCommand>,
}

/// The commands that start a gateway.
#[derive(Debug, Subcommand)]
enum ServingCommand {
    Serve(serve::Args),
    Stdio(stdio::Args),
}

impl From<ServingCli> for Cli {
    fn from(ServingCli { global, serve, command }: ServingCli) -> Self {
        let command = command.map(|command| match command {
            ServingCommand::Serve(args) => Command::Serve(args),
            ServingCommand::Stdio(args) => Command::Stdio(args),
        });
        Self { global, serve, command }
    }
}

/// Show the effective configuration, built-in configurations, and the schema.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print the JSON schema of the configuration file
    Schema,
    /// Print the effective configuration, with defaults and without secrets; or print a built-in configuration
    Show {
        /// The built-in configuration to print: bb, buddyboss, wordpress, gateway or kulturarv; with --config, also the file
        /// that extends it
        #[arg(long, value_name = "NAME", value_parser = crate::preset::parse)]
        preset: Option<crate::preset::Preset>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn examples_fit_every_terminal() {
        for width in [40, 60, 80, 110] {
            let mut command = fitted(Cli::command(), width).term_width(width);
            command.build();
            let mut all = vec![command.clone()];
            all.extend(command.get_subcommands().cloned());
            for one in all {
                let help = one.get_after_help().map(ToString::to_string).unwrap_or_default();
                let is_long =
                    |line: &&str| columns(line) > width && line.trim().trim_end_matches(" \\").contains(' ');
                let long: Vec<&str> = help.lines().filter(is_long).collect();
                assert!(long.is_empty(), "{} in {width}: {long:?}", one.get_name());
            }
        }
        let line = "  dragoman check                     check the configuration";
        assert_eq!(example(line, 30), "  dragoman check\n      check the configuration");
    }

    #[test]
    fn global_options_stand_on_either_side() {
        for line in [["dragoman", "--json", "schema"], ["dragoman", "schema", "--json"]] {
            let cli = Cli::try_parse_from(line).unwrap();
            assert!(cli.global.json && matches!(cli.command, Some(Command::Schema)), "{line:?}");
        }
        let bare = Cli::try_parse_from(["dragoman", "--listen", "9000"]).unwrap();
        assert!(bare.command.is_none());
        assert_ne!(bare.serve, serve::Args::default());
    }

    #[test]
    fn a_gateway_starts_with_the_same_options_however_the_command_line_is_parsed() {
        let lines = [
            "dragoman",
            "dragoman --listen 9000 --json",
            "dragoman --config a.yaml serve --preset bb --threads 2",
            "dragoman serve -vv --config a.yaml",
            "dragoman --quiet stdio --profile work",
            "dragoman --listen 9000 stdio",
        ];
        for line in lines.map(|line| line.split(' ')) {
            let cli = Cli::from(ServingCli::try_parse_from(line.clone()).unwrap());
            assert_eq!(format!("{cli:?}"), format!("{:?}", Cli::try_parse_from(line).unwrap()));
        }
        for command in Cli::command().get_subcommands().map(clap::Command::get_name) {
            let is_known = ServingCli::try_parse_from(["dragoman", command]).is_ok();
            assert_eq!(is_known, ["serve", "stdio"].contains(&command), "{command}");
        }
        for option in ["--help", "--version", "--unknown"] {
            ServingCli::try_parse_from(["dragoman", option]).unwrap_err();
        }
    }
}
