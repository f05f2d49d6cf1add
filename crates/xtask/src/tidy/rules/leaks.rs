//! Tracked files contain no path of a particular machine and no address from which packages were fetched.

use super::{Fault, Repo};

/// The forbidden texts. They are written in pieces, so that this file does not violate its own rule.
const ADDRESSES: &[&str] = &[
    concat!("registry.npm", "js.org"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("files.python", "hosted.org"),
    concat!("pypi.org/", "simple"),
    concat!("--index", "-url"),
    concat!("--registry", "="),
    concat!("\"resolved\": \"", "http"),
];
const OUTSIDE: &str = concat!("../", "shared");
const TOPS: &[&str] = &["work", "farm", "root", "home"];

/// Forbids paths of a particular machine, addresses of registries, and references to files outside the checkout.
pub(super) fn checked(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    // Cargo itself names the public registry in its lock file.
    for (path, text) in repo.texts.iter().filter(|(path, _)| !path.ends_with("Cargo.lock")) {
        for (index, line) in text.lines().enumerate() {
            let (what, help) = if line.contains(OUTSIDE) {
                ("a path outside the checkout".to_owned(), "move what is needed into the checkout")
            } else if let Some(address) = ADDRESSES.iter().find(|address| line.contains(**address)) {
                (format!("the address `{address}`"), "leave addresses to each user's own package settings")
            } else if let Some(found) = machine_path(line) {
                (
                    format!("the machine path `{found}`"),
                    "use a path relative to the checkout, or one in a temporary folder",
                )
            } else {
                continue;
            };
            faults.push(Fault { path: path.clone(), line: index + 1, rule: "leak", what, help });
        }
    }
    faults
}

/// The first absolute path in a folder of a particular machine or user.
fn machine_path(line: &str) -> Option<&str> {
    line.match_indices('/').find_map(|(at, _)| {
        let rest = &line[at + 1..];
        let top =
            TOPS.iter().find(|top| rest.strip_prefix(**top).is_some_and(|rest| rest.starts_with('/')))?;
        let name = rest[top.len() + 1..].bytes().take_while(u8::is_ascii_lowercase).count();
        (name > 0).then(|| &line[at..at + 2 + top.len() + name])
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    #[test]
    fn leaks_are_found_in_every_tracked_file() {
        let lock = format!("{{\n{}s://x\"\n}}", super::ADDRESSES[7]);
        let readme = format!("a\n/{}/me/x\n{}/y\n/{}/work\n", "home", super::OUTSIDE, "homework");
        let files =
            [("tests/package-lock.json", lock.as_str()), ("README.md", &readme), ("Cargo.lock", &lock)];
        assert_eq!(
            places(super::checked, &files),
            ["README.md:2", "README.md:3", "tests/package-lock.json:2"]
        );
    }
}
