//! Traces of requests for OpenTelemetry: which requests are traced, and which facts are recorded. A request that is
//! not traced costs one branch. This module must not know views, sessions or HTTP.
//!
//! | file | is for |
//! |---|---|
//! | `context` | the context of a trace, as messages carry it (W3C Trace Context) |
//! | `ids` | random numbers for traces and spans |
//! | `sampler` | the decision whether a request is traced |
//! | `settings` | the environment variables of OpenTelemetry that concern traces |
//! | `traced_request` | the facts about a traced request |
//! | `operation` | the facts that many requests have in common, and the last operations of a thread |
//! | `span_template` | a span as bytes, named as in the OpenTelemetry conventions for MCP |
//! | `span_batch` | the spans of requests that have ended, as the body that collectors read |
//! | `tracer` | the decision about each request, and the queue of spans |

mod context;
mod ids;
mod operation;
mod sampler;
mod settings;
mod span_batch;
mod span_template;
#[cfg(test)]
mod tests;
mod traced_request;
mod tracer;

pub(crate) use context::{TraceContext, hex_digits};
pub(crate) use operation::{OperationFacts, TracedOperation, TracedPeer};
pub(crate) use settings::TraceSettings;
pub(crate) use span_batch::SpanBatch;
pub(crate) use traced_request::{TraceIds, TracedEnd, TracedRequest};
pub(crate) use tracer::Tracer;
