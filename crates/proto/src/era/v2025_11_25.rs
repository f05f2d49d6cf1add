//! MCP 2025-11-25: streams that can be polled; arguments that do not match the schema yield a tool result.

use super::row::{
    Asks, Elicitation, Era, HANDSHAKE_METHODS, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle,
    SYSLOG_LEVELS, Shapes, Structured, Tasks, Web,
};
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2025-11-25",
    aliases: &[],
    numeric: false,
    offered: "2025-11-25",
    lifecycle: Lifecycle::Handshake,
    web: Web::Streamable,
    batches: false,
    version_header: true,
    mirrored_headers: false,
    primes_streams: true,
    resumable: true,
    disconnect_cancels: false,
    asks: Asks::Requests,
    invalid_arguments: InvalidArguments::ToolResult,
    resource_not_found: code::RESOURCE_NOT_FOUND,
    typed_results: false,
    methods: HANDSHAKE_METHODS,
    statuses: HANDSHAKE_STATUSES,
    shapes: &SHAPES,
};

/// The contents of this era's messages.
static SHAPES: Shapes = Shapes {
    tool_content: &["text", "image", "audio", "resource", "resource_link"],
    prompt_content: &["text", "image", "audio", "resource", "resource_link"],
    sampling_content: &["text", "image", "audio", "tool_use", "tool_result"],
    tool_result: false,
    structured: Structured::Object,
    strict: false,
    described: true,
    annotations: true,
    elicitation: Elicitation::UrlWithId,
    sampling_tools: true,
    model_preferences: true,
    stop_reasons: &[],
    roots: true,
    completions_declared: true,
    completion_context: true,
    templates_in_resources: false,
    pages: true,
    levels: SYSLOG_LEVELS,
    cancellation: true,
    extensions: false,
    instructions: true,
    tasks: Tasks::Experiment,
    url_error: true,
};
