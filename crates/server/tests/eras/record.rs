//! What crosses the upstream's wire, as the upstream itself writes it down, message by message.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::support::soon;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crossed {
    /// Whether the gateway sent it.
    pub(crate) to_upstream: bool,
    pub(crate) message: Value,
}

impl Crossed {
    /// Whether it is a request or a notification of this method that the gateway sent.
    pub(crate) fn is_sent(&self, method: &str) -> bool {
        self.to_upstream && self.message["method"] == method
    }
}

#[derive(Default)]
struct Kept {
    crossed: Vec<Crossed>,
    marks: u64,
}

/// The upstream writes into a named pipe rather than a file, so that nobody has to look again and again.
pub(crate) struct Record {
    path: PathBuf,
    kept: Arc<watch::Sender<Kept>>,
    marker: pipe::Sender,
    marks: u64,
    reader: JoinHandle<()>,
}

/// The line that says that all before it has been read.
const MARK: &str = "{}";

impl Record {
    /// An empty one.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("record-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // One that a killed test of the same number left.
        let _ = std::fs::remove_file(&path);
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a named pipe in the target folder");
        // Both ends in both directions, so that the pipe never ends.
        let input = pipe::OpenOptions::new().read_write(true).open_receiver(&path).expect("readable");
        let marker = pipe::OpenOptions::new().read_write(true).open_sender(&path).expect("writable");
        let kept = Arc::new(watch::Sender::<Kept>::default());
        let reader = tokio::spawn(read(input, Arc::clone(&kept)));
        Self { path, kept, marker, marks: 0, reader }
    }

    /// Where the upstream is to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All that has crossed until now. What an upstream wrote before it said something that we have heard is in it.
    pub(crate) async fn all(&mut self) -> Vec<Crossed> {
        self.marks += 1;
        let wanted = self.marks;
        let line = format!("{MARK}\n");
        soon("room in the record", self.marker.write_all(line.as_bytes())).await.expect("an open pipe");
        let mut seen = self.kept.subscribe();
        let kept = soon("the record", seen.wait_for(|kept| kept.marks >= wanted)).await.expect("a reader");
        kept.crossed.clone()
    }

    /// Waits until `wanted` has crossed, among what comes after the first `after` messages.
    pub(crate) async fn has(&self, what: &str, after: usize, wanted: impl Fn(&Crossed) -> bool) {
        let mut seen = self.kept.subscribe();
        let wait = seen.wait_for(|kept| kept.crossed.iter().skip(after).any(&wanted));
        soon(what, async { drop(wait.await.expect("a reader")) }).await;
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.reader.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn read(input: pipe::Receiver, kept: Arc<watch::Sender<Kept>>) {
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line == MARK {
            kept.send_modify(|kept| kept.marks += 1);
            continue;
        }
        let Ok(mut entry) = serde_json::from_str::<Value>(&line) else {
            panic!("the upstream's record has a line that is no JSON: {line}")
        };
        let to_upstream = match entry["dir"].as_str() {
            Some("in") => true,
            Some("out") => false,
            _ => panic!("the upstream's record has a strange line: {line}"),
        };
        let message = entry["message"].take();
        kept.send_modify(|kept| kept.crossed.push(Crossed { to_upstream, message }));
    }
}
