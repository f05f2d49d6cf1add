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
//! | `spans` | these facts as two spans, named as in the OpenTelemetry conventions for MCP |
//! | `export_request` | spans as the bytes that collectors read |
//! | `tracer` | the decision about each request, and the queue of traced requests |

mod context;
mod export_request;
mod ids;
mod sampler;
mod settings;
mod spans;
#[cfg(test)]
mod tests;
mod traced_request;
mod tracer;

pub(crate) use context::TraceContext;
pub(crate) use settings::TraceSettings;
pub(crate) use traced_request::{TracedEnd, TracedPeer, TracedRequest};
pub(crate) use tracer::Tracer;
