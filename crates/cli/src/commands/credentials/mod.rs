//! The credentials in the state folder and the configuration. This module must not know how a caller shows them.
//!
//! | file | is for |
//! |---|---|
//! | [`key`] | API keys |
//! | [`user`] | names with passwords for `auth.users` |
//! | [`keyring`] | the keys that seal the ids of sessions and the states of clients |

pub(crate) mod key;
pub(crate) mod keyring;
pub(crate) mod user;
