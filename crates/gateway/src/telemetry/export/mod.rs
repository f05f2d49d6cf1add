//! The export of telemetry to collectors: OTLP/HTTP with Protocol Buffers. This module must not know what a span or
//! a log record contains.
//!
//! | file | is for |
//! |---|---|
//! | `settings` | the environment variables of OpenTelemetry that every signal has |
//! | `queue` | the queue in front of the sender |
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

pub(super) use envelope::{AttributeValue, attribute, envelope};
pub(super) use protobuf::{Protobuf, bytes_key, fixed64_key};
pub(crate) use queue::ExportQueue;
pub(crate) use sender::{Collector, Export, send_until_stopped};
pub(crate) use settings::ExporterSettings;
pub(super) use settings::{Signal, Variables};
