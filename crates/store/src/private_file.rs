//! Creates the files of a state folder. Each file belongs to the owner of the folder, and nobody else can read it.
//! This module must not know the contents.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

/// Creates a file that does not exist yet. Only its owner has access (0600).
///
/// When root runs a command in the folder of a service, the file is given to the folder's owner, because the
/// service could not read a file that belongs to root. Only a newly created file changes its owner, so a link in
/// the folder cannot redirect the change to another file.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let folder = path.parent().map_or_else(|| fs::metadata("/"), fs::metadata);
    if let (Ok(folder), Ok(own)) = (folder, file.metadata())
        && folder.uid() != own.uid()
    {
        // Only root may give a file away; files of others stay theirs.
        let _ = fchown(&file, Some(folder.uid()), Some(folder.gid()));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::{env, process};

    use super::*;

    #[test]
    fn a_new_file_belongs_to_the_owner_of_its_folder() {
        let folder = env::temp_dir().join(format!("dragoman-private-file-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        // Without root, the folder keeps this user, and the file must have it as well.
        let _ = chown(&folder, Some(65_534), Some(65_534));
        let path = folder.join("keys.db");
        drop(create(&path).expect("a file"));
        let (of_folder, of_file) =
            (fs::metadata(&folder).expect("it is there"), fs::metadata(&path).expect("it is there"));
        assert_eq!((of_file.uid(), of_file.gid()), (of_folder.uid(), of_folder.gid()));
        assert_eq!(of_file.permissions().mode() & 0o777, 0o600);
        assert_eq!(create(&path).expect_err("it exists").kind(), io::ErrorKind::AlreadyExists);
        fs::remove_dir_all(&folder).expect("the folder is removed");
    }
}
