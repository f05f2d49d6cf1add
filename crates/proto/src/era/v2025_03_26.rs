//! MCP 2025-03-26: the first version with Streamable HTTP, and the only one with batches.

use super::row::{
    Asks, Elicitation, Era, HANDSHAKE_METHODS, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle,
    SYSLOG_LEVELS, Shapes, Structured, Tasks, Web,
};
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2025-03-26",
    aliases: &[],
    numeric: false,
    offered: "2025-03-26",
    lifecycle: Lifecycle::Handshake,
    web: Web::Streamable,
    batches: true,
    version_header: false,
    mirrored_headers: false,
    primes_streams: false,
    resumable: true,
    disconnect_cancels: false,
    asks: Asks::Requests,
    invalid_arguments: InvalidArguments::Error,
    resource_not_found: code::RESOURCE_NOT_FOUND,
    typed_results: false,
    methods: HANDSHAKE_METHODS,
    statuses: HANDSHAKE_STATUSES,
    shapes: &SHAPES,
};

/// The contents of this era's messages.
static SHAPES: Shapes = Shapes {
    tool_content: &["text", "image", "audio", "resource"],
    prompt_content: &["text", "image", "audio", "resource"],
    sampling_content: &["text", "image", "audio"],
    tool_result: false,
    structured: Structured::None,
    strict: false,
    described: false,
    annotations: true,
    elicitation: Elicitation::None,
    sampling_tools: false,
    model_preferences: true,
    stop_reasons: &[],
    roots: true,
    completions_declared: true,
    completion_context: false,
    templates_in_resources: false,
    pages: true,
    levels: SYSLOG_LEVELS,
    cancellation: true,
    extensions: false,
    instructions: true,
    tasks: Tasks::None,
    url_error: false,
};
