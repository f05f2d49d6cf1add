//! The settings for the client side: where the gateway is served, and its upper bounds. This module must not know how clients are
//! served.
//!
//! | file | is for |
//! |---|---|
//! | [`listen`], [`tls`] | the addresses to listen on, and their files for TLS |
//! | [`endpoints`] | additional paths at which a profile is served |
//! | [`limits`] | upper bounds on sizes, counts and times |

pub(crate) mod endpoints;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod tls;
