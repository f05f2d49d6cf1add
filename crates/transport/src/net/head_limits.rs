//! The smallest cap on the head of a request or an answer. It must not know whose it is.

/// hyper's smallest buffer; a smaller cap on a head would depend on how its bytes happen to arrive.
pub(super) const LEAST_HEADER: usize = 8 * 1024;
