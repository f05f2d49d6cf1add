//! The files in a folder at one point in time, for finding the files that a removed package leaves behind.

use crate::files::failed;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder, and the parts of paths that are ignored.
#[derive(Debug)]
pub(super) struct Traces {
    folder: PathBuf,
    ignored: &'static [&'static str],
    files: BTreeSet<PathBuf>,
}

impl Traces {
    /// Remembers the files of a folder. `ignored` are parts of paths: caches and logs of the package manager.
    pub(super) fn of(folder: &Path, ignored: &'static [&'static str]) -> Result<Self, String> {
        let mut traces = Self { folder: folder.to_path_buf(), ignored, files: BTreeSet::new() };
        traces.files = traces.now()?;
        Ok(traces)
    }

    /// The files that have been created since this value was created.
    pub(super) fn left(&self) -> Result<Vec<PathBuf>, String> {
        Ok(self.now()?.difference(&self.files).cloned().collect())
    }

    fn now(&self) -> Result<BTreeSet<PathBuf>, String> {
        let (mut files, mut folders) = (BTreeSet::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
                let path = entry.map_err(|error| failed(&folder, &error))?.path();
                if self.ignored.iter().any(|part| path.to_string_lossy().contains(part)) {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else {
                    files.insert(path);
                }
            }
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::Traces;
    use std::fs;

    #[test]
    fn new_files_are_left_and_ignored_ones_are_not() {
        let folder =
            crate::package::release::emptied(crate::root::target().join("xtask-unit-traces")).unwrap();
        fs::write(folder.join("old"), "").unwrap();
        let before = Traces::of(&folder, &["/cache/"]).unwrap();
        fs::create_dir_all(folder.join("cache/x")).unwrap();
        fs::write(folder.join("cache/x/y"), "").unwrap();
        assert!(before.left().unwrap().is_empty());
        fs::write(folder.join("new"), "").unwrap();
        assert_eq!(before.left().unwrap(), [folder.join("new")]);
    }
}
