//! The settings about callers: who they are, what they may use, and how often they may call. This module must not know servers or
//! profiles, beyond their names.
//!
//! | file | is for |
//! |---|---|
//! | [`auth`] | `auth`: the ways in which callers authenticate |
//! | [`access`] | `access`: the callers that may use tools, prompts and resources |
//! | [`rates`] | `rateLimits`, and the rate limits inside other sections |
//! | [`trusted_proxies`] | `trustForwardedFor`: the proxies that are trusted to name the client |

pub(crate) mod access;
pub(crate) mod auth;
pub(crate) mod rates;
pub(crate) mod trusted_proxies;
