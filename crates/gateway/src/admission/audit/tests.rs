use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use store::audit::{Log, Query, Recorded};

use super::sink::{CAPACITY, Shared};
use super::writer::{OpenRecord, Writer};
use super::*;

/// A time that is ample for every step of a test, even on a busy machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// A folder for one test, deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dragoman-audit-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn log(&self) -> Log {
        Log::open(&self.0.join("audit.db")).unwrap()
    }

    fn all(&self) -> Vec<Recorded> {
        self.log().query(&Query { limit: store::audit::MAX_LIMIT, ..Query::default() }).unwrap()
    }

    /// Returns true if any file contains the text.
    fn holds(&self, text: &str) -> bool {
        fs::read_dir(&self.0).unwrap().any(|file| {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn options() -> AuditOptions {
    AuditOptions {
        arguments: true,
        share: true,
        redact: vec!["password".to_owned(), "api_key".to_owned()],
        keep: Duration::from_hours(24),
        most_bytes: 1 << 30,
    }
}

fn record(log: Log) -> Box<OpenRecord> {
    Box::new(OpenRecord::new(log, &options()))
}

fn now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap()
}

pub(super) fn entry(number: usize) -> AuditEntry {
    AuditEntry {
        at_ms: now(),
        principal: "anyone".into(),
        profile: "default".into(),
        upstream: Some("demo".into()),
        tool: Some(format!("tool-{number}").into()),
        method: "tools/call".into(),
        outcome: CallOutcome::Ok,
        code: None,
        duration_us: 1,
        request_bytes: 2,
        response_bytes: 3,
        tries: 1,
        waited_us: 0,
        cached: false,
        reason: None,
        arguments: None,
        address: None,
        client: None,
    }
}

/// Records this many entries from eight threads at once.
fn record_from_everywhere(sink: &AuditSink, count: usize) {
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let sink = sink.clone();
            scope.spawn(move || (thread..count).step_by(8).for_each(|number| sink.record(entry(number))));
        }
    });
}

#[test]
fn all_that_there_is_room_for_is_recorded() {
    let folder = Folder::new();
    let sink = AuditSink::start(folder.log(), &options()).unwrap();
    assert!(sink.is_on());
    record_from_everywhere(&sink, CAPACITY);
    assert!(sink.close(DEADLINE));
    let mut tools: Vec<_> = folder.all().into_iter().map(|one| one.entry.tool).collect();
    tools.sort();
    tools.dedup();
    assert_eq!(tools.len(), CAPACITY);
    // A closed sink ignores further entries, without a panic.
    sink.record(entry(0));
    assert!(!sink.close(DEADLINE));
    assert_eq!(folder.all().len(), CAPACITY);
}

#[test]
fn a_writer_that_does_not_come_costs_entries_but_no_time() {
    let folder = Folder::new();
    let shared = Arc::new(Shared::default());
    let sink = AuditSink::unwritten(shared.clone());
    // There is no writer; if any of these calls could wait, it would wait forever.
    record_from_everywhere(&sink, 3 * CAPACITY);
    assert!(!sink.close(Duration::ZERO), "there is nobody to wait for");
    assert_eq!(shared.queue.lock().entries.len(), CAPACITY);
    assert_eq!(shared.queue.lock().dropped, 2 * CAPACITY as u64);
    let writer = Writer::new(record(folder.log()), shared.clone());
    std::thread::spawn(|| writer.run()).join().unwrap();
    assert_eq!(folder.all().len(), CAPACITY);
    assert_eq!(shared.queue.lock().dropped, 2 * CAPACITY as u64, "losses are known in the end");
}

/// The log, line by line.
#[derive(Clone)]
struct Lines(Sender<String>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A finished test no longer reads.
        let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a writer and returns a receiver of its log lines.
fn run_logged(writer: Writer) -> (std::thread::JoinHandle<()>, Receiver<String>) {
    let (send, lines) = channel();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || Lines(send.clone())).finish();
    let thread = std::thread::spawn(|| tracing::subscriber::with_default(subscriber, || writer.run()));
    (thread, lines)
}

#[test]
fn trouble_with_the_file_is_told_and_overcome() {
    let folder = Folder::new();
    let log = folder.log();
    let other = rusqlite::Connection::open(log.path()).unwrap();
    other.execute_batch("ALTER TABLE calls RENAME TO hidden").unwrap();
    let shared = Arc::new(Shared::default());
    let sink = AuditSink::unwritten(shared.clone());
    let (thread, lines) = run_logged(Writer::new(record(log), shared));
    record_from_everywhere(&sink, 100);
    let told: Vec<String> = lines.iter().take(1).collect();
    assert!(told[0].contains("calls") && told[0].contains("help"), "{told:?}");
    other.execute_batch("ALTER TABLE hidden RENAME TO calls").unwrap();
    assert!(sink.close(DEADLINE));
    thread.join().unwrap();
    assert_eq!(folder.all().len(), 100);
}

#[test]
fn what_could_not_be_written_in_the_end_is_counted() {
    let folder = Folder::new();
    let log = folder.log();
    rusqlite::Connection::open(log.path()).unwrap().execute_batch("DROP TABLE calls").unwrap();
    let shared = Arc::new(Shared::default());
    let sink = AuditSink::unwritten(shared.clone());
    record_from_everywhere(&sink, 100);
    let (thread, lines) = run_logged(Writer::new(record(log), shared));
    assert!(!sink.close(DEADLINE));
    thread.join().unwrap();
    let told: String = lines.iter().collect();
    assert!(told.contains("lost=100"), "{told}");
}

#[test]
fn a_file_that_others_write_to_costs_nothing() {
    let folder = Folder::new();
    let sink = AuditSink::start(folder.log(), &options()).unwrap();
    let other = rusqlite::Connection::open(folder.log().path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    record_from_everywhere(&sink, 100);
    let closing = std::thread::spawn(move || sink.close(DEADLINE));
    other.execute_batch("COMMIT").unwrap();
    assert!(closing.join().unwrap());
    assert_eq!(folder.all().len(), 100);
}

#[test]
fn old_entries_go_when_the_writer_starts() {
    let folder = Folder::new();
    let day = 24 * 3_600_000;
    let old = AuditEntry { at_ms: now() - 2 * day, ..entry(1) };
    folder.log().append(&[old, AuditEntry { at_ms: now() - day / 2, ..entry(2) }]).unwrap();
    let sink = AuditSink::start(folder.log(), &options()).unwrap();
    assert!(sink.close(DEADLINE));
    let left = folder.all();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].entry.tool.as_deref(), Some("tool-2"));

    folder.log().append(&(0..5_000).map(entry).collect::<Vec<_>>()).unwrap();
    let small = AuditOptions { most_bytes: 200_000, ..options() };
    assert!(AuditSink::start(folder.log(), &small).unwrap().close(DEADLINE));
    assert!(folder.log().bytes().unwrap() <= 200_000);
    assert!(!folder.all().is_empty());
}

#[test]
fn secrets_are_not_in_the_file() {
    let folder = Folder::new();
    let sink = AuditSink::start(folder.log(), &options()).unwrap();
    let text = br#"{"user":"ann","Pass_Word":"hunter-two","deep":[{"apiKey":["sesame-key",7]}],"json":"{\"password\":\"nested-secret\"}"}"#;
    sink.record(AuditEntry { arguments: sink.arguments(text), ..entry(1) });
    sink.record(AuditEntry { arguments: sink.arguments(b"{\"password\":\"cut off"), ..entry(2) });
    assert!(sink.close(DEADLINE));
    for secret in ["hunter-two", "sesame-key", "nested-secret", "cut off"] {
        assert!(!folder.holds(secret), "{secret}");
    }
    assert!(folder.holds("[redacted]") && folder.holds("ann"));
    let recorded = folder.all();
    assert_eq!(recorded[0].entry.arguments.as_deref(), Some("\"[not JSON]\""));
    assert_eq!(
        recorded[1].entry.arguments.as_deref(),
        Some(
            r#"{"user":"ann","Pass_Word":"[redacted]","deep":[{"apiKey":"[redacted]"}],"json":"{\"password\":\"[redacted]\"}"}"#
        )
    );
}

#[test]
fn arguments_are_recorded_only_when_asked_for() {
    let folder = Folder::new();
    let sink = AuditSink::start(folder.log(), &AuditOptions { arguments: false, ..options() }).unwrap();
    assert_eq!(sink.arguments(b"{}"), None);
    sink.record(AuditEntry { arguments: Some("{\"note\":\"private\"}".to_owned()), ..entry(1) });
    assert!(sink.close(DEADLINE));
    assert!(!folder.holds("private"));
    assert_eq!(folder.all()[0].entry.arguments, None);
    let off = AuditSink::off();
    assert!(!off.is_on() && off.arguments(b"{}").is_none() && off.close(Duration::ZERO));
    off.record(entry(1));
}

#[test]
fn what_clients_make_long_is_cut() {
    let folder = Folder::new();
    let sink = AuditSink::start(folder.log(), &options()).unwrap();
    let long = "é".repeat(100_000);
    let text = format!("{{\"text\":\"{long}\"}}");
    let whole = sink.arguments(text.as_bytes());
    assert_eq!(whole.as_deref(), Some("\"[200011 bytes]\""));
    sink.record(AuditEntry {
        tool: Some(long.as_str().into()),
        method: long.clone().into(),
        principal: long.as_str().into(),
        arguments: Some(text),
        ..entry(1)
    });
    // More arguments at once than may wait.
    for number in 0..300 {
        let arguments = sink.arguments(format!("\"{}\"", "x".repeat(60_000)).as_bytes());
        sink.record(AuditEntry { arguments, ..entry(number) });
    }
    assert!(sink.close(DEADLINE));
    let all = folder.all();
    assert_eq!(all.len(), 301);
    let first = &all[300].entry;
    for name in [first.tool.as_deref().unwrap(), &first.method, &first.principal] {
        assert!(name.len() <= 520 && name.ends_with("é…"), "{name}");
    }
    assert_eq!(first.arguments, whole);
    assert!(all.iter().all(|one| one.entry.arguments.as_ref().unwrap().len() < 9_000));
}

#[test]
fn the_configuration_says_it() {
    let options = AuditOptions::new(&config::Audit::default());
    assert!(!options.arguments && options.most_bytes == 1 << 30);
    assert!(options.redact.iter().any(|word| word == "password"));
    assert_eq!(options.keep, Duration::from_hours(30 * 24));
}

#[test]
fn a_record_follows_another_and_no_entry_is_lost() {
    let (first, second) = (Folder::new(), Folder::new());
    let sink = AuditSink::off();
    sink.record(entry(0));
    sink.switch(Some((first.log(), &options()))).unwrap();
    record_from_everywhere(&sink, 1000);
    let before = sink.arguments(b"{\"user\":\"ann\"}");
    sink.record(AuditEntry { arguments: before, ..entry(1000) });
    sink.switch(Some((second.log(), &AuditOptions { arguments: false, ..options() }))).unwrap();
    assert!(sink.is_on() && !sink.takes_arguments());
    record_from_everywhere(&sink, 500);
    sink.switch(None).unwrap();
    assert!(!sink.is_on());
    sink.record(entry(2000));
    assert!(sink.close(DEADLINE));
    assert_eq!((first.all().len(), second.all().len()), (1001, 500));
    assert!(first.holds("ann"));
}

#[test]
fn entries_that_the_old_file_does_not_take_go_to_the_next() {
    let (broken, good) = (Folder::new(), Folder::new());
    let log = broken.log();
    rusqlite::Connection::open(log.path()).unwrap().execute_batch("DROP TABLE calls").unwrap();
    let shared = Arc::new(Shared::default());
    let sink = AuditSink::unwritten(shared.clone());
    let (thread, lines) = run_logged(Writer::new(record(log), shared));
    record_from_everywhere(&sink, 100);
    assert!(lines.recv().unwrap().contains("help"), "trouble is told");
    let without = AuditOptions { keep: Duration::from_hours(1), ..options() };
    let day = AuditEntry { at_ms: now() - 24 * 3_600_000, ..entry(1) };
    good.log().append(&[day]).unwrap();
    sink.switch(Some((good.log(), &without))).unwrap();
    assert!(sink.close(DEADLINE));
    thread.join().unwrap();
    assert_eq!(good.all().len(), 100, "and those that are older than the new record may keep are gone");
}
