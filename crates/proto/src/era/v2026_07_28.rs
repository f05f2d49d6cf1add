//! MCP 2026-07-28: no handshake and no session; each request carries its own metadata.

use super::row::{Asks, Era, InvalidArguments, Lifecycle};
use crate::mcp::Method;
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2026-07-28",
    lifecycle: Lifecycle::Stateless,
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
};
