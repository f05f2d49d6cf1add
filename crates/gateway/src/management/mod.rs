//! The operations of the management API on the running gateway. This module must not know HTTP.
//!
//! | file | is for |
//! |---|---|
//! | [`edit`] | a manager's change, passed to the task that applies it |
//! | [`definitions`] | reviews and approvals of tools' definitions |
//! | [`shared_definitions`] | approvals that the gateways of a cluster share |
//! | [`changes_file`] | the file of stored changes |
//! | [`restart`] | restarts of servers |
//! | [`admin_link`] | one-time links to the operators' pages |
//! | [`logins`] | operators' logins, at one gateway or in a cluster |
//! | [`operator`] | the entries for an operator's request in the log and in the record |
//! | [`audit`] | the record of configuration changes |

pub mod admin_link;
pub mod audit;
pub(crate) mod changes_file;
pub mod definitions;
pub mod edit;
pub mod logins;
pub mod operator;
pub mod restart;
pub(crate) mod shared_definitions;
