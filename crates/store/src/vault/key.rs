//! The key that seals a folder's secrets. The file of secrets reveals nothing without this key, for example in a
//! backup. This module must not know what is sealed.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;

use crate::{Error, private_file};

/// The file's name in its folder.
const FILE: &str = "vault.key";
/// The length of an AES-256 key, in bytes.
const LENGTH: usize = 32;

/// A key for AES-256-GCM, and one derived from it for digests.
pub(crate) struct VaultKey {
    seals: LessSafeKey,
    digests: hmac::Key,
}

impl VaultKey {
    /// The key of a folder; `fresh` becomes the key if there is none.
    pub(crate) fn of(folder: &Path, fresh: &[u8; LENGTH]) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let failed = |source: io::Error| Error::Unwritable { path: path.clone(), why: source.to_string() };
        let bytes = match read(&path).map_err(failed)? {
            Some(bytes) => bytes,
            None => make(&path, fresh).and_then(|()| read(&path)).map_err(failed)?.unwrap_or_default(),
        };
        let odd = || Error::Corrupt { path: path.clone(), why: format!("a key must have {LENGTH} bytes") };
        if bytes.len() != LENGTH {
            return Err(odd());
        }
        let seals = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| odd())?);
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &bytes), b"digests");
        Ok(Self { seals, digests: hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()) })
    }

    /// A digest of `text` that depends on the key: without the key, a guess cannot be checked against the digest.
    /// Digests for different purposes differ.
    pub(crate) fn digest(&self, purpose: &str, text: &[u8]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.digests);
        context.update(purpose.as_bytes());
        context.update(b"\0");
        context.update(text);
        let mut digest = [0; 32];
        digest.copy_from_slice(context.sign().as_ref());
        digest
    }

    /// Seals `plain` under `name`; opening the result requires the same name. Each text needs its own nonce.
    pub(crate) fn seal(&self, name: &str, plain: &[u8], nonce: [u8; NONCE_LEN]) -> Option<Vec<u8>> {
        let mut text = plain.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.seals.seal_in_place_append_tag(unique, Aad::from(name.as_bytes()), &mut text).ok()?;
        let mut sealed = nonce.to_vec();
        sealed.append(&mut text);
        Some(sealed)
    }

    /// Opens a text that was sealed under the same name; `None` for anything else.
    pub(crate) fn open(&self, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let plain = self.seals.open_in_place(nonce, Aad::from(name.as_bytes()), &mut text).ok()?;
        Some(plain.to_vec())
    }
}

impl std::fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VaultKey")
    }
}

/// Reads the file and restricts it to its owner. `None` if it does not exist.
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

/// Creates the file atomically. If another process has already created the file, that file is kept.
fn make(path: &Path, fresh: &[u8; LENGTH]) -> io::Result<()> {
    let beside = beside(path);
    let written = private_file::create(&beside).and_then(|mut file| {
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

/// A file name that no other thread of any process uses at the moment.
fn beside(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    path.with_extension(format!("new-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}
