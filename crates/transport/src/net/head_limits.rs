//! The smallest cap on the head of a request or an answer. It must not know whose it is.

/// hyper's smallest buffer; with a smaller cap, the limit would depend on how the bytes happen to arrive.
pub(super) const LEAST_HEADER: usize = 8 * 1024;
