//! MCP 2025-06-18: version header, elicitation, structured content; no batches any more.

use super::row::{Asks, Era, HANDSHAKE_METHODS, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle};
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2025-06-18",
    lifecycle: Lifecycle::Handshake,
    batches: false,
    version_header: true,
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
};
