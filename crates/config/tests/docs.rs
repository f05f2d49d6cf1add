//! The documentation is correct: its configurations are accepted, and its tables of keys equal those of the code.

#![expect(clippy::disallowed_methods, reason = "the test, not the crate, reads and writes the documentation")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use dragoman_config::{Lookup, key_tables, load};

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and all pages below `docs`, with their names.
fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(checkout().join("docs")).expect("there is a folder docs");
    let mut paths: Vec<PathBuf> = docs.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.push(checkout().join("README.md"));
    paths.sort();
    let page = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it can be read");
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text)
    };
    paths.into_iter().map(page).collect()
}

/// The fenced blocks of a language, each with the line on which it starts.
fn blocks(page: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside: Option<(usize, String)> = None;
    let mut lines = page.lines().enumerate();
    for (number, line) in &mut lines {
        match &mut inside {
            None if line.trim_start() == format!("```{language}") => {
                inside = Some((number + 2, String::new()));
            }
            None => {}
            Some(_) if line.trim_start().starts_with("```") => found.extend(inside.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    found
}

/// The value for every variable: long enough for a token.
const VALUE: &str = "a-value-of-some-length";

#[test]
fn every_configuration_in_the_documentation_is_accepted() {
    let lookup = Lookup { env: &|_| Some(VALUE.to_owned()), file: &|_| Ok(VALUE.to_owned()) };
    let mut seen = 0;
    for (name, page) in pages() {
        for (line, text) in blocks(&page, "yaml") {
            seen += 1;
            match load(&text, &name, &lookup) {
                Ok(loaded) => {
                    assert!(loaded.notes.is_empty(), "{name}, block at line {line}: {:?}", loaded.notes);
                    assert!(
                        !loaded.config.mcp_servers.is_empty(),
                        "{name}, block at line {line}: no servers"
                    );
                }
                Err(faults) => panic!("{name}, block at line {line}:\n{faults}"),
            }
        }
    }
    assert!(seen >= 4, "only {seen} configurations were found");
}

/// The tables of the code, by the names that mark their positions.
fn tables() -> BTreeMap<&'static str, String> {
    let mut tables = BTreeMap::new();
    for (name, rows) in key_tables() {
        let has_defaults = rows.iter().any(|row| !row.default.is_empty());
        let has_bounds = rows.iter().all(|row| row.bounds.is_some());
        let mut table = match (has_defaults, has_bounds) {
            (true, true) => "| key | means | default | from | to |\n|---|---|--:|--:|--:|\n".to_owned(),
            (false, true) => "| key | means | from | to |\n|---|---|--:|--:|\n".to_owned(),
            (true, false) => "| key | means | default |\n|---|---|---|\n".to_owned(),
            (false, false) => "| key | means |\n|---|---|\n".to_owned(),
        };
        for row in rows {
            let _ = write!(table, "| `{}` | {} |", row.key, row.about);
            if has_defaults {
                let blank = if row.default.is_empty() { "" } else { " " };
                let _ = write!(table, "{blank}{} |", row.default);
            }
            if let Some((least, most)) = row.bounds.filter(|_| has_bounds) {
                let _ = write!(table, " {least} | {most} |");
            }
            table.push('\n');
        }
        tables.insert(name, table);
    }
    tables
}

#[test]
fn the_tables_of_keys_are_up_to_date() {
    const BEGIN: &str = "<!-- keys of ";
    const BLESS: &str = ": written by DRAGOMAN_BLESS=1 cargo test -p dragoman-config --test docs -->\n";
    const END: &str = "<!-- end -->";
    let tables = tables();
    let mut unplaced: BTreeSet<&str> = tables.keys().copied().collect();
    for (name, page) in pages() {
        let mut parts = page.split(BEGIN);
        let mut wanted = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (of, rest) = part.split_once(BLESS).expect("the table's beginning says how it is written");
            let (_, tail) = rest.split_once(END).expect("the table's end is marked");
            let table = tables.get(of).unwrap_or_else(|| panic!("{name}: there is no table of {of}"));
            assert!(unplaced.remove(of), "{name} places the table of {of}, which another place has already");
            let _ = write!(wanted, "{BEGIN}{of}{BLESS}{table}{END}{tail}");
        }
        if std::env::var_os("DRAGOMAN_BLESS").is_some() && page != wanted {
            let folder = if name == "README.md" { checkout() } else { checkout().join("docs") };
            fs::write(folder.join(&name), wanted).expect("it can be written");
        } else {
            assert!(
                page == wanted,
                "{name} has another table of keys; run: DRAGOMAN_BLESS=1 cargo test -p dragoman-config --test docs"
            );
        }
    }
    assert!(unplaced.is_empty(), "no page has the tables of {unplaced:?}: mark their places");
}

#[test]
fn every_section_of_keys_has_a_table() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tables = fs::read_to_string(config.join("document/tables.rs")).expect("it can be read");
    let mut folders = vec![config];
    let mut sections = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be listed") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("it can be read");
            let declared = text.split("section! {").skip(1).filter_map(|rest| {
                rest.lines().find_map(|line| line.trim().strip_prefix("pub struct ")?.split(':').next())
            });
            for name in declared {
                sections += 1;
                let table = format!("documented::<{name}>()");
                assert!(tables.contains(&table), "{name} of {} has no table: add {table}", path.display());
            }
        }
    }
    assert!(sections > 20, "only {sections} sections were found");
}

#[test]
fn links_between_pages_lead_somewhere() {
    for (name, page) in pages() {
        let folder = if name == "README.md" { checkout() } else { checkout().join("docs") };
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") {
                assert!(folder.join(path).exists(), "{name} links to {target}, which is not there");
            }
        }
    }
}

/// The crates that use a dependency. A crate whose code uses it counts only as such.
#[derive(Debug, Default, PartialEq, Eq)]
struct Users {
    code: BTreeSet<String>,
    builds: BTreeSet<String>,
    tests: BTreeSet<String>,
}

impl Users {
    /// Reads a cell of the table of dependencies: `config, engine; build of pages; tests of cli and server`.
    fn read(cell: &str) -> Self {
        let mut users = Self::default();
        for part in cell.split("; ") {
            let tests = part.strip_prefix("tests of ").or_else(|| part.strip_prefix("benches of "));
            let (kind, names) = if let Some(names) = part.strip_prefix("build of ") {
                (&mut users.builds, names)
            } else if let Some(names) = tests {
                (&mut users.tests, names)
            } else {
                (&mut users.code, part)
            };
            kind.extend(names.replace(" and ", ", ").split(", ").map(str::to_owned));
        }
        users
    }

    /// Adds the users of another dependency, which has the same row.
    fn add(&mut self, other: &Self) {
        self.code.extend(other.code.iter().cloned());
        self.builds.extend(other.builds.iter().cloned());
        self.tests.extend(other.tests.iter().cloned());
        self.builds.retain(|name| !self.code.contains(name));
        self.tests.retain(|name| !self.code.contains(name));
    }
}

/// The dependencies in a manifest, each with the head of its section.
fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if section.ends_with("dependencies]") && !name.is_empty() && !name.starts_with('#') {
            found.push((section, name));
        }
    }
    found
}

/// The dependencies in all manifests, except for the crates of this repository, with their users.
fn used_dependencies() -> BTreeMap<String, Users> {
    let crates = checkout().join("crates");
    let entries = fs::read_dir(&crates).expect("there are crates");
    let name_of = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let ours: BTreeSet<String> = entries.map(|entry| name_of(entry.expect("it can be listed"))).collect();
    let mut used: BTreeMap<String, Users> = BTreeMap::new();
    for krate in &ours {
        let path = crates.join(krate).join("Cargo.toml");
        let manifest = fs::read_to_string(&path).expect("it can be read");
        for (section, name) in dependencies(&manifest) {
            if ours.contains(name) {
                continue;
            }
            let users = used.entry(name.to_owned()).or_default();
            let kind = match section {
                "[dependencies]" => &mut users.code,
                "[build-dependencies]" => &mut users.builds,
                _ => &mut users.tests,
            };
            kind.insert(krate.clone());
        }
    }
    used
}

#[test]
fn every_dependency_is_explained() {
    let page = fs::read_to_string(checkout().join("ARCHITECTURE.md")).expect("it can be read");
    let section = page.split("\n## Dependencies").nth(1).and_then(|rest| rest.split("\n## ").next());
    let table = section.expect("there is a section on dependencies");
    let used = used_dependencies();
    let mut explained = BTreeSet::new();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    for row in rows.filter(|row| !row.starts_with("crate |")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [names, _, cell] = cells[..] else { panic!("not three columns: {row}") };
        let mut wanted = Users::default();
        for name in names.split(", ") {
            let users =
                used.get(name).unwrap_or_else(|| panic!("no crate uses {name}: delete it from the table"));
            wanted.add(users);
            assert!(explained.insert(name), "ARCHITECTURE.md explains {name} twice");
        }
        assert_eq!(Users::read(cell), wanted, "the users of {names} in ARCHITECTURE.md");
    }
    for name in used.keys() {
        assert!(explained.contains(name.as_str()), "{name} is not explained in ARCHITECTURE.md");
    }
}

/// The texts of all source files of the product.
fn sources() -> String {
    let mut folders: Vec<PathBuf> =
        ["admin", "cli", "config", "engine", "gateway", "native", "store", "transport", "upstream"]
            .map(|name| checkout().join("crates").join(name).join("src"))
            .into();
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                all.push_str(&fs::read_to_string(path).expect("it can be read"));
            }
        }
    }
    all
}

/// The page about problems quotes messages as Dragoman prints them; `…` stands for the changing parts.
#[test]
fn each_message_in_the_page_about_problems_exists() {
    let pages = pages();
    let (_, page) =
        pages.iter().find(|(name, _)| name == "troubleshooting.md").expect("a page about problems");
    let (_, table) = page.split_once("## By message").expect("a section about messages");
    let sources = sources();
    let rows: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(rows.len() >= 7, "{rows:?}");
    for message in rows {
        for part in message.split('…').map(str::trim).filter(|part| part.len() > 2) {
            assert!(sources.contains(part), "no message contains {part:?}");
        }
    }
}
