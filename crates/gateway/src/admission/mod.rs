//! Identifies callers and limits their requests. This module must not know more about a request than its method and the
//! tool's name.
//!
//! | file | is for |
//! |---|---|
//! | [`auth`], [`door`] | authentication; the configured methods |
//! | [`arrivals`] | requests as they arrive, for operators who connect a client |
//! | [`refused_requests`] | the latest requests that were turned away |
//! | [`admin`] | who may open the operators' pages: one-time links, sessions, lock-outs |
//! | [`audit`] | writes the record of calls |
//! | [`identity`] | the result of authentication |
//! | [`client_label`] | a client's labels in the record of calls |
//! | [`rates`], `refusals` | rate limits, and log lines about refusals |
//! | `rate_counter`, [`count_store`] | the counts behind rate limits; counts that the gateways of a cluster share |

pub mod admin;
pub mod arrivals;
pub mod audit;
pub mod auth;
pub(crate) mod client_label;
pub mod count_store;
pub(crate) mod door;
pub mod identity;
mod rate_counter;
pub mod rates;
mod refusals;
pub mod refused_requests;

pub use identity::Identity;
