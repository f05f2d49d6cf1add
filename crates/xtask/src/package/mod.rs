//! `cargo xtask package`: everything that a release publishes, built from this checkout and the registries; `--check` also installs each package
//! in an empty environment, serves, connects the Inspector, and removes the package. This module must not know the product's code.
//!
//! A package is one row in [`PACKAGES`].
//!
//! | file | is for |
//! |---|---|
//! | `release` | the version, the programs, and the folder of the packages |
//! | `workshop` | what every package needs |
//! | `contents` | the files that go into several packages: manual pages, completions, licences |
//! | `licences` | the licences of everything in the program |
//! | `archive`, `npm`, `wheel`, `debian`, `image`, `bundle`, `inventory` | one package each |
//! | `system` | a minimal Debian in a folder |
//! | `check` | the packages in empty environments |

mod archive;
mod bundle;
mod check;
mod contents;
mod debian;
mod image;
mod inventory;
mod licences;
mod npm;
mod release;
mod system;
mod wheel;
mod workshop;

use crate::files::failed;
use crate::root::Programs;
use crate::run::Log;
use crate::tally::Tally;
use crate::tools::{Node, Packagers};
use release::Release;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use workshop::Workshop;

const DEADLINE: Duration = Duration::from_hours(1);

const USAGE: &str = "\
cargo xtask package [--check] [NAME ...]

  Builds the packages of a release into target/package/VERSION: archive, npm, wheel, debian, image, image-programs, bundle, inventory;
  and their checksums. Needs root, for the images and for empty environments.

  NAME     build only these packages
  --check  install each package in an empty environment, serve, connect the Inspector, remove it, and print times and sizes
";

/// A package: how it is built, and how it is checked.
struct Package {
    name: &'static str,
    /// Builds the package; returns its files.
    build: fn(&Workshop<'_>) -> Result<Vec<PathBuf>, String>,
    check: fn(&Workshop<'_>, &[PathBuf]) -> Result<Tally, String>,
    /// True if building and checking the package takes only seconds, so every run of the tests does both.
    quick: bool,
}

const PACKAGES: [Package; 8] = [
    Package { name: "archive", build: archive::build, check: check::archive::checked, quick: true },
    Package { name: "npm", build: npm::build, check: check::npm::checked, quick: true },
    Package { name: "wheel", build: wheel::build, check: check::wheel::checked, quick: false },
    Package { name: "debian", build: debian::build, check: check::debian::checked, quick: false },
    Package { name: "image", build: image::empty, check: check::image::empty, quick: false },
    Package {
        name: "image-programs",
        build: image::with_programs,
        check: check::image::with_programs,
        quick: false,
    },
    Package { name: "bundle", build: bundle::build, check: check::bundle::checked, quick: true },
    Package { name: "inventory", build: inventory::build, check: check::inventory::checked, quick: false },
];

/// Builds the packages, and checks them if requested; true if all of this succeeded.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut check, mut only) = (false, Vec::new());
    for arg in args {
        match arg.as_str() {
            "--check" => check = true,
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(true);
            }
            name if PACKAGES.iter().any(|package| package.name == name) => only.push(name),
            other => return Err(format!("no package `{other}`\n\n{USAGE}")),
        }
    }
    let log = Log::create("package", DEADLINE)?;
    let packagers = Packagers::install(&log)?;
    let node = Node::install(&log)?;
    let release = Release::build(&packagers, &log)?;
    let workshop = Workshop { release: &release, packagers: &packagers, node: &node, log: &log };
    let mut good = true;
    println!("{:<16} {:>8} {:>8}  files", "package", "build s", "check s");
    for package in PACKAGES.iter().filter(|package| only.is_empty() || only.contains(&package.name)) {
        good &= make(&workshop, package, check)?;
    }
    if check && (only.is_empty() || only.contains(&"npm")) {
        good &= check::first_contact::timed(&workshop, &npm::files(&release))?.good();
    }
    let sums = release.write_checksums()?;
    println!("checksums: {}", sums.display());
    Ok(good)
}

/// Builds and checks the packages that take only seconds, from the program of the tests.
pub(crate) fn quick(programs: &Programs, node: &Node, log: &Log) -> Result<Tally, String> {
    let packagers = Packagers::none();
    let release = Release::of_tests(programs, log)?;
    let workshop = Workshop { release: &release, packagers: &packagers, node, log };
    let mut tally = check::unit::checked(&workshop)?;
    for package in PACKAGES.iter().filter(|package| package.quick) {
        let files = (package.build)(&workshop)?;
        tally += (package.check)(&workshop, &files)?;
    }
    Ok(tally)
}

/// Builds one package, checks it if requested, and prints a line about it; true if all of this succeeded.
fn make(workshop: &Workshop<'_>, package: &Package, check: bool) -> Result<bool, String> {
    let named = |why: String| format!("{}: {why}", package.name);
    let started = Instant::now();
    let files = (package.build)(workshop).map_err(named)?;
    let built = started.elapsed();
    let started = Instant::now();
    let tally = if check { (package.check)(workshop, &files).map_err(named)? } else { Tally::default() };
    let checked = if check { format!("{:.1}", started.elapsed().as_secs_f64()) } else { "–".to_owned() };
    let sizes: Vec<String> = files.iter().map(|file| described(file)).collect::<Result<_, _>>()?;
    let files = sizes.join(", ");
    println!("{:<16} {:>8.1} {checked:>8}  {files}", package.name, built.as_secs_f64());
    if tally.failed > 0 {
        println!(
            "{:<16} {} of {} checks failed: {}",
            "",
            tally.failed,
            tally.failed + tally.passed,
            workshop.log.path().display()
        );
    }
    Ok(tally.failed == 0)
}
/// A file's name and size.
fn described(file: &Path) -> Result<String, String> {
    let bytes = fs::metadata(file).map_err(|error| failed(file, &error))?.len();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{name} {bytes}"))
}
