//! The differences between protocol versions: one row of data for each version, and the few functions that read the
//! rows.
//!
//! Only this module and [`crate::bridge`] know that versions differ. To add a version, add its file and its line in
//! [`ERAS`].

mod detect;
mod envelope;
mod hello;
mod mismatch;
mod results;
mod row;
mod v1;
mod v2024_10_07;
mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

#[cfg(test)]
mod tests;

pub use detect::{EraEvidence, EraFault, detect, is_dated};
pub use envelope::{Envelope, Mirrored, check_notification, read_envelope};
pub use hello::{
    ClientHello, HelloFault, ServerHello, client_hello, discover_request, discover_result, identity,
    initialize_request, initialize_request_exactly, initialize_result, initialized, own_meta,
    refused_but_supported, server_hello, supported_versions,
};
pub use mismatch::{Mismatch, mismatch, mismatch_of_status};
pub use results::{
    CacheHint, CacheScope, CacheableResult, acknowledged, complete, is_input_required, listen_result, notice,
    says_complete,
};
pub use row::{Asks, Elicitation, Era, InvalidArguments, Lifecycle, Shapes, Structured, Tasks, Web};

pub use v1::{DECIMAL as V1_DECIMAL, ROW as V1};
pub use v2024_10_07::ROW as V2024_10_07;
pub use v2024_11_05::ROW as V2024_11_05;
pub use v2025_03_26::ROW as V2025_03_26;
pub use v2025_06_18::ROW as V2025_06_18;
pub use v2025_11_25::ROW as V2025_11_25;
pub use v2026_07_28::ROW as V2026_07_28;

/// Every era that is served, oldest first.
pub static ERAS: [&Era; 7] =
    [&V1, &V2024_10_07, &V2024_11_05, &V2025_03_26, &V2025_06_18, &V2025_11_25, &V2026_07_28];

/// The number of an era: its index among all eras, which never changes.
pub fn number(era: &Era) -> Option<u8> {
    ERAS.iter().position(|one| one.version == era.version).and_then(|place| u8::try_from(place).ok())
}

/// The era with this number.
pub fn by_number(number: u8) -> Option<&'static Era> {
    ERAS.get(usize::from(number)).copied()
}

/// The era with this version string.
pub fn by_version(version: &str) -> Option<&'static Era> {
    ERAS.into_iter().find(|era| era.version == version || era.aliases.contains(&version))
}

/// The newest era that opens with a handshake.
pub fn newest_handshake() -> &'static Era {
    &V2025_11_25
}

/// The newest era without a handshake.
pub fn newest_stateless() -> &'static Era {
    &V2026_07_28
}

/// The version strings that `server/discover` and version errors list.
pub fn stateless_versions() -> impl Iterator<Item = &'static str> {
    ERAS.into_iter().filter(|era| era.lifecycle == Lifecycle::Stateless).map(|era| era.version)
}

/// The era to offer to a client that asks for `version` in a handshake: the requested one if it is known and
/// opens with a handshake, otherwise the newest era with a handshake.
pub fn negotiate(version: &str) -> &'static Era {
    by_version(version).filter(|era| era.lifecycle == Lifecycle::Handshake).unwrap_or(newest_handshake())
}
