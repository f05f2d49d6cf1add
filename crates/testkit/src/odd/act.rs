//! What the server does about one request, as data: stdio and HTTP perform it each in their own way.

use std::time::Duration;

/// One step. A request is answered by a list of them, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Send a message.
    Send(String),
    /// Send what is no message.
    Garbage(&'static str),
    /// Send one message that is `head`, so many bytes `x`, and `tail`.
    Huge {
        /// What comes before.
        head: String,
        /// How many bytes.
        bytes: u64,
        /// What comes after.
        tail: String,
    },
    /// Send the first half of a message.
    Half(String),
    /// Write so many bytes to stderr.
    Noise(u64),
    /// Wait, while others are answered.
    Wait(Duration),
    /// Wait without reading anything, so that nobody is answered.
    Deafness(Duration),
    /// Over stdio exit with this code, over HTTP close the connection.
    Die(u8),
    /// Never answer.
    Silence,
}

/// Writes `bytes` times `x`, in large pieces.
pub(super) fn filler(out: &mut impl std::io::Write, bytes: u64) -> std::io::Result<()> {
    let piece = [b'x'; 16 << 10];
    let mut left = bytes;
    while left > 0 {
        let now = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        out.write_all(&piece[..now])?;
        left -= now as u64;
    }
    Ok(())
}

/// The first half of `text`.
pub(super) fn half(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len() / 2]
}

/// Stops this thread, which serves one call or one connection only.
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
