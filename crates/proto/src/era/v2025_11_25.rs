//! MCP 2025-11-25: streams that can be polled; ill-fitting arguments are tool results.

use super::row::{Asks, Era, HANDSHAKE_METHODS, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle};
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2025-11-25",
    lifecycle: Lifecycle::Handshake,
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
};
