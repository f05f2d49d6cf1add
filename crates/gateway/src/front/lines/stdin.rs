//! The lines of stdin. It must not know their content.

use bytes::{Bytes, BytesMut};
use proto::codec::line::LineDecoder;
use tokio::io::AsyncReadExt;

/// The maximum number of bytes that are read in one step.
const CHUNK: usize = 64 << 10;

/// A line, or the reason why it is invalid.
pub(crate) type StdinLine = Result<Bytes, String>;

/// The lines of stdin.
pub(crate) struct Stdin {
    pipe: tokio::io::Stdin,
    decoder: LineDecoder,
    ended: bool,
}

impl Stdin {
    /// Reads the lines of this process's stdin; lines longer than `most` bytes are invalid.
    pub(crate) fn new(most: usize) -> Self {
        Self { pipe: tokio::io::stdin(), decoder: LineDecoder::new(most), ended: false }
    }

    /// Returns the next line, or the reason why it is invalid; `None` after the last line.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<StdinLine>> {
        loop {
            let line = self.decoder.next_line();
            let line = line.or_else(|| if self.ended { self.decoder.finish() } else { None });
            if let Some(line) = line {
                return Ok(Some(line.map_err(|e| format!("{e} (`limits.line` in the configuration)"))));
            }
            if self.ended {
                return Ok(None);
            }
            let mut chunk = BytesMut::with_capacity(CHUNK);
            self.ended = self.pipe.read_buf(&mut chunk).await? == 0;
            self.decoder.push(chunk.freeze());
        }
    }
}
