//! The commands that the documentation shows are run, and say what it says they say.

#![allow(clippy::disallowed_methods, reason = "a test starts the program as a person would, from a shell")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// A command as it is shown, and the lines that are shown beneath it.
struct Shown {
    place: String,
    command: String,
    output: Vec<String>,
}

/// The commands for `dragoman` in the `console` blocks of a page.
fn commands(name: &str, page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let (mut inside, mut ours) = (false, false);
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
            ours = false;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            let command = command.replace("target/release/dragoman", "dragoman");
            ours = command.contains("dragoman ") && !command.starts_with("cargo ");
            if ours {
                found.push(Shown { place: format!("{name}:{}", number + 1), command, output: Vec::new() });
            }
        } else if ours && let Some(last) = found.last_mut() {
            last.output.push(line.to_owned());
        }
    }
    found
}

#[test]
fn what_the_documentation_shows_works() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut shown = Vec::new();
    for name in ["README.md", "docs/terminal.md", "docs/configuration.md", "docs/connect.md"] {
        shown.extend(commands(name, &fs::read_to_string(checkout.join(name)).unwrap()));
    }
    assert!(shown.len() >= 9, "only {} commands were found", shown.len());
    // A folder without any configuration, so that the demo is what is configured.
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs-without-configuration");
    fs::create_dir_all(&empty).unwrap();
    for Shown { place, command, output } in shown {
        let said = Command::new("sh")
            .args(["-c", &format!("dragoman() {{ \"$DRAGOMAN\" \"$@\"; }}; {command}")])
            .env("DRAGOMAN", env!("CARGO_BIN_EXE_dragoman"))
            .env("HOME", &empty)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("DRAGOMAN_LOG")
            .current_dir(&empty)
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success(), "{place}: `{command}` failed: {out}{err}");
        assert!(!out.trim().is_empty(), "{place}: `{command}` said nothing; {err}");
        for line in output {
            assert!(
                out.lines().any(|said| said == line),
                "{place}: `{command}` did not say {line:?}, but: {out}"
            );
        }
    }
}
