//! The two ends of a speed measurement: a fast upstream and a load generator that checks every answer.
//!
//! Both run on one thread and do as little per call as possible, so that the cost of a gateway between them is visible. They
//! share no code with the gateway, so a fault of the gateway cannot hide behind the same fault here.

mod json;
pub mod load;
mod payload;
pub mod upstream;

pub use payload::payload_text;

/// Raises this process's limit of open files to the maximum that it may have.
///
/// A thousand sessions need two thousand sockets, and shells often allow 1024.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Without the higher limit, a large run later fails with "too many open files", which is a clear message.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
