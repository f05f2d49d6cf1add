//! MCP 2025-03-26: the first with Streamable HTTP, and the only one with batches.

use super::row::{Asks, Era, HANDSHAKE_METHODS, HANDSHAKE_STATUSES, InvalidArguments, Lifecycle};
use crate::rpc::code;

/// The row of this era.
pub static ROW: Era = Era {
    version: "2025-03-26",
    lifecycle: Lifecycle::Handshake,
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
};
