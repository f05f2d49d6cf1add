//! The first configuration, and checks of everything that it needs. This module must not know the socket of a running gateway.
//!
//! | file | is for |
//! |---|---|
//! | [`init`] | five questions, and a first configuration file |
//! | [`check`] | the errors of the configuration |
//! | [`doctor`] | the configuration, this machine and all servers |

pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod init;
