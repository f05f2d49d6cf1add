//! A catalogue that outlives the process. The catalogue is stored under a digest of everything that identifies the
//! server, and is shown before the server has been asked again. This module must not know files.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use config::Link as LinkConfig;
use engine::catalogue::{ListKind, stored};
use proto::bridge::input::Askable;
use proto::json::{Elements, MAX_DEPTH, Members};

use super::cell::Catalogue;
use super::lifecycle_lists::LifecycleLists;
use crate::health::HealthEvent;

/// The port to stored catalogues. Its calls return immediately; only [`CatalogueStore::load`] may wait for a disk.
pub trait CatalogueStore: Send + Sync {
    /// Returns the digest of a server, computed from everything that identifies the server.
    fn digest(&self, server: &[u8]) -> [u8; 32];

    /// Returns the text that was last stored for a server, if there is one.
    fn load(&self, server: &[u8; 32]) -> Option<Vec<u8>>;

    /// Stores a text for a server in the background. If several texts are saved for the same server, only the last one
    /// is kept.
    fn save(&self, server: &[u8; 32], text: String);
}

/// The store and the digest under which a catalogue is kept.
#[derive(Default)]
pub(super) struct KeptIn(OnceLock<(Arc<dyn CatalogueStore>, [u8; 32])>);

impl Catalogue {
    /// Shows the stored catalogue of this server, and stores every fetched catalogue from now on. Called once. Servers
    /// in this process are not stored, because they are always available.
    pub fn restore(&self, store: &Arc<dyn CatalogueStore>) {
        let Some(server) = identity(&self.server.spec.link) else { return };
        let digest = store.digest(&server);
        if let Some(text) = store.load(&digest) {
            self.read(&text);
        }
        let _ = self.kept_in.0.set((store.clone(), digest));
    }

    /// Stores, for the next start, that clients have waited for the server's first answer without success.
    pub fn note_silence(&self) {
        if let Some((store, digest)) = self.kept_in.0.get()
            && self.lifecycles.iter().all(LifecycleLists::is_unknown)
        {
            store.save(digest, "{\"format\":1,\"isSilent\":true}".to_owned());
        }
    }

    /// Stores the current catalogue.
    pub fn save(&self) {
        if let Some((store, digest)) = self.kept_in.0.get()
            && self.lifecycles.iter().any(|lifecycle| lifecycle.known().is_some())
        {
            store.save(digest, self.written());
        }
    }

    fn written(&self) -> String {
        let mut out = "{\"format\":1,\"faces\":[".to_owned();
        let lifecycles = self.lifecycles.iter().filter_map(LifecycleLists::known);
        join(&mut out, lifecycles, |lifecycle, out| stored::write(lifecycle, out));
        out.push_str("],\"classes\":[");
        join(&mut out, self.gated.all(), |(class, more), out| {
            let _ = write!(out, "{{\"askable\":{},\"more\":", class.bits());
            stored::write(more, out);
            out.push('}');
        });
        out.push_str("],\"introductions\":[");
        join(&mut out, self.introductions.lock().iter(), |(asked, hello), out| {
            let _ = write!(out, "{{\"asked\":{},", proto::json::quote(asked.version));
            stored::write_hello(hello, out);
            out.push('}');
        });
        out.push(']');
        if let Some(info) = self.server.roots.silent() {
            let _ = write!(out, ",\"asksNoRoots\":{}", String::from_utf8_lossy(&info));
        }
        out.push('}');
        out
    }

    /// Reads everything in a stored text that is valid.
    fn read(&self, text: &[u8]) {
        let Ok(members) = Members::of_document(text, MAX_DEPTH) else { return };
        // If clients have waited in vain before, they do not wait for this server again.
        self.server.note_hang(members.get(text, "isSilent").is_some());
        let array = |key: &str| members.get(text, key).and_then(|span| Elements::of_value(text, span));
        let each = |key: &str| {
            let spans: Vec<_> =
                array(key).into_iter().flat_map(|all| all.iter().collect::<Vec<_>>()).collect();
            spans.into_iter().map(|span| span.of(text))
        };
        // The lists may have been stored under another selection of tools.
        let catalogue = |text: &[u8]| stored::read(text, &self.server.spec.tools);
        for catalogue in each("faces").filter_map(catalogue) {
            let lifecycle =
                self.lifecycles.iter().find(|lists| lists.lifecycle == catalogue.listed_in.lifecycle);
            if let Some(lifecycle) = lifecycle {
                self.server.health.note(HealthEvent::ListsKept(catalogue.list(ListKind::Tools).len()));
                self.keep(lifecycle, self.shared(catalogue));
                self.first_awaited.store(true, Ordering::Relaxed);
                self.unsettled.store(true, Ordering::Relaxed);
            }
        }
        for class in each("classes") {
            let Ok(own) = Members::of_document(class, MAX_DEPTH) else { continue };
            let bits = own.get(class, "askable").and_then(|span| std::str::from_utf8(span.of(class)).ok());
            let bits = bits.and_then(|bits| bits.parse().ok()).map(Askable::from_bits);
            let more = own.get(class, "more").and_then(|span| catalogue(span.of(class)));
            if let (Some(askable), Some(more)) = (bits, more) {
                self.keep_class(askable, more);
            }
        }
        for introduction in each("introductions") {
            let Ok(own) = Members::of_document(introduction, MAX_DEPTH) else { continue };
            let asked = own
                .get(introduction, "asked")
                .and_then(|span| std::str::from_utf8(span.of(introduction)).ok());
            let asked = asked.and_then(|asked| proto::era::by_version(asked.trim_matches('"')));
            if let (Some(asked), Some(hello)) = (asked, stored::read_hello(introduction, &own)) {
                self.introductions.lock().insert(asked, hello);
            }
        }
        if let Some(info) = members.get(text, "asksNoRoots") {
            self.server.roots.note_silence(&Bytes::copy_from_slice(info.of(text)));
        }
        self.gated.grow_stale();
    }
}

fn join<T>(out: &mut String, all: impl IntoIterator<Item = T>, write: impl Fn(&T, &mut String)) {
    for (at, one) in all.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(&one, out);
    }
}

/// Returns everything that identifies a server, including its secrets, because another credential may belong to
/// another account with private lists. Returns `None` for a server in this process.
fn identity(link: &LinkConfig) -> Option<Vec<u8>> {
    let mut parts: Vec<String> = Vec::new();
    match link {
        LinkConfig::Native(_) => return None,
        LinkConfig::Stdio(stdio) => {
            parts.extend(["stdio".to_owned(), stdio.command.expose().to_owned()]);
            parts.push(stdio.cwd.as_ref().map(|cwd| cwd.expose().to_owned()).unwrap_or_default());
            parts.extend(stdio.args.iter().map(|arg| arg.expose().to_owned()));
            parts.extend(stdio.bundle.iter().chain(&stdio.sha256).map(|text| text.expose().to_owned()));
            let settings = stdio.config.iter().flat_map(|(name, values)| {
                std::iter::once(name.clone()).chain(values.iter().map(|value| value.expose().to_owned()))
            });
            parts.extend(settings);
            parts
                .extend(stdio.env.iter().flat_map(|(name, value)| [name.clone(), value.expose().to_owned()]));
        }
        LinkConfig::Http(http) => {
            parts.extend(["http".to_owned(), http.url.expose().to_owned(), format!("{:?}", http.transport)]);
            let client = http.oauth.as_ref().and_then(|oauth| oauth.client_id.as_ref());
            parts.push(client.map(|id| id.expose().to_owned()).unwrap_or_default());
            let identity = http.tls.as_ref().and_then(|tls| tls.cert.as_ref());
            parts.extend(identity.map(|file| format!("certificate {}", file.display())));
            parts.extend(
                http.headers.iter().flat_map(|(name, value)| [name.to_string(), value.expose().to_owned()]),
            );
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use config::{Lookup, load};
    use engine::{Snapshot, catalogue::UpstreamId};

    use super::*;
    use crate::oauth::Consents;
    use crate::upstreams::Upstreams;

    /// A store that contains one text.
    struct OneText(String);

    impl CatalogueStore for OneText {
        fn digest(&self, _: &[u8]) -> [u8; 32] {
            [0; 32]
        }

        fn load(&self, _: &[u8; 32]) -> Option<Vec<u8>> {
            Some(self.0.clone().into_bytes())
        }

        fn save(&self, _: &[u8; 32], _: String) {}
    }

    fn upstreams() -> Upstreams {
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let text = "mcpServers: { a: { url: 'http://127.0.0.1:1/mcp' } }\n";
        let snapshot = Snapshot::compile(&load(text, "test", &nothing).unwrap().config, "0");
        Upstreams::new(&snapshot, Arc::new(Consents::new(None, Duration::from_secs(5)))).unwrap()
    }

    #[test]
    fn a_server_that_does_not_ask_for_roots_is_known_after_the_next_start() {
        let info = Bytes::from_static(br#"{"name":"a","version":"1"}"#);
        let before = upstreams().get(UpstreamId(0));
        assert!(!before.catalogue.written().contains("asksNoRoots"));
        before.server.roots.note_silence(&info);
        let (store, after) = (OneText(before.catalogue.written()), upstreams());
        let store: Arc<dyn CatalogueStore> = Arc::new(store);
        after.restore(&store);
        let server = after.get(UpstreamId(0)).server.clone();
        assert!(server.roots.is_silent(&info));
        assert!(!server.roots.is_silent(br#"{"name":"a","version":"2"}"#), "another program may ask");
        assert!(server.roots.forget_silence() && !server.roots.is_silent(&info));
    }
}
