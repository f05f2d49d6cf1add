//! Import directions between the crates, and the external crates that the pure crates may use.

use super::{Fault, Repo};

/// Our crates by folder, each with those of our crates that it may import.
const DIRECTIONS: &[(&str, &[&str])] = &[
    ("proto", &[]),
    ("schema", &["proto"]),
    ("config", &["proto"]),
    ("clients", &["config"]),
    ("registry", &[]),
    ("bundles", &[]),
    ("engine", &["config", "proto", "schema"]),
    ("transport", &["proto", "config", "engine"]),
    ("native", &["proto", "config", "engine"]),
    ("store", &[]),
    ("pages", &[]),
    ("upstream", &["proto", "config", "engine", "transport", "native", "store"]),
    ("login", &["config", "engine", "transport", "store", "upstream"]),
    ("cluster", &["config", "transport", "store"]),
    ("gateway", &["proto", "config", "engine", "transport", "store", "upstream", "login", "cluster"]),
    (
        "admin",
        &[
            "proto",
            "config",
            "engine",
            "transport",
            "store",
            "pages",
            "upstream",
            "login",
            "cluster",
            "gateway",
        ],
    ),
    (
        "cli",
        &[
            "proto",
            "config",
            "clients",
            "registry",
            "bundles",
            "engine",
            "transport",
            "native",
            "store",
            "upstream",
            "cluster",
            "gateway",
            "admin",
        ],
    ),
    // The tests of the whole binary read its files with `engine` and `store`.
    ("server", &["engine", "store", "transport", "cli"]),
    ("testkit", &["proto", "engine", "transport"]),
    ("xtask", &[]),
];

/// The external crates that the pure crates may use. Each is synchronous and deterministic: no runtime,
/// clock, randomness, files or sockets.
const PURE: &[(&str, &[&str])] = &[
    ("proto", &["base64", "bytes", "memchr", "smallvec", "thiserror"]),
    (
        "config",
        &[
            "base64",
            "bytes",
            "granit-parser",
            "http",
            "indexmap",
            "ipnet",
            "schemars",
            "secrecy",
            "serde_json",
            "similar",
            "strsim",
            "thiserror",
        ],
    ),
    (
        "engine",
        &[
            "base64",
            "bytes",
            "http",
            "indexmap",
            "jiff",
            "memchr",
            "secrecy",
            "serde",
            "serde_json",
            "smallvec",
            "similar",
            "strsim",
            "thiserror",
        ],
    ),
    ("schema", &["jsonschema", "serde", "serde_json"]),
    ("clients", &["serde", "serde_json", "toml_edit"]),
    ("registry", &["serde_json", "thiserror"]),
    // `flate2` compresses the style sheet and the scripts in the build script; the crate itself does not use it.
    ("pages", &["flate2", "maud"]),
];

/// Crates for I/O and threads, which must not be used behind the ports.
const SHELL_ONLY: &[&str] =
    &["tokio", "hyper", "hyper_util", "axum", "rustls", "reqwest", "rusqlite", "socket2", "notify"];

/// Crates whose code must not name any crate of [`SHELL_ONLY`]; `native` reaches the network through a port.
const BEHIND_PORTS: &[&str] =
    &["proto", "config", "clients", "registry", "bundles", "engine", "native", "pages", "schema"];

/// Checks that the dependency tables in every crate's `Cargo.toml` follow the directions.
pub(super) fn dependencies(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in &repo.texts {
        let Some(krate) = path.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        let Some((_, may)) = DIRECTIONS.iter().find(|(name, _)| *name == krate) else {
            faults.push(Fault {
                path: path.clone(),
                line: 1,
                rule: "import-direction",
                what: format!("the crate `{krate}` is missing from the import directions"),
                help: "add its permitted imports to xtask's tidy (rules/imports.rs) and to ARCHITECTURE.md",
            });
            continue;
        };
        for Dependency { name, line, dev } in manifest(text) {
            if let Some(what) = forbidden(krate, may, &name, dev) {
                let help = "move the code to the crate that may import it, or pass what it needs as an argument or a trait";
                faults.push(Fault { path: path.clone(), line, rule: "import-direction", what, help });
            }
        }
    }
    faults
}

fn forbidden(krate: &str, may: &[&str], name: &str, dev: bool) -> Option<String> {
    let ours = DIRECTIONS.iter().any(|(ours, _)| *ours == name);
    if ours {
        // Tests of the shells may use the fake peers; the pure crates do not need them.
        let for_tests = dev && name == "testkit" && !PURE.iter().any(|(pure, _)| *pure == krate);
        return (!may.contains(&name) && !for_tests).then(|| format!("`{krate}` may not import `{name}`"));
    }
    if dev {
        return None;
    }
    if let Some((_, allowed)) = PURE.iter().find(|(pure, _)| *pure == krate) {
        return (!allowed.contains(&name))
            .then(|| format!("`{krate}` is pure and `{name}` is not on its list"));
    }
    let shell = BEHIND_PORTS.contains(&krate) && SHELL_ONLY.contains(&name.replace('-', "_").as_str());
    shell.then(|| format!("`{krate}` may not import `{name}`"))
}

/// Checks that the code names no crate that its own crate may not import. This detects names that are reachable
/// through re-exports.
pub(super) fn paths(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in &repo.sources {
        let krate = source.krate();
        let Some((_, may)) = DIRECTIONS.iter().find(|(name, _)| *name == krate) else { continue };
        for (at, word) in source.words() {
            if source.is_test(at)
                || !source.after(at + word.len()).starts_with("::")
                || is_segment(source, at)
            {
                continue;
            }
            let ours =
                word != krate && DIRECTIONS.iter().any(|(name, _)| *name == word) && !may.contains(&word);
            // One of our modules may have the same name as a crate.
            let ours = ours && !declares(source, word);
            let shell = BEHIND_PORTS.contains(&krate) && SHELL_ONLY.contains(&word);
            if shell || (ours && imports(source, at)) {
                let help = "move the code to the crate that may import it, or pass what it needs as an argument or a trait";
                faults.push(Fault::at(
                    source,
                    at,
                    "import-direction",
                    format!("`{krate}` may not use `{word}::`"),
                    help,
                ));
            }
        }
    }
    faults
}

/// Returns true if the word is inside a longer path (`crate::store::`) and therefore names a module.
fn is_segment(source: &super::Source, at: usize) -> bool {
    source.masked.code[..at].trim_end().ends_with("::")
}

/// Returns true if the word begins the path of a `use` line. In other places, the word may be the name of one of
/// our modules.
fn imports(source: &super::Source, at: usize) -> bool {
    source.masked.code[..at].trim_end().ends_with("use")
}

fn declares(source: &super::Source, module: &str) -> bool {
    let mut before = "";
    source.words().any(|(_, word)| std::mem::replace(&mut before, word) == "mod" && word == module)
}

struct Dependency {
    name: String,
    line: usize,
    dev: bool,
}

/// The dependencies that a `Cargo.toml` lists, in its simple form: one per line, or a table for each.
fn manifest(text: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(head) = line.strip_prefix('[') {
            head.trim_end_matches(']').trim().clone_into(&mut section);
            if let Some((table, name)) = section.rsplit_once('.').filter(|(table, _)| is_dependencies(table))
            {
                found.push(Dependency {
                    name: name.to_owned(),
                    line: index + 1,
                    dev: table.contains("dev-"),
                });
            }
        } else if is_dependencies(&section) && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            found.push(Dependency {
                name: name.trim_matches('"').to_owned(),
                line: index + 1,
                dev: section.contains("dev-"),
            });
        }
    }
    found
}

fn is_dependencies(section: &str) -> bool {
    section.rsplit('.').next().is_some_and(|last| last == "dependencies" || last.ends_with("-dependencies"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    #[test]
    fn a_manifest_against_the_directions_is_found() {
        let engine = "[package]\nname = \"x\"\n[dependencies]\nproto.workspace = true\ntransport = { workspace = true }\n\
                      tokio = \"1\"\n[dev-dependencies]\nproptest.workspace = true\ntestkit.workspace = true\n";
        let transport = "[dependencies]\ntokio = \"1\"\n[dependencies.store]\nworkspace = true\n[dev-dependencies]\ntestkit = 1\n";
        let native = "[target.'cfg(unix)'.dependencies]\nhyper-util = \"1\"\n";
        let files = [
            ("crates/engine/Cargo.toml", engine),
            ("crates/transport/Cargo.toml", transport),
            ("crates/native/Cargo.toml", native),
            ("crates/other/Cargo.toml", ""),
        ];
        let expected = [
            "crates/engine/Cargo.toml:5",
            "crates/engine/Cargo.toml:6",
            "crates/engine/Cargo.toml:9",
            "crates/native/Cargo.toml:2",
            "crates/other/Cargo.toml:1",
            "crates/transport/Cargo.toml:3",
        ];
        assert_eq!(places(super::dependencies, &files), expected);
    }

    #[test]
    fn a_use_against_the_directions_is_found() {
        let engine = "use proto::Frame;\nuse transport::Pool;\nfn f() { tokio::spawn(()); }\nuse crate::store::X;\n\
                      fn g() { store::x(); \"tokio::spawn\"; }\n#[cfg(test)]\nmod tests {\n use testkit::X;\n}\n";
        let files = [
            ("crates/engine/src/a.rs", engine),
            ("crates/native/src/lib.rs", "mod server;\npub use server::Demo;"),
            ("crates/server/src/a.rs", "use transport::Pool;\nuse tokio::net;"),
        ];
        assert_eq!(places(super::paths, &files), ["crates/engine/src/a.rs:2", "crates/engine/src/a.rs:3"]);
    }
}
