//! A server used from the terminal. This module must not know how a server is connected: that is `terminal`.
//!
//! | file | is for |
//! |---|---|
//! | [`target`] | the server that a command means, and the steps that these commands share: connect, work, disconnect |
//! | [`list`] | the lists of a server, or one item in detail |
//! | [`call`], [`read`], [`prompt`] | a tool, a resource, a prompt |
//! | [`ping`] | the version of a server, and the time that it takes to answer |

pub(crate) mod call;
pub(crate) mod list;
pub(crate) mod ping;
pub(crate) mod prompt;
pub(crate) mod read;
pub(crate) mod target;
