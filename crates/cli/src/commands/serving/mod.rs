//! The start of the gateway. This module must not know how it serves: that is `gateway`.
//!
//! | file | is for |
//! |---|---|
//! | [`serve`], [`stdio`] | a gateway for the network; one for the client that starts it |
//! | [`address`] | addresses to listen on, and checks of those that other machines can reach |
//! | [`welcome`], `client_credentials` | the first screen of `serve`; the credentials of clients as it shows them |

pub(crate) mod address;
mod client_credentials;
pub(crate) mod serve;
pub(crate) mod stdio;
pub(crate) mod welcome;
