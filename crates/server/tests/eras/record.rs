//! The messages on the upstream's wire, as the upstream itself records them.

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
    /// True if the gateway sent it.
    pub(crate) to_upstream: bool,
    pub(crate) message: Value,
}

impl Crossed {
    /// Returns true for a request or a notification with this method that the gateway sent.
    pub(crate) fn is_sent(&self, method: &str) -> bool {
        self.to_upstream && self.message["method"] == method
    }
}

#[derive(Default)]
struct Kept {
    crossed: Vec<Crossed>,
    marks: u64,
}

/// The upstream writes its record into a named pipe rather than a file, so that no polling is needed.
pub(crate) struct Record {
    path: PathBuf,
    kept: Arc<watch::Sender<Kept>>,
    marker: pipe::Sender,
    marks: u64,
    reader: JoinHandle<()>,
}

/// The line that marks that everything before it has been read. No message ends with it.
const MARK: &str = "#mark";

impl Record {
    /// An empty record.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("record-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // A pipe that a killed test with the same number left behind.
        let _ = std::fs::remove_file(&path);
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a named pipe in the target folder");
        // This opens the pipe for reading and writing, so that it never ends.
        let input = pipe::OpenOptions::new().read_write(true).open_receiver(&path).expect("readable");
        let marker = pipe::OpenOptions::new().read_write(true).open_sender(&path).expect("writable");
        let kept = Arc::new(watch::Sender::<Kept>::default());
        let reader = tokio::spawn(read(input, Arc::clone(&kept)));
        Self { path, kept, marker, marks: 0, reader }
    }

    /// The path to which the upstream writes.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All messages so far. They include everything that an upstream wrote before any message that we have received
    /// from it.
    pub(crate) async fn all(&mut self) -> Vec<Crossed> {
        self.marks += 1;
        let wanted = self.marks;
        let line = format!("{MARK}\n");
        soon("room in the record", self.marker.write_all(line.as_bytes())).await.expect("an open pipe");
        let mut seen = self.kept.subscribe();
        let kept = soon("the record", seen.wait_for(|kept| kept.marks >= wanted)).await.expect("a reader");
        kept.crossed.clone()
    }

    /// Waits until a message is `wanted`, among those after the first `after` messages.
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
    let mut begun = String::new();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(piece) = line.strip_suffix(MARK) {
            // A line longer than 4 KiB is written in pieces if the pipe is full, so the mark may be among them.
            begun.push_str(piece);
            kept.send_modify(|kept| kept.marks += 1);
            continue;
        }
        let line = std::mem::take(&mut begun) + &line;
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
