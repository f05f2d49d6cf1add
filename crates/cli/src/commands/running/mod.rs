//! The running gateway. This module must not know how the gateway carries out a request.
//!
//! | file | is for |
//! |---|---|
//! | [`running_gateway`] | requests over the socket in its state folder |
//! | [`status`], [`logs`], [`top`] | its state; the output of its servers; the calls of the last minute |
//! | [`server`], [`profile`] | its servers and profiles, which these commands change |
//! | [`session`], [`consent`] | the sessions of its clients; the consents of its users |
//! | [`admin`] | its admin pages |

pub(crate) mod admin;
pub(crate) mod consent;
pub(crate) mod logs;
pub(crate) mod profile;
pub(crate) mod running_gateway;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod top;
