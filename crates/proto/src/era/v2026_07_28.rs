//! MCP 2026-07-28: no handshake and no session; each request carries its own metadata.

use super::row::{
    Asks, Elicitation, Era, InvalidArguments, Lifecycle, SYSLOG_LEVELS, Shapes, Structured, Tasks, Web,
};
use crate::mcp::Method;
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2026-07-28",
    aliases: &[],
    numeric: false,
    offered: "2026-07-28",
    lifecycle: Lifecycle::Stateless,
    web: Web::Streamable,
    batches: false,
    version_header: true,
    mirrored_headers: true,
    primes_streams: false,
    resumable: false,
    disconnect_cancels: true,
    asks: Asks::InputRequired,
    invalid_arguments: InvalidArguments::ToolResult,
    // Codes from -32002 down to -32019 have no meaning in this era.
    resource_not_found: code::INVALID_PARAMS,
    typed_results: true,
    methods: &[
        Method::Discover,
        Method::ToolsList,
        Method::ToolsCall,
        Method::PromptsList,
        Method::PromptsGet,
        Method::ResourcesList,
        Method::TemplatesList,
        Method::ResourcesRead,
        Method::Listen,
        Method::Complete,
    ],
    statuses: &[
        (code::PARSE_ERROR, 400),
        (code::INVALID_REQUEST, 400),
        (code::METHOD_NOT_FOUND, 404),
        (code::HEADER_MISMATCH, 400),
        (code::MISSING_CAPABILITY, 400),
        (code::UNSUPPORTED_VERSION, 400),
    ],
    shapes: &SHAPES,
};

/// The contents of this era's messages.
static SHAPES: Shapes = Shapes {
    tool_content: &["text", "image", "audio", "resource", "resource_link"],
    prompt_content: &["text", "image", "audio", "resource", "resource_link"],
    sampling_content: &["text", "image", "audio", "tool_use", "tool_result"],
    tool_result: false,
    structured: Structured::Any,
    strict: false,
    described: true,
    annotations: true,
    elicitation: Elicitation::Url,
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
    extensions: true,
    instructions: true,
    tasks: Tasks::Extension,
    url_error: false,
};
