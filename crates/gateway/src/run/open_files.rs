//! The limit of open files. This module must not know which code opens files.

/// Raises the limit of open files as far as the system allows, and logs a warning if the limit is still too low.
/// Each connection, from a client or to a server, needs one file.
pub fn may_open_files(connections: usize) {
    match transport::files::raise() {
        Ok(raised) => {
            tracing::info!(from = raised.from, to = raised.to, "raised the limit on open files");
            if raised.to.is_some_and(|most| most < connections as u64) {
                let help = "raise the hard limit (ulimit -Hn, LimitNOFILE=), or lower limits.connections";
                tracing::warn!(
                    files = raised.to,
                    connections,
                    help,
                    "the limit on open files is lower than the limit on connections"
                );
            }
        }
        Err(error) => tracing::warn!(%error, "the limit on open files cannot be raised"),
    }
}
