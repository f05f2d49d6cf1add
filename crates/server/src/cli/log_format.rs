//! The format of the log: lines for people, or one JSON object per line for programs. This module must not know which events are
//! logged.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::config::LogFormat;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope};

/// The environment variable that contains the format: `pretty`, `json` or `auto`.
pub(super) const VARIABLE: &str = "DRAGOMAN_LOG_FORMAT";

/// True if events are written as JSON. The configuration, which is read after the log has started, may change this.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Chooses the format from now on. `auto` is JSON for a gateway whose log is not shown on a terminal.
pub(super) fn choose(format: LogFormat, serves: bool, is_terminal: bool) {
    let is_json = match format {
        LogFormat::Auto => serves && !is_terminal,
        LogFormat::Pretty => false,
        LogFormat::Json => true,
    };
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// The format of events: the chosen one.
pub(super) struct EventFormat<T>(pub(super) Format<Full, T>);

impl<S, N, T> FormatEvent<S, N> for EventFormat<T>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    T: FormatTime,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if !IS_JSON.load(Ordering::Relaxed) {
            return self.0.format_event(context, writer, event);
        }
        let metadata = event.metadata();
        let mut members = EventFields(Map::new());
        event.record(&mut members);
        let mut spans = Vec::new();
        for span in context.event_scope().into_iter().flat_map(Scope::from_root) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>().map_or("", |fields| &fields.fields);
            spans.push(Value::from(format!("{} {fields}", span.name()).trim_end()));
        }
        let mut line = Map::new();
        line.insert("time".to_owned(), json!(Timestamp::now().to_string()));
        line.insert("level".to_owned(), json!(metadata.level().as_str()));
        line.insert("target".to_owned(), json!(metadata.target()));
        if !spans.is_empty() {
            line.insert("spans".to_owned(), spans.into());
        }
        for (name, value) in members.0 {
            let name = if line.contains_key(&name) { format!("field.{name}") } else { name };
            line.insert(name, value);
        }
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// The fields of an event as members of an object.
struct EventFields(Map<String, Value>);

impl EventFields {
    fn insert(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for EventFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.insert(field, value.to_string().into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.insert(field, format!("{value:?}").into());
    }
}
