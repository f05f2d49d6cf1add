//! Tokens that others sign: JWT (RFC 7519) as access tokens (RFC 9068), checked with the keys of their issuers.
//!
//! What a token says about itself only chooses among what the configuration allows: its issuer among the configured
//! ones, its key among that issuer's, its algorithm among those that the issuer and that key are for. There is no code
//! for `none` and for shared secrets (`HS…`), so nothing can be confused with them.
//!
//! | file | is for |
//! |---|---|
//! | `algorithm` | the signature algorithms that there are |
//! | `keys` | an issuer's public keys (RFC 7517) |
//! | `discovery` | where an issuer's keys are (RFC 8414, OpenID Connect Discovery) |
//! | `issuer` | one issuer: its keys, fetched and kept |

mod algorithm;
mod discovery;
mod issuer;
mod keys;
#[cfg(test)]
mod vectors;

pub(super) use issuer::Issuer;
