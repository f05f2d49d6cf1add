//! The format of the log: lines for people, or one JSON object per line for programs. This module must not know which events are
//! logged.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use config::LogFormat;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope};

/// The environment variable that contains the format: `pretty`, `json` or `auto`.
pub(crate) const VARIABLE: &str = "DRAGOMAN_LOG_FORMAT";

/// True if events are written as JSON. The configuration, which is read after the log has started, may change this.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Chooses the format from now on. `auto` is JSON for a gateway whose log is not shown on a terminal.
pub(crate) fn choose(format: LogFormat, serves: bool, is_terminal: bool) {
    let is_json = match format {
        LogFormat::Auto => serves && !is_terminal,
        LogFormat::Pretty => false,
        LogFormat::Json => true,
    };
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// Returns true if events are written as JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// The chosen format of events.
pub(crate) struct EventFormat<T>(pub(crate) Format<Full, T>);

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
        if !is_json() {
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
        writeln!(writer, "{}", plain(&Value::Object(line).to_string()))
    }
}

/// Returns true for a character that JSON allows, but that changes how a terminal or an editor shows the text after it: control
/// characters, direction marks, line endings.
fn is_unseen(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(one, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a JSON text in which unseen characters are escaped. They occur only in strings.
fn plain(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for one in json.chars() {
        if is_unseen(one) {
            // Writing to a string does not fail.
            let _ = write!(text, "\\u{:04x}", u32::from(one));
        } else {
            text.push(one);
        }
    }
    text
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::plain;

    #[test]
    fn characters_that_nobody_sees_are_escaped_and_stay_the_same_text() {
        let said = "a\u{7f}b\u{9b}31m\u{202e}c\u{2066}d\u{2028}e\u{200f}f\n\u{1b}[0m \u{e4}";
        let text = plain(&json!({ said: said }).to_string());
        assert!(text.chars().all(|one| !super::is_unseen(one)), "{text:?}");
        assert!(
            text.contains("a\\u007fb\\u009b31m\\u202ec\\u2066d\\u2028e\\u200ff") && text.contains('\u{e4}'),
            "{text}"
        );
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read[said], said);
    }
}
