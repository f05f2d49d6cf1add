//! Keeps the last lines of a gateway's log in memory, from which the management API reads them. This module must not know which
//! events are logged, or who reads them.

use std::fmt::{self, Write as _};

use gateway::telemetry::{LogEntry, PROCESS_LOG};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::moment;

/// Adds each event of the log to the ring. An event that the filter leaves out never gets here.
pub(crate) struct LogRing;

/// The server that a span is about.
struct SpanServer(String);

impl<S> Layer<S> for LogRing
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = LineFields::default();
        attributes.record(&mut fields);
        if let (Some(server), Some(span)) = (fields.server, context.span(id)) {
            span.extensions_mut().insert(SpanServer(server));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = LineFields::default();
        event.record(&mut fields);
        let of_span = || {
            context
                .event_scope(event)?
                .find_map(|span| span.extensions().get::<SpanServer>().map(|server| server.0.clone()))
        };
        let server = fields.server.or_else(of_span).map(Into::into);
        let text = fields.message + &fields.others;
        let metadata = event.metadata();
        PROCESS_LOG.push(LogEntry {
            number: 0,
            at: moment::now(),
            level: *metadata.level(),
            target: metadata.target(),
            server,
            text: text.into(),
        });
    }
}

/// The fields of an event or a span.
#[derive(Default)]
struct LineFields {
    message: String,
    /// The fields other than the message and the server, as ` name=value`.
    others: String,
    server: Option<String>,
}

impl Visit for LineFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "server" => {
                let server = format!("{value:?}");
                self.server = Some(server);
                Ok(())
            }
            name => write!(self.others, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            "server" => self.server = Some(value.to_owned()),
            _ => self.record_debug(field, &value),
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn an_event_is_kept_with_its_fields_and_its_server() {
        let filter = tracing_subscriber::filter::Targets::new().with_default(Level::INFO);
        let subscriber = tracing_subscriber::registry().with(filter).with(LogRing);
        let before = PROCESS_LOG.since(0, Level::TRACE).last;
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(server = %"files", tries = 3, word = "a b", "it {}", "works");
            tracing::debug!("nobody asked for this");
            let span = tracing::error_span!("child", server = "hub");
            span.in_scope(|| tracing::warn!("it ended"));
            tracing::error!(server = ?"x", "last");
        });
        let kept = PROCESS_LOG.since(before, Level::TRACE).lines;
        let told: Vec<_> =
            kept.iter().map(|line| (line.level, line.server.as_deref(), &*line.text)).collect();
        assert_eq!(
            told,
            [
                (Level::INFO, Some("files"), "it works tries=3 word=\"a b\""),
                (Level::WARN, Some("hub"), "it ended"),
                (Level::ERROR, Some("\"x\""), "last"),
            ]
        );
    }
}
