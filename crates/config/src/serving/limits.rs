//! Upper bounds on sizes, counts and times: one row per limit, with its default and the range of values that can be set.

use std::time::Duration;

use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::section::Section;
use crate::reading::spellings::{Bytes, Number, Optional, Time};
use crate::syntax::parse::Entry;
use crate::values::units;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

/// A time between two bounds.
const fn time(least: Duration, most: Duration) -> Time {
    Time { least, most }
}

/// A number between two bounds.
const fn number(least: usize, most: usize) -> Number {
    Number { least, most }
}

/// A number of bytes between two bounds.
const fn bytes(least: usize, most: usize) -> Bytes {
    Bytes { least, most }
}

section! {
    /// Upper bounds on sizes, counts and times. Sizes are a number of bytes or `64KiB`, `4MiB`; times are a number of
    /// seconds or `500ms`, `10s`, `30m`, `1h`.
    pub struct Limits: "a mapping of limits" {
        /// Adapts the default of one call timeout to the configured value of the other; two configured values must be
        /// consistent.
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            let (idle, whole) = (self.call_idle_timeout, self.call_timeout);
            let written = (entry.value.entry("callIdleTimeout"), entry.value.entry("callTimeout"));
            if idle <= whole {
                return;
            }
            if let (Some(entry), Some(_)) = written {
                let (idle, whole) = (units::show_time(idle), units::show_time(whole));
                let message = format!("the idle timeout of a call ({idle}) is longer than its total timeout ({whole})");
                let help = "set callIdleTimeout to at most callTimeout";
                reader.within("callIdleTimeout", |reader| reader.fault(&entry.value.at, message, help));
            } else if whole < Self::default().call_timeout {
                self.call_idle_timeout = whole;
            } else {
                self.call_timeout = idle;
            }
        }
    } [
        /// The maximum size of a request body from a client.
        "requestBody" request_body: usize = bytes(KIB, 256 * MIB), default 4 * MIB;
        /// The maximum size of all header lines of one request together.
        "requestHeaders" request_headers: usize = bytes(KIB, MIB), default 64 * KIB;
        /// The time that a client may take to send a request's header lines.
        "headerReadTimeout" header_read_timeout: Duration = time(Duration::from_millis(100), Duration::from_mins(2)), default Duration::from_secs(10);
        /// The maximum length of a line from a client over stdio.
        "line" line: usize = bytes(KIB, 256 * MIB), default 16 * MIB;
        /// The maximum size of a message from an upstream server, over HTTP or a pipe: an answer, an event or a line.
        "result" result: usize = bytes(KIB, 1024 * MIB), default 64 * MIB;
        /// The memory for all large messages of clients and servers together. Above this limit, a new message waits until
        /// other messages are finished, and is refused if no other message finishes in time.
        "memory" memory: Option<usize> = Optional(bytes(64 * MIB, 1 << 50)), absent "half of the memory that the process may use";
        /// The maximum nesting depth of JSON in a message.
        "jsonDepth" json_depth: usize = number(8, 128), default 128;
        /// The maximum number of messages in one batch.
        "batch" batch: usize = number(1, 1000), default 64;
        /// The maximum number of open client sessions.
        "sessions" sessions: usize = number(1, 1_000_000), default 10_000;
        /// The time without a request or an open stream after which a session ends.
        "sessionIdle" session_idle: Duration = time(SECOND, Duration::from_hours(24)), default Duration::from_mins(30);
        /// The time for which a session can be restored after its last use, and for which data that was sealed with a
        /// replaced key can still be opened.
        "sessionLifetime" session_lifetime: Duration = time(MINUTE, Duration::from_hours(30 * 24)), default Duration::from_hours(24);
        /// The maximum number of open event streams per session.
        "streamsPerSession" streams_per_session: usize = number(1, 1024), default 64;
        /// The maximum number of events kept per session, so that a broken stream can be resumed.
        "replayEvents" replay_events: usize = number(0, 65_536), default 256;
        /// The maximum total size of the events kept per session, so that a broken stream can be resumed.
        "replayBytes" replay_bytes: usize = bytes(0, 64 * MIB), default MIB;
        /// The maximum number of concurrent calls per session.
        "callsPerSession" calls_per_session: usize = number(1, 4096), default 256;
        /// The maximum number of concurrent calls per caller without a session. Without `auth`, all callers count as one.
        "callsPerCaller" calls_per_caller: usize = number(1, 65_536), default 1024;
        /// The time that a call may go without an answer or progress.
        "callIdleTimeout" call_idle_timeout: Duration = time(Duration::from_millis(100), HOUR), default MINUTE;
        /// The total time that a call may take, even if it reports progress.
        "callTimeout" call_timeout: Duration = time(Duration::from_millis(100), Duration::from_hours(24)), default Duration::from_mins(10);
        /// The maximum time that a request that was not executed waits for its server to become available again. A request
        /// never waits longer than half of its own timeout.
        "resendWait" resend_wait: Duration = time(Duration::ZERO, Duration::from_mins(10)), default Duration::from_secs(10);
        /// The maximum time to connect to an upstream server, including TLS.
        "connectTimeout" connect_timeout: Duration = time(Duration::from_millis(100), Duration::from_mins(2)), default Duration::from_secs(10);
        /// The time that an upstream server may take from its start to its first answer, unless the server sets its own
        /// `startTimeout`.
        "startTimeout" start_timeout: Duration = time(Duration::from_millis(100), HOUR), default Duration::from_secs(90);
        /// The time that a list waits for servers that have not answered yet. Clients are notified when such a server joins
        /// later; raise the limit for clients that list only once.
        "listWait" list_wait: Duration = time(Duration::ZERO, MINUTE), default Duration::from_millis(500);
        /// The maximum number of pages fetched from an upstream server per list.
        "listPages" list_pages: usize = number(1, 100_000), default 1000;
        /// The maximum number of tools, prompts, resources and templates of one upstream server, counted together.
        "catalogueEntries" catalogue_entries: usize = number(1, 1_000_000), default 20_000;
        /// The maximum number of open `subscriptions/listen` streams.
        "listenStreams" listen_streams: usize = number(1, 1_000_000), default 10_000;
        /// The maximum number of resource subscriptions per session.
        "subscriptionsPerSession" subscriptions_per_session: usize = number(1, 100_000), default 1000;
        /// The time for which clients can still use the former name of a tool or prompt. With `0s`, a former name stops
        /// working at once.
        "formerNames" former_names: Duration = time(Duration::ZERO, Duration::from_hours(365 * 24)), default Duration::from_hours(7 * 24);
        /// The maximum size of a JSON Schema against which the arguments of a tool are checked. If the schema is larger,
        /// arguments are passed on unchecked.
        "schemaBytes" schema_bytes: usize = bytes(KIB, 16 * MIB), default 256 * KIB;
        /// The time that a question to a client may wait for its answer.
        "requestStateLifetime" request_state_lifetime: Duration = time(SECOND, Duration::from_hours(24)), default Duration::from_mins(10);
        /// The maximum number of parked calls, which are calls from clients without a session that wait until their
        /// client answers a question.
        "parkedCalls" parked_calls: usize = number(1, 100_000), default 1000;
        /// The maximum number of kept results, both shortened and cached ones. Above this number, the oldest results are
        /// dropped. One caller can use at most a quarter.
        "keptResults" kept_results: usize = number(0, 1_000_000), default 1000;
        /// The maximum total size of the kept results. One caller can use at most a quarter.
        "keptResultBytes" kept_result_bytes: usize = bytes(0, 64 * 1024 * MIB), default 256 * MIB;
        /// The time for which the rest of a shortened result can be read.
        "restLifetime" rest_lifetime: Duration = time(SECOND, Duration::from_hours(24)), default Duration::from_mins(10);
        /// The maximum time for running calls to finish after Dragoman is told to stop.
        "drainTimeout" drain_timeout: Duration = time(Duration::ZERO, Duration::from_mins(10)), default Duration::from_secs(10);
        /// The maximum number of open client connections.
        "connections" connections: usize = number(1, 1_000_000), default 20_000;
        /// The maximum number of running child processes.
        "children" children: usize = number(0, 10_000), default 256;
        /// The maximum time for a child process to exit after its input is closed, and again after SIGTERM.
        "childStopTimeout" child_stop_timeout: Duration = time(Duration::from_millis(100), MINUTE), default Duration::from_secs(2);
        /// The size of the buffer for a child's latest error output.
        "stderrRing" stderr_ring: usize = bytes(KIB, 16 * MIB), default 64 * KIB;
    ]
}

impl Limits {
    /// Returns the meaning of the limit with this key.
    pub fn meaning(key: &str) -> Option<&'static str> {
        Self::ROWS.iter().find(|row| row.key == key).map(|row| row.about.trim().trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_meaning_of_its_own() {
        let meaning = Limits::meaning("keptResults").unwrap();
        assert!(meaning.starts_with("The maximum number of kept results"), "{meaning}");
        assert_eq!(Limits::meaning("unknown"), None);
        let mut all: Vec<_> = Limits::ROWS.iter().map(|row| Limits::meaning(row.key)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), Limits::ROWS.len());
    }
}
