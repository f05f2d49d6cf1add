//! Remembers the pins from which a folder was installed, so the folder is installed again only if they change.

use std::fs::{self, File};
use std::path::Path;

/// Runs `install`, unless `folder` was completely installed from exactly these pins.
pub(crate) fn once(
    folder: &Path,
    pins: &str,
    install: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(said)?;
    // Held until the end; a second run waits here and then finds everything installed.
    let lock = File::create(folder.join(".lock")).map_err(said)?;
    lock.lock().map_err(said)?;
    let stamp = folder.join(".installed-from");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        return Ok(());
    }
    install()?;
    fs::write(&stamp, pins).map_err(said)
}

#[cfg(test)]
mod tests {
    use super::once;
    use std::cell::Cell;

    #[test]
    fn the_same_pins_are_installed_once() {
        let folder = crate::root::target().join("xtask-unit-stamp");
        let _ = std::fs::remove_dir_all(&folder);
        let runs = Cell::new(0);
        let count = || {
            runs.set(runs.get() + 1);
            Ok(())
        };
        assert!(once(&folder, "a=1", || Err("no network".to_owned())).is_err());
        once(&folder, "a=1", count).unwrap();
        once(&folder, "a=1", count).unwrap();
        once(&folder, "a=2", count).unwrap();
        assert_eq!(runs.get(), 2);
    }
}
