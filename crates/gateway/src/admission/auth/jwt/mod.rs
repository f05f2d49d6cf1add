//! Tokens from issuers: JWT (RFC 7519) as access tokens (RFC 9068), verified with the keys of their issuers.
//!
//! A token's own claims only choose among what the configuration allows: its issuer among the configured ones, its key
//! among that issuer's, its algorithm among those of the issuer and that key. There is no code for `none` and for shared
//! secrets (`HS…`), so these cannot be confused with public keys.
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
