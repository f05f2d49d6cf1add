//! The operations of the management API on the running gateway. This module must not know HTTP.
//!
//! | file | is for |
//! |---|---|
//! | [`edit`] | a manager's change on its way to the task that puts it into force |
//! | [`definitions`] | reviews and approvals of tools' definitions |
//! | [`changes_file`] | the file of stored changes |
//! | [`restart`] | restarts of servers |
//! | [`admin_link`] | one-time links to the operators' pages |
//! | [`operator`] | a request of an operator, on its way to the log and to the record |
//! | [`audit`] | the record of configuration changes |

pub mod admin_link;
pub mod audit;
pub(crate) mod changes_file;
pub mod definitions;
pub mod edit;
pub mod operator;
pub mod restart;
