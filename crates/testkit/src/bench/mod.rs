//! The two ends of a speed measurement: a fast upstream and a load generator that checks every answer.
//!
//! Both run on one thread and do as little per call as they can, so that what a gateway between them costs
//! can be seen. They share nothing with the gateway's own code: a fault there must not hide itself here.

mod json;
pub mod load;
mod payload;
pub mod upstream;

pub use payload::payload_text;

/// Raises this process's limit of open files to the most that it may have.
///
/// A thousand sessions need two thousand sockets, and shells often allow 1024.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Without the higher limit a big run fails later with "too many open files", which says enough.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
