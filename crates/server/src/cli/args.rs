//! The command line as a whole: global options, and which command. Each command's own options are in its file.

use clap::{Parser, Subcommand};

use crate::output::options::Global;

use super::{audit, call, check, key, list, ping, prompt, read, serve, stdio};

const ABOUT: &str = "A gateway for the Model Context Protocol: any client, any server, one endpoint";

const LONG_ABOUT: &str = "\
A gateway for the Model Context Protocol: any client, any server, one endpoint.

Without a command, Dragoman serves what the configuration says: the file of --config, else ./dragoman.yaml (or .yml,
.json), else dragoman/dragoman.yaml in your configuration folder. Without any of them it serves a small demo server,
so that it works at once.";

const EXAMPLES: &str = "\
Examples:
  dragoman                                        serve; prints the URL and how to connect your client
  dragoman check                                  read the configuration and name every fault in it
  dragoman list demo                              what a configured server offers
  dragoman call demo add a=2 b=3                  call a tool
  dragoman list https://example.com/mcp           what a server on the network offers
  dragoman list -- npx -y @modelcontextprotocol/server-everything
                                                  what a server offers that is a command";

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

/// Which command.
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
    Audit(audit::Args),
    /// Print the JSON schema of the configuration file
    Schema,
    /// What concerns the configuration file
    Config {
        #[command(subcommand)]
        what: ConfigCommand,
    },
}

/// What concerns the configuration file.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print the JSON schema of the configuration file
    Schema,
    /// Print a built-in configuration, to read or to start from; with --config also the file that extends it
    Show {
        /// Which: bb, buddyboss, wordpress, gateway or kulturarv
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
