//! Tokens from issuers: JWT (RFC 7519) as access tokens (RFC 9068), verified with the keys of their issuers.
//!
//! A token can only select from what the configuration allows: a configured issuer, one of that issuer's keys, and an
//! algorithm that both the issuer and the key permit. `none` and shared secrets (`HS…`) are not implemented, so neither
//! can be confused with public keys.
//!
//! | file | is for |
//! |---|---|
//! | `algorithm` | the supported signature algorithms |
//! | `keys` | an issuer's public keys (RFC 7517) |
//! | `discovery` | the address of an issuer's keys (RFC 8414, OpenID Connect Discovery) |
//! | `issuer` | one issuer: its keys, fetched and cached |

mod algorithm;
mod discovery;
mod issuer;
mod keys;
#[cfg(test)]
mod vectors;

pub(super) use issuer::Issuer;
