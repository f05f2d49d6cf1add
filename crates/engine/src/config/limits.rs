//! How much of everything is too much: one row per limit, with its default and the hardest value that anybody may set.
//!
//! The rows are the only place where a limit is named: the struct, the reader, the JSON schema and the documentation all
//! come from them.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::units;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes; written as a number or as `64KiB`, `4MiB`, `1GiB`.
    Bytes,
    /// A number of things.
    Count,
    /// Milliseconds; written as a number of seconds or as `500ms`, `10s`, `30m`, `1h`.
    Time,
}

impl Unit {
    /// A value in the way that people write it.
    pub fn show(self, value: u64) -> String {
        match self {
            Self::Bytes => units::show_bytes(value),
            Self::Count => value.to_string(),
            Self::Time => units::show_time(Duration::from_millis(value)),
        }
    }
}

/// One limit: its key, what it counts, its default and its bounds (bytes, things or milliseconds).
#[derive(Debug)]
pub struct LimitRow {
    /// The key under `limits:`.
    pub key: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The value when nobody sets one.
    pub default: u64,
    /// The lowest value that may be set.
    pub least: u64,
    /// The highest value that may be set.
    pub most: u64,
    /// Stores a value that was checked against the bounds.
    pub(super) set: fn(&mut Limits, u64),
}

/// How a limit's value is kept in [`Limits`].
trait Kept {
    fn keep(value: u64) -> Self;
}

impl Kept for usize {
    fn keep(value: u64) -> Self {
        Self::try_from(value).unwrap_or(Self::MAX)
    }
}

impl Kept for Duration {
    fn keep(value: u64) -> Self {
        Self::from_millis(value)
    }
}

macro_rules! limits {
    ($(#[doc = $doc:literal] $field:ident: $type:ty = $key:literal $unit:ident $default:expr, $least:expr, $most:expr;)*) => {
        /// How much of everything is too much. Every wait has a deadline and every buffer a cap; these are the values.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: Kept::keep($default),)* }
            }
        }

        impl Limits {
            /// All limits, in the order of the documentation.
            pub const ROWS: &[LimitRow] = &[$(LimitRow {
                key: $key,
                about: $doc,
                unit: Unit::$unit,
                default: $default,
                least: $least,
                most: $most,
                set: |limits, value| limits.$field = Kept::keep(value),
            },)*];
        }
    };
}

limits! {
    #[doc = " The longest request body that a client may send."]
    request_body: usize = "requestBody" Bytes 4 * MIB, KIB, 256 * MIB;
    #[doc = " All header lines of one request together."]
    request_headers: usize = "requestHeaders" Bytes 64 * KIB, KIB, MIB;
    #[doc = " How long a client may take to send a request's header lines."]
    header_read_timeout: Duration = "headerReadTimeout" Time 10 * SECOND, 100, 2 * MINUTE;
    #[doc = " The longest line that a client writes over stdio."]
    line: usize = "line" Bytes 16 * MIB, KIB, 256 * MIB;
    #[doc = " The longest message of an upstream server, whatever brings it: an answer, an event, a line."]
    result: usize = "result" Bytes 64 * MIB, KIB, 1024 * MIB;
    #[doc = " How deep the JSON of a message may nest."]
    json_depth: usize = "jsonDepth" Count 128, 8, 128;
    #[doc = " How many messages one batch may hold."]
    batch: usize = "batch" Count 64, 1, 1000;
    #[doc = " How many client sessions may be open."]
    sessions: usize = "sessions" Count 10_000, 1, 1_000_000;
    #[doc = " After how long without a request or an open stream a session ends."]
    session_idle: Duration = "sessionIdle" Time 30 * MINUTE, SECOND, 24 * HOUR;
    #[doc = " How many event streams one session may have open."]
    streams_per_session: usize = "streamsPerSession" Count 64, 1, 1024;
    #[doc = " How many events of a session are kept so that a broken stream can be resumed."]
    replay_events: usize = "replayEvents" Count 256, 0, 65_536;
    #[doc = " How many bytes of a session's events are kept so that a broken stream can be resumed."]
    replay_bytes: usize = "replayBytes" Bytes MIB, 0, 64 * MIB;
    #[doc = " How many calls of one session may be in flight."]
    calls_per_session: usize = "callsPerSession" Count 256, 1, 4096;
    #[doc = " How many calls of one caller without a session may be in flight; where nobody is asked who they are, all are one."]
    calls_per_caller: usize = "callsPerCaller" Count 1024, 1, 65_536;
    #[doc = " How long a call may go without an answer or a sign of progress."]
    call_idle_timeout: Duration = "callIdleTimeout" Time MINUTE, 100, HOUR;
    #[doc = " How long a call may take in all, whatever progress it reports."]
    call_timeout: Duration = "callTimeout" Time 10 * MINUTE, 100, 24 * HOUR;
    #[doc = " How long it may take to reach an upstream server, TLS included."]
    connect_timeout: Duration = "connectTimeout" Time 10 * SECOND, 100, 2 * MINUTE;
    #[doc = " How long an upstream server may take from its start to its first answer, unless it has a `startTimeout` of its own."]
    start_timeout: Duration = "startTimeout" Time 90 * SECOND, 100, HOUR;
    #[doc = " How long a list waits for servers of which nothing is known yet; those that join later are announced. Raise it for clients that list once."]
    list_wait: Duration = "listWait" Time 500, 0, MINUTE;
    #[doc = " How many pages of one list are fetched from an upstream server."]
    list_pages: usize = "listPages" Count 1000, 1, 100_000;
    #[doc = " How many tools, prompts, resources and templates one upstream server may offer."]
    catalogue_entries: usize = "catalogueEntries" Count 20_000, 1, 1_000_000;
    #[doc = " How many streams of `subscriptions/listen` may be open."]
    listen_streams: usize = "listenStreams" Count 10_000, 1, 1_000_000;
    #[doc = " How many resources one session may subscribe to."]
    subscriptions_per_session: usize = "subscriptionsPerSession" Count 1000, 1, 100_000;
    #[doc = " The longest JSON Schema of a tool that is compiled; arguments of a longer one are passed on unchecked."]
    schema_bytes: usize = "schemaBytes" Bytes 256 * KIB, KIB, 16 * MIB;
    #[doc = " How long a question to a client may wait for its answer."]
    request_state_lifetime: Duration = "requestStateLifetime" Time 10 * MINUTE, SECOND, 24 * HOUR;
    #[doc = " Calls of clients without a session that wait, in all, while their client is asked something by a server with sessions."]
    parked_calls: usize = "parkedCalls" Count 1000, 1, 100_000;
    #[doc = " How long calls in flight may go on after Dragoman was told to stop."]
    drain_timeout: Duration = "drainTimeout" Time 10 * SECOND, 0, 10 * MINUTE;
    #[doc = " How many client connections may be open."]
    connections: usize = "connections" Count 20_000, 1, 1_000_000;
    #[doc = " How many child processes may run."]
    children: usize = "children" Count 256, 0, 10_000;
    #[doc = " How long a child process gets after its input was closed, and again after SIGTERM, before the next step."]
    child_stop_timeout: Duration = "childStopTimeout" Time 2 * SECOND, 100, MINUTE;
    #[doc = " How much of a child's error output is kept to be shown."]
    stderr_ring: usize = "stderrRing" Bytes 64 * KIB, KIB, 16 * MIB;
}

impl JsonSchema for Limits {
    fn schema_name() -> Cow<'static, str> {
        "Limits".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> =
            Self::ROWS.iter().map(|row| (row.key.to_owned(), row_schema(row))).collect();
        json_schema!({
            "type": "object",
            "description": "How much of everything is too much. Bytes are a number or `64KiB`, `4MiB`; times are a \
                            number of seconds or `500ms`, `10s`, `30m`, `1h`.",
            "additionalProperties": false,
            "properties": properties,
        })
    }
}

fn row_schema(row: &LimitRow) -> Value {
    let description = format!(
        "{} Default {}, from {} to {}.",
        row.about.trim(),
        row.unit.show(row.default),
        row.unit.show(row.least),
        row.unit.show(row.most)
    );
    match row.unit {
        Unit::Count => json!({
            "description": description, "type": "integer",
            "minimum": row.least, "maximum": row.most, "default": row.default,
        }),
        Unit::Bytes => json!({
            "description": description, "type": ["integer", "string"],
            "minimum": row.least, "maximum": row.most, "pattern": units::BYTES_PATTERN,
            "default": row.unit.show(row.default),
        }),
        Unit::Time => json!({
            "description": description, "type": ["number", "string"], "pattern": units::TIME_PATTERN,
            "default": row.unit.show(row.default),
        }),
    }
}
