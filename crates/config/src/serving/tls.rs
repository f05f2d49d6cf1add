//! `tls`: the files for TLS at the listening addresses. This module must not know their contents.

use std::path::{Path, PathBuf};

use crate::reading::rows::section;
use crate::reading::spellings::{File, Optional};

section! {
    /// The files for TLS at all listening addresses. The files are read again when they change.
    pub struct Tls: "a mapping with `cert` and `key`" [
        /// PEM: the server's certificate first, then those of the intermediate authorities, up to an authority that clients trust
        /// (`fullchain.pem`). A relative path is resolved from the configuration's folder.
        "cert" cert: PathBuf = File, needed "cert: fullchain.pem";
        /// PEM: the private key of the certificate (PKCS#8, PKCS#1 or SEC1; ECDSA, RSA or Ed25519), not encrypted (`privkey.pem`).
        "key" key: PathBuf = File, needed "key: privkey.pem";
        /// PEM: certificates of authorities. Each client must present a certificate from one of these authorities. The
        /// certificate lets the client connect, but does not authenticate the caller.
        "clientCa" client_ca: Option<PathBuf> = Optional(File);
    ]
}

impl Tls {
    /// The same files, with relative paths resolved against `folder`.
    #[must_use]
    pub fn from_folder(&self, folder: &Path) -> Self {
        Self {
            cert: folder.join(&self.cert),
            key: folder.join(&self.key),
            client_ca: self.client_ca.as_ref().map(|file| folder.join(file)),
        }
    }
}
