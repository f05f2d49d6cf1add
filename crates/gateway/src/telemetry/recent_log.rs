//! The last lines of this process's log, for operators who cannot read its stderr. The ring belongs to the process, as the
//! log itself does. This module must not know who reads the lines, or how they are shown.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::Level;

/// The log of this process.
pub static PROCESS_LOG: RecentLog = RecentLog::new();

/// The maximum size of all lines together, in bytes.
const MOST_BYTES: usize = 256 << 10;

/// The maximum size of the text of a line, in bytes.
const MOST_TEXT: usize = 4 << 10;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The number of the line: the first line since the start of the process is 1.
    pub number: u64,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The level.
    pub level: Level,
    /// The part of Dragoman that wrote the line.
    pub target: &'static str,
    /// The server that the line is about, if there is one.
    pub server: Option<Box<str>>,
    /// The message and its fields, shortened.
    pub text: Box<str>,
}

impl LogEntry {
    fn size(&self) -> usize {
        size_of::<Arc<Self>>()
            + size_of::<Self>()
            + self.text.len()
            + self.server.as_ref().map_or(0, |name| name.len())
    }
}

/// The last lines of a log, within a number of bytes.
#[derive(Debug)]
pub struct RecentLog(Mutex<RecentEntries>);

#[derive(Debug)]
struct RecentEntries {
    lines: VecDeque<Arc<LogEntry>>,
    bytes: usize,
    /// The number of the last line.
    last: u64,
}

/// Kept lines, oldest first.
#[derive(Debug, Clone, Default)]
pub struct RecentLines {
    /// The lines.
    pub lines: Vec<Arc<LogEntry>>,
    /// The number of the last line that was logged; 0 if there is none.
    pub last: u64,
    /// The number of the oldest line that is kept.
    pub oldest: u64,
}

impl RecentLog {
    const fn new() -> Self {
        Self(Mutex::new(RecentEntries { lines: VecDeque::new(), bytes: 0, last: 0 }))
    }

    /// Adds a line, and drops the oldest lines if there are too many; the number of `entry` is replaced.
    pub fn push(&self, mut entry: LogEntry) {
        if entry.text.len() > MOST_TEXT {
            let text = &entry.text[..entry.text.floor_char_boundary(MOST_TEXT)];
            entry.text = format!("{text}…").into();
        }
        let size = entry.size();
        let mut entry = Arc::new(entry);
        let mut dropped = Vec::new();
        let mut ring = self.0.lock();
        ring.last += 1;
        if let Some(entry) = Arc::get_mut(&mut entry) {
            entry.number = ring.last;
        }
        ring.bytes += size;
        ring.lines.push_back(entry);
        while ring.bytes > MOST_BYTES
            && let Some(oldest) = ring.lines.pop_front()
        {
            ring.bytes -= oldest.size();
            dropped.push(oldest);
        }
        drop(ring);
        // Lines are freed without the lock.
        drop(dropped);
    }

    /// Returns the kept lines after the line `after`, of at least the level `least`.
    pub fn since(&self, after: u64, least: Level) -> RecentLines {
        let ring = self.0.lock();
        let start = ring.lines.partition_point(|line| line.number <= after);
        // In `tracing`, a more verbose level is a greater one.
        let lines = ring.lines.iter().skip(start).filter(|line| line.level <= least).cloned().collect();
        let oldest = ring.lines.front().map_or(0, |line| line.number);
        RecentLines { lines, last: ring.last, oldest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(level: Level, text: &str) -> LogEntry {
        LogEntry { number: 0, at: 5, level, target: "dragoman", server: None, text: text.into() }
    }

    #[test]
    fn the_last_lines_are_kept_within_the_cap() {
        let log = RecentLog::new();
        assert_eq!((log.since(0, Level::TRACE).last, log.since(0, Level::TRACE).oldest), (0, 0));
        for number in 1..=10_000 {
            log.push(entry(Level::INFO, &format!("{number} {}", "x".repeat(100))));
            assert!(log.0.lock().bytes <= MOST_BYTES);
        }
        let kept = log.since(0, Level::INFO);
        let numbers: Vec<u64> = kept.lines.iter().map(|line| line.number).collect();
        assert_eq!((kept.last, numbers.last(), numbers.first()), (10_000, Some(&10_000), Some(&kept.oldest)));
        assert!(numbers.len() > 500 && numbers.windows(2).all(|two| two[1] == two[0] + 1));
        assert!(kept.lines[0].text.starts_with(&format!("{} ", kept.oldest)));
        let sizes: usize = kept.lines.iter().map(|line| line.size()).sum();
        assert_eq!(sizes, log.0.lock().bytes);
    }

    #[test]
    fn long_lines_are_shortened_and_cannot_push_out_the_others() {
        let log = RecentLog::new();
        log.push(entry(Level::ERROR, "first"));
        log.push(entry(Level::ERROR, &"ä".repeat(1 << 20)));
        let kept = log.since(0, Level::ERROR).lines;
        assert!(
            kept.len() == 2
                && kept[1].text.len() <= MOST_TEXT + '…'.len_utf8()
                && kept[1].text.ends_with('…')
        );
    }

    #[test]
    fn readers_get_only_new_lines_of_their_level() {
        let log = RecentLog::new();
        for level in [Level::ERROR, Level::DEBUG, Level::WARN, Level::INFO] {
            log.push(entry(level, level.as_str()));
        }
        let texts = |after, least| {
            log.since(after, least).lines.iter().map(|line| line.text.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(texts(0, Level::WARN), ["ERROR", "WARN"]);
        assert_eq!(texts(2, Level::TRACE), ["WARN", "INFO"]);
        assert!(texts(4, Level::TRACE).is_empty() && texts(99, Level::TRACE).is_empty());
        assert_eq!(log.since(99, Level::ERROR).last, 4);
    }
}
