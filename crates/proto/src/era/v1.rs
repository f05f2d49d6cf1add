//! MCP "1": the version is a number; no pages, no roots, templates listed among the resources, four log levels.

use super::row::{
    Asks, Elicitation, Era, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle, Shapes, Structured, Tasks, Web,
};
use crate::mcp::Method;
use crate::rpc::code;

/// Another spelling of this version, which some systems use.
pub const DECIMAL: &str = "1.0";

/// The row of this era.
pub static ROW: Era = Era {
    version: "1",
    aliases: &[DECIMAL, "1.0.0"],
    numeric: true,
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
    methods: &[
        Method::Initialize,
        Method::Ping,
        Method::ToolsList,
        Method::ToolsCall,
        Method::PromptsList,
        Method::PromptsGet,
        Method::ResourcesList,
        Method::ResourcesRead,
        Method::Subscribe,
        Method::Unsubscribe,
        Method::Complete,
        Method::SetLevel,
    ],
    statuses: HANDSHAKE_STATUSES,
    shapes: &SHAPES,
};

/// The contents of this era's messages.
static SHAPES: Shapes = Shapes {
    tool_content: &["text", "image"],
    prompt_content: &["text", "image"],
    sampling_content: &["text", "image"],
    tool_result: true,
    structured: Structured::None,
    strict: true,
    described: false,
    annotations: false,
    elicitation: Elicitation::None,
    sampling_tools: false,
    model_preferences: false,
    stop_reasons: &["endTurn", "maxTokens", "stopSequence"],
    roots: false,
    completions_declared: false,
    completion_context: false,
    templates_in_resources: true,
    pages: false,
    levels: &["debug", "info", "warning", "error"],
    cancellation: false,
    extensions: false,
    instructions: false,
    tasks: Tasks::None,
    url_error: false,
};
