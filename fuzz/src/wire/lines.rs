//! The line codec, compared with a simple parser of the whole stream.

use bytes::Bytes;
use proto::codec::line::{LineDecoder, LineError};

use super::Cut;

type Line = Result<Bytes, LineError>;

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    let (cut, stream) = Cut::take(input);
    check(stream, &cut);
}

/// Checks that the lines do not depend on how the stream is cut, and that the decoder never holds more than one line of
/// the permitted length.
pub fn check(stream: &[u8], cut: &Cut) {
    let expected = reference(stream, cut.limit);
    for sizes in [&[][..], &[1], &cut.sizes] {
        let cut = Cut { sizes: sizes.to_vec(), limit: cut.limit };
        assert_eq!(decode(stream, &cut), expected, "{cut:?}");
    }
}

fn decode(stream: &[u8], cut: &Cut) -> Vec<Line> {
    let mut decoder = LineDecoder::new(cut.limit);
    let mut lines = Vec::new();
    for chunk in cut.chunks(stream) {
        decoder.push(chunk);
        lines.extend(std::iter::from_fn(|| decoder.next_line()));
        // One more byte, for a CR that may belong to the line ending.
        assert!(decoder.buffered() <= cut.limit + 1);
    }
    lines.extend(std::iter::from_fn(|| decoder.finish()));
    assert_eq!(decoder.buffered(), 0);
    lines
}

fn reference(stream: &[u8], limit: usize) -> Vec<Line> {
    stream
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty())
        .map(|line| {
            if line.len() > limit {
                let beginning = Bytes::copy_from_slice(&line[..limit.min(128)]);
                Err(LineError::TooLong { limit, beginning })
            } else {
                Ok(Bytes::copy_from_slice(line))
            }
        })
        .collect()
}
