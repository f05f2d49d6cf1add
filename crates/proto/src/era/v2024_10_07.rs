//! MCP 2024-10-07: the first version that is a date; pages, separate templates, roots.

use super::row::{
    Asks, Elicitation, Era, HANDSHAKE_METHODS, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle,
    SYSLOG_LEVELS, Shapes, Structured, Tasks, Web,
};
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2024-10-07",
    aliases: &[],
    numeric: false,
    offered: "2024-11-05",
    lifecycle: Lifecycle::Handshake,
    web: Web::EventStream,
    batches: false,
    version_header: false,
    mirrored_headers: false,
    primes_streams: false,
    resumable: false,
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
    tool_content: &["text", "image", "resource"],
    prompt_content: &["text", "image", "resource"],
    sampling_content: &["text", "image"],
    tool_result: true,
    structured: Structured::None,
    strict: true,
    described: false,
    annotations: false,
    elicitation: Elicitation::None,
    sampling_tools: false,
    model_preferences: true,
    stop_reasons: &[],
    roots: true,
    completions_declared: false,
    completion_context: false,
    templates_in_resources: false,
    pages: true,
    levels: SYSLOG_LEVELS,
    cancellation: false,
    extensions: false,
    instructions: false,
    tasks: Tasks::None,
    url_error: false,
};
