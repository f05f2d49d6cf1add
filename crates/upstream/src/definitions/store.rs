//! The port to the stored record of definitions, and the identity of a server in that record. This module must not know
//! files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use aws_lc_rs::digest;
use config::{Link, Text};
use engine::pinning::{Fingerprint, Pins};
use engine::snapshot::UpstreamSpec;
use store::catalogues::ServerDigest;
use store::definitions::ListedDefinitions;

/// The record of a server as it is stored.
#[derive(Debug, Clone, Default)]
pub struct StoredRecord {
    /// The approved and the known definitions.
    pub pins: Pins,
    /// The definitions that the record marks as listed.
    pub listed: BTreeSet<(Arc<str>, Fingerprint)>,
    /// True if the record has no room for a server that is not in it yet.
    pub is_full: bool,
}

/// The port to the stored record. [`DefinitionStore::record`] returns immediately; the other calls may wait for a disk.
pub trait DefinitionStore: Send + Sync {
    /// Returns the digest of a server, computed from everything that identifies the server.
    fn digest(&self, server: &[u8]) -> ServerDigest;

    /// Returns the record of a server.
    ///
    /// # Errors
    /// Returns the reason why the record cannot be read.
    fn load(&self, server: &ServerDigest) -> Result<StoredRecord, String>;

    /// Stores the definitions that a server lists, in the background. If several lists of a server wait to be
    /// stored, only the last one is stored.
    fn record(&self, server: &ServerDigest, listed: ListedDefinitions);
}

/// Returns everything that identifies a server in the record; `None` for an embedded server.
///
/// Unlike the identity of a stored catalogue, this identity contains neither values that replaced `${…}` nor the
/// query of a URL, because both may be credentials. Otherwise each new token would begin a new record, and a new
/// record approves the tools that the server lists at that moment. Arguments that the configuration spells out are
/// included. The identity contains the server's name, because several servers at one address may differ only in
/// their credentials.
pub(super) fn identity(spec: &UpstreamSpec) -> Option<Vec<u8>> {
    let mut parts: Vec<&str> = vec![&spec.name];
    match &spec.link {
        Link::Native(_) => return None,
        Link::Stdio(stdio) => {
            parts.extend(["stdio", stdio.command.shown()]);
            parts.push(stdio.cwd.as_ref().map_or("", |cwd| cwd.shown()));
            parts.extend(stdio.args.iter().map(Text::shown));
            parts.extend(stdio.bundle.iter().chain(&stdio.sha256).map(Text::shown));
        }
        Link::Http(http) => {
            let url = http.url.shown();
            parts.extend(["http", url.split_once(['?', '#']).map_or(url, |(address, _)| address)]);
        }
    }
    // Each part is preceded by its length, so that different parts never join into the same text.
    let mut text = Vec::new();
    for part in parts {
        text.extend_from_slice(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        text.extend_from_slice(part.as_bytes());
    }
    Some(text)
}

/// An open record.
pub(super) struct OpenedRecord {
    pub(super) store: Arc<dyn DefinitionStore>,
    /// The digest under which the record is kept.
    pub(super) digest: ServerDigest,
    /// The name of the server that is the same at all gateways.
    pub(super) shared_name: String,
}

/// Returns the name under which gateways share the record of a server; it reveals nothing.
pub(super) fn shared_name(identity: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, identity);
    digest.as_ref()[..16].iter().fold(String::with_capacity(32), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
