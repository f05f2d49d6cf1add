//! `tls`: the files by which the listening addresses speak TLS. It must not know what is in them.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;

use super::parse::Entry;
use super::pieces;
use super::read::Reader;

const KEYS: &[&str] = &["cert", "key", "clientCa"];

/// The files by which Dragoman speaks TLS at all listening addresses. They are read again when they change.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tls {
    /// The certificate in PEM, followed by those of the authorities between it and one that clients know
    /// (`fullchain.pem`). A relative path counts from the configuration's folder.
    #[schemars(with = "String")]
    pub cert: PathBuf,
    /// The certificate's private key in PEM, without a passphrase (`privkey.pem`).
    #[schemars(with = "String")]
    pub key: PathBuf,
    /// Authorities in PEM: each client must show a certificate that one of them signed. It lets the client connect, and
    /// says nothing about who calls.
    #[schemars(with = "Option<String>")]
    pub client_ca: Option<PathBuf>,
}

impl Tls {
    /// The same files, where relative paths count from `folder`.
    #[must_use]
    pub fn from_folder(&self, folder: &Path) -> Self {
        Self {
            cert: folder.join(&self.cert),
            key: folder.join(&self.key),
            client_ca: self.client_ca.as_ref().map(|file| folder.join(file)),
        }
    }
}

/// Reads `tls`.
pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry) -> Option<Tls> {
    let mut fields = reader.fields(&entry.value, "a mapping with `cert` and `key`")?;
    let mut file = |reader: &mut Reader<'_>, key| {
        let entry = fields.take(key)?;
        let path = reader.within(key, |reader| pieces::path(reader, entry));
        Some(path.map(|path| PathBuf::from(path.expose())))
    };
    let (cert, key, client_ca) = (file(reader, "cert"), file(reader, "key"), file(reader, "clientCa"));
    for (name, is_missing) in [("cert", cert.is_none()), ("key", key.is_none())] {
        if is_missing {
            let help = "write `tls: { cert: fullchain.pem, key: privkey.pem }`";
            reader.fault(&entry.key_at, format!("`{name}` is missing"), help);
        }
    }
    reader.refuse(&fields.rest(), KEYS);
    Some(Tls { cert: cert??, key: key??, client_ca: client_ca.flatten() })
}
