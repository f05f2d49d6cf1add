//! Questions to the person at the terminal. This module must not know what is asked.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::output::console::Console;
use crate::output::failure::Failure;

/// Asks whether something should be done; yes is the default.
///
/// # Errors
/// Fails if nobody can answer: then the command needs `--yes`.
pub(crate) fn confirmed(question: &str, console: &Console) -> Result<bool, Failure> {
    let answer = answered(&format!("{question} [Y/n] "), console)?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "" | "y" | "yes"))
}

/// Asks for a line; the answer has no blanks around it.
///
/// # Errors
/// Fails if nobody can answer.
pub(crate) fn answered(question: &str, console: &Console) -> Result<String, Failure> {
    if !io::stdin().is_terminal() || console.json {
        let message = "nothing was written: there is no terminal on which to confirm the change";
        return Err(Failure::usage(message)
            .help("add --yes to write it, or --dry-run to see only what would be written"));
    }
    console.hint(question);
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(0) => Err(Failure::interrupted()),
        Ok(_) => Ok(line.trim().to_owned()),
        Err(e) => Err(Failure::new(format!("cannot read the answer: {e}"))),
    }
}
