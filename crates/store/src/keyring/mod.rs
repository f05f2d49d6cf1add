//! The key ring: the keys that seal data that clients carry for the gateway, such as ids and states. They are in a file
//! that outlives the process and that several processes read. This module must not know what is sealed.
//!
//! | file | is for |
//! |---|---|
//! | `ring` | the keys in the order of their creation: which one seals, which ones open (pure) |
//! | `key` | sealing and opening with the keys of one purpose (pure) |
//! | `file` | the file: reading it, checking it for changes, and changing it in one process at a time |

mod file;
mod key;
mod ring;

pub use file::RingFile;
pub use key::{Purpose, PurposeKeys};
pub use ring::{FreshKey, KeyState, Ring, RingKey, RingKeyId, Role};

#[cfg(test)]
mod tests;
