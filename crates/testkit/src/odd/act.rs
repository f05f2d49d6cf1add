//! The server's reaction to one request, as data. The modules for stdio and HTTP each perform it in their own way.

use std::time::Duration;

/// One step. A list of steps, in this order, answers a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Send a message.
    Send(String),
    /// Send something that is not a message.
    Garbage(&'static str),
    /// Send one message that consists of `head`, this number of bytes `x`, and `tail`.
    Huge {
        /// The beginning of the message.
        head: String,
        /// The number of bytes.
        bytes: u64,
        /// The end of the message.
        tail: String,
    },
    /// Send the first half of a message.
    Half(String),
    /// Write this number of bytes to stderr.
    Noise(u64),
    /// Wait, while other requests are answered.
    Wait(Duration),
    /// Wait without reading anything, so no request is answered.
    Deafness(Duration),
    /// Exit with this code over stdio; close the connection over HTTP.
    Die(u8),
    /// Never answer.
    Silence,
}

/// Writes the byte `x` `bytes` times, in large pieces.
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

/// Blocks this thread, which serves only one call or one connection.
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
