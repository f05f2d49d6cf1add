//! The page of all commands, generated from their help texts. The tests of the command line keep these texts up to
//! date.

use crate::files::{failed, read};
use std::fs;
use std::path::Path;

/// The folder of the help texts, `help-COMMAND.txt`.
const TEXTS: &str = "crates/server/tests/cli/golden";

/// The page as Markdown.
pub(super) fn page(checkout: &Path) -> Result<String, String> {
    let folder = checkout.join(TEXTS);
    let entries = fs::read_dir(&folder).map_err(|error| failed(&folder, &error))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some(name.strip_prefix("help-")?.strip_suffix(".txt")?.to_owned())
        })
        .collect();
    // The program itself comes first.
    names.sort_by_key(|name| (name != "dragoman", name.clone()));
    let mut page = String::from(
        "# All commands\n\nWhat `dragoman help COMMAND` prints. [The terminal](terminal.md) explains them with examples.\n",
    );
    for name in names {
        let text = read(&folder.join(format!("help-{name}.txt")))?;
        let title = if name == "dragoman" { name } else { format!("dragoman {name}") };
        page.extend(["\n## ", &title, "\n\n```text\n", text.trim_end(), "\n```\n"]);
    }
    Ok(page.replace("VERSION", env!("CARGO_PKG_VERSION")))
}
