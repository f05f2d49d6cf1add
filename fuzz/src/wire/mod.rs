//! Checks of the protocol's parsers: streams, headers, JSON. The property tests of `dragoman-proto` include this file.

pub mod headers;
pub mod lines;
pub mod reference;
pub mod scanner;
pub mod splice;
pub mod sse;

use bytes::Bytes;

/// The division of a stream into chunks, and the decoder's limit.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The decoder's limit in bytes.
    pub limit: usize,
    /// The sizes of the chunks, which are used in turn; if empty, the stream is one chunk.
    pub sizes: Vec<u8>,
}

impl Cut {
    /// Reads a cut from the beginning of the fuzzer's bytes; also returns the remaining bytes.
    pub fn take(input: &[u8]) -> (Self, &[u8]) {
        let [limit, count, rest @ ..] = input else {
            return (Self { limit: 16, sizes: Vec::new() }, input);
        };
        let (sizes, rest) = rest.split_at(rest.len().min(usize::from(count % 8)));
        (Self { limit: usize::from(*limit), sizes: sizes.to_vec() }, rest)
    }

    /// Divides a stream into chunks.
    pub fn chunks(&self, stream: &[u8]) -> Vec<Bytes> {
        let mut rest = Bytes::copy_from_slice(stream);
        let mut chunks = Vec::new();
        for size in self.sizes.iter().cycle() {
            if rest.is_empty() {
                return chunks;
            }
            chunks.push(rest.split_to(usize::from(*size).max(1).min(rest.len())));
        }
        chunks.push(rest);
        chunks
    }
}
