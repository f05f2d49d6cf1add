//! The key under which a folder's secrets are sealed. Whoever has the file of secrets alone, as in a backup without this
//! one, has nothing. It must not know what is sealed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::Error;

/// The file's name in its folder.
const FILE: &str = "vault.key";
/// Bytes of a key of AES-256.
const LENGTH: usize = 32;

/// A key for AES-256-GCM.
pub(crate) struct Key(LessSafeKey);

impl Key {
    /// The key of a folder; `fresh` becomes it where there is none.
    pub(crate) fn of(folder: &Path, fresh: &[u8; LENGTH]) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let failed = |source: io::Error| Error::Unwritable { path: path.clone(), why: source.to_string() };
        let bytes = match read(&path).map_err(failed)? {
            Some(bytes) => bytes,
            None => make(&path, fresh).and_then(|()| read(&path)).map_err(failed)?.unwrap_or_default(),
        };
        let odd = || Error::Corrupt { path: path.clone(), why: format!("a key has {LENGTH} bytes") };
        if bytes.len() != LENGTH {
            return Err(odd());
        }
        Ok(Self(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| odd())?)))
    }

    /// Seals `plain` for whoever names the same `name`; no two texts may have the same nonce.
    pub(crate) fn seal(&self, name: &str, plain: &[u8], nonce: [u8; NONCE_LEN]) -> Option<Vec<u8>> {
        let mut text = plain.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(unique, Aad::from(name.as_bytes()), &mut text).ok()?;
        let mut sealed = nonce.to_vec();
        sealed.append(&mut text);
        Some(sealed)
    }

    /// Opens what was sealed under the same name; `None` for anything else.
    pub(crate) fn open(&self, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let plain = self.0.open_in_place(nonce, Aad::from(name.as_bytes()), &mut text).ok()?;
        Some(plain.to_vec())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// What the file holds; nobody but its owner may from now on. `None` where there is no file.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let rights = file.metadata()?.permissions().mode() & 0o777;
    if rights & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(rights & 0o700))?;
    }
    let mut bytes = Vec::with_capacity(LENGTH);
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Makes the file, whole or not at all; leaves it where another process was quicker.
fn make(path: &Path, fresh: &[u8; LENGTH]) -> io::Result<()> {
    let beside = beside(path);
    let written =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).and_then(|mut file| {
            file.write_all(fresh)?;
            file.sync_all()
        });
    let linked = written.and_then(|()| match fs::hard_link(&beside, path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    });
    let _ = fs::remove_file(&beside);
    linked
}

/// A name that no other thread of any process uses now.
fn beside(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    path.with_extension(format!("new-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}
