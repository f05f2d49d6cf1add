//! The options that every command has. This module must not know any command.

use std::path::PathBuf;

use clap::ValueEnum;
use config::LogFormat;

/// Options for every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// The configuration file (YAML or JSON)
    #[arg(long, short, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON, for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use colors; auto uses them on a terminal
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
    /// Print more; repeat up to three times for even more
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print only the result and errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogStyle {
    Auto,
    Pretty,
    Json,
}

impl LogStyle {
    pub(crate) fn format(self) -> LogFormat {
        match self {
            Self::Auto => LogFormat::Auto,
            Self::Pretty => LogFormat::Pretty,
            Self::Json => LogFormat::Json,
        }
    }
}

/// The use of colors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}
