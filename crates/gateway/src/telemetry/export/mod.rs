//! The export of telemetry to collectors: OTLP/HTTP with Protocol Buffers. This module must not know what a span or
//! a log record contains.
//!
//! | file | is for |
//! |---|---|
//! | `settings` | the environment variables of OpenTelemetry that every signal has |
//! | `queue` | the queue in front of the sender, which hands over whole batches |
//! | `sender` | the task that sends batches |
//! | `protobuf` | the wire format |
//! | `envelope` | the parts of a post that every signal has: this program, attributes, the collector's rejection |

mod envelope;
mod protobuf;
mod queue;
mod sender;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use envelope::ResourceAttributes;
pub(super) use envelope::{AttributeValue, ExportBody, attribute};
pub(super) use protobuf::{LENGTH, Protobuf, bytes_key, close, fixed64_key};
pub(crate) use queue::{ExportBatch, ExportQueue};
pub(crate) use sender::{Collector, send_until_stopped};
pub(crate) use settings::ExporterSettings;
pub(super) use settings::{Signal, Variables};
