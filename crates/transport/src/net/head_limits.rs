//! The minimum cap on the head of a request or an answer. It must not know which of the two it limits.

/// The size of hyper's smallest buffer, in bytes. With a smaller cap, the limit would depend on how the bytes happen
/// to arrive.
pub(super) const LEAST_HEADER: usize = 8 * 1024;
