//! `dragoman completions`: prints the completions of the command line for a shell.

use clap::Command;
use clap_complete::Shell;

use crate::output::console::Console;
use crate::output::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  dragoman completions bash > ~/.local/share/bash-completion/completions/dragoman
  dragoman completions zsh > \"${fpath[1]}/_dragoman\"
  dragoman completions fish > ~/.config/fish/completions/dragoman.fish";

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: ShellName,
}

/// The supported shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
}

/// Prints the completions of a command line.
pub(crate) fn run(args: &Args, mut command_line: Command, console: &Console) -> Result<(), Failure> {
    let shell = match args.shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line, "dragoman", &mut script);
    console.write(&script)
}
