//! The lines of a file that a command changed, as people see them. This module must not know why they changed.

use std::path::Path;

use config::ChangedLine;

use super::config_file::ConfigFile;
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::layout::cut;

/// Prints the lines of the file that changed.
pub(crate) fn show_changes(
    did: &str,
    name: &str,
    file: &ConfigFile,
    backup: Option<&Path>,
    lines: &[ChangedLine],
    console: &Console,
) -> Result<(), Failure> {
    let kept = backup.map(|backup| format!("; the old text is in {}", backup.display())).unwrap_or_default();
    let head = format!("{did} {}: {}{kept}", one_line(name), file.shown.display());
    console.print(&console.fitted(&head))?;
    show_lines(lines, console)
}

/// Prints lines that changed.
pub(crate) fn show_lines(lines: &[ChangedLine], console: &Console) -> Result<(), Failure> {
    for line in lines {
        let sign = if line.is_added { '+' } else { '-' };
        let shown = format!("{:>5} {sign} {}", line.number, console.shown(&line.text));
        let shown = console.out_width.map_or(shown.clone(), |width| cut(&shown, width));
        console.print(&if line.is_added { console.out.cyan(&shown) } else { console.out.red(&shown) })?;
    }
    Ok(())
}
