//! The runner of the instruction budgets, in the version of the crate in the lock file.

use super::cargo;
use crate::root;
use crate::run::Log;
use std::fs;
use std::path::PathBuf;

/// Installs the runner if needed; none if no crate has budgets.
pub(crate) fn gungraun_runner(log: &Log) -> Result<Option<PathBuf>, String> {
    let lock = fs::read_to_string(root::checkout().join("Cargo.lock"))
        .map_err(|error| format!("Cargo.lock: {error}"))?;
    let Some(version) = locked(&lock, "gungraun") else { return Ok(None) };
    Ok(Some(cargo::installed("gungraun-runner", version, log)?.join("gungraun-runner")))
}

/// The version of a crate in a lock file.
fn locked<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = lock.lines();
    lines.find(|line| *line == format!("name = \"{name}\""))?;
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::locked;

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let lock = "[[package]]\nname = \"gungraun-macros\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"gungraun\"\nversion = \"0.20.1\"\n";
        assert_eq!(locked(lock, "gungraun"), Some("0.20.1"));
        assert_eq!(locked(lock, "absent"), None);
    }
}
