//! The lines of stdin. It must not know what they say.

use bytes::{Bytes, BytesMut};
use proto::codec::line::LineDecoder;
use tokio::io::AsyncReadExt;

/// The amount that is read at once.
const CHUNK: usize = 64 << 10;

/// A line, or why it is none.
pub(crate) type Line = Result<Bytes, String>;

/// The lines of stdin.
pub(crate) struct Stdin {
    pipe: tokio::io::Stdin,
    decoder: LineDecoder,
    ended: bool,
}

impl Stdin {
    /// The lines of this process's stdin; longer ones than `most` bytes are none.
    pub(crate) fn new(most: usize) -> Self {
        Self { pipe: tokio::io::stdin(), decoder: LineDecoder::new(most), ended: false }
    }

    /// The next line, or why it is none; `None` after the last one.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
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
