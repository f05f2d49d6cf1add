//! The command line: global options and commands. Each command's own options are in its file.

use clap::{Parser, Subcommand};

use crate::output::options::Global;

use super::{admin, audit, call, check, definitions, key, keyring, list, ping, prompt, read, serve, stdio};

const ABOUT: &str = "A gateway for the Model Context Protocol: any client, any server, one endpoint";

const LONG_ABOUT: &str = "\
A gateway for the Model Context Protocol: any client, any server, one endpoint.

Without a command, Dragoman serves the configuration: the file given by --config, else ./dragoman.yaml (or .yml, .json),
else dragoman/dragoman.yaml in your configuration folder. Without any of these files, it serves a small demo server.";

const EXAMPLES: &str = "\
Examples:
  dragoman                                        serve, and print the URL and how to connect your client
  dragoman check                                  check the configuration and report every error
  dragoman list demo                              list what a configured server offers
  dragoman call demo add a=2 b=3                  call a tool
  dragoman list https://example.com/mcp           list what a server on the network offers
  dragoman list -- npx -y @modelcontextprotocol/server-everything
                                                  start a server with a command, and list what it offers";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "dragoman", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES)]
#[command(max_term_width = 110, subcommand_value_name = "COMMAND")]
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
    Check(check::Args),
    List(list::Args),
    Call(call::Args),
    Read(read::Args),
    Prompt(prompt::Args),
    Ping(ping::Args),
    Key(key::Args),
    Keyring(keyring::Args),
    Definitions(definitions::Args),
    Audit(audit::Args),
    Admin(admin::Args),
    /// Print the JSON schema of the configuration file
    Schema,
    /// Show built-in configurations and the schema
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
}

/// Show built-in configurations and the schema.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print the JSON schema of the configuration file
    Schema,
    /// Print a built-in configuration as a reference or a starting point; with --config, also print the file that extends it
    Show {
        /// The preset: bb, buddyboss, wordpress, gateway or kulturarv
        #[arg(long, value_name = "NAME", value_parser = crate::preset::parse)]
        preset: crate::preset::Preset,
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
    fn global_options_stand_on_either_side() {
        for line in [["dragoman", "--json", "schema"], ["dragoman", "schema", "--json"]] {
            let cli = Cli::try_parse_from(line).unwrap();
            assert!(cli.global.json && matches!(cli.command, Some(Command::Schema)), "{line:?}");
        }
        let bare = Cli::try_parse_from(["dragoman", "--listen", "9000"]).unwrap();
        assert!(bare.command.is_none());
        assert_ne!(bare.serve, serve::Args::default());
    }
}
