//! The context of a trace, in the form that messages contain in `traceparent` (W3C Trace Context, level 1).

/// The length of a `traceparent` of version 00.
const LENGTH: usize = 55;

/// A span of a trace, as identified by the sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    /// The id of the trace.
    pub(crate) trace: [u8; 16],
    /// The id of the sender's span.
    pub(crate) span: [u8; 8],
    /// True if the sender records the trace.
    pub(crate) is_sampled: bool,
}

impl TraceContext {
    /// Reads a `traceparent`; `None` if it is invalid. A new trace then begins.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let version = hex::<1>(text.get(..2)?)?[0];
        // Later versions may add fields at the end.
        let is_whole = match version {
            0 => text.len() == LENGTH,
            0xff => false,
            _ => text.len() == LENGTH || text.get(LENGTH) == Some(&b'-'),
        };
        let dashes = [2, 35, 52].into_iter().all(|at| text.get(at) == Some(&b'-'));
        if !is_whole || !dashes {
            return None;
        }
        let (trace, span) = (hex(&text[3..35])?, hex(&text[36..52])?);
        let is_sampled = hex::<1>(&text[53..55])?[0] & 1 == 1;
        (trace != [0; 16] && span != [0; 8]).then_some(Self { trace, span, is_sampled })
    }

    /// Returns the `traceparent` of this context.
    pub(crate) fn traceparent(&self) -> [u8; LENGTH] {
        let mut text = *b"00-00000000000000000000000000000000-0000000000000000-00";
        write_hex(&mut text[3..35], &self.trace);
        write_hex(&mut text[36..52], &self.span);
        text[54] = b'0' + u8::from(self.is_sampled);
        text
    }
}

fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    // Upper case is invalid.
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Writes bytes as hexadecimal digits.
pub(super) fn write_hex(text: &mut [u8], bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        (pair[0], pair[1]) = (DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]);
    }
}
