//! `cargo xtask docs`: the documentation as a site, which mdBook builds from the pages in `docs`. This module must not
//! know what a page says.
//!
//! | file | is for |
//! |---|---|
//! | `pages` | the pages of the site: found, put in one folder, their links rewritten |
//! | `commands` | the page of all commands, from their help texts |
//! | `published` | the lines about packages, which are shown once the packages' names are registered |

mod commands;
mod pages;
mod published;

use crate::files::failed;
use crate::root;
use crate::run::Log;
use crate::tools::mdbook;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_mins(20);

/// The folder with mdBook's settings and the table of contents.
const SETTINGS: &str = "docs/book";

const USAGE: &str = "\
cargo xtask docs [--published]

  Builds the documentation as a site into target/book.

  --published  first turn on the lines about packages, in README.md and docs/get-started.md: only once their names are registered
";

/// Builds the site.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    match args {
        [] => {}
        [option] if option == "--published" => published::turn_on(&root::checkout())?,
        _ => return Err(USAGE.to_owned()),
    }
    let log = Log::create("book", DEADLINE)?;
    let program = mdbook(&log)?;
    let folder = root::target().join("book");
    stage(&folder)?;
    log.run(Command::new(program).arg("build").arg(&folder))?;
    println!("{}", folder.join("book/index.html").display());
    Ok(true)
}

/// Puts the settings and all pages into an empty folder.
fn stage(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    let source = folder.join("src");
    fs::create_dir_all(&source).map_err(|error| failed(&source, &error))?;
    let settings = root::checkout().join(SETTINGS);
    for name in ["book.toml", "theme.css"] {
        fs::copy(settings.join(name), folder.join(name)).map_err(|error| failed(&settings, &error))?;
    }
    pages::write(&root::checkout(), &source)
}
