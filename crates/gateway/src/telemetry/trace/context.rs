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
        for (digits, half) in text[3..35].as_chunks_mut().0.iter_mut().zip(self.trace.as_chunks().0) {
            *digits = hex_digits(u64::from_be_bytes(*half));
        }
        text[36..52].copy_from_slice(&hex_digits(u64::from_be_bytes(self.span)));
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

/// Returns the hexadecimal digits of a number.
#[inline]
pub(crate) fn hex_digits(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&digits_of_half(number >> 32));
    digits[8..].copy_from_slice(&digits_of_half(number & 0xffff_ffff));
    digits
}

/// Returns the hexadecimal digits of a number below 2^32. All digits are computed at the same time, each in a byte of one
/// number.
#[inline]
fn digits_of_half(number: u64) -> [u8; 8] {
    let mut halves = number;
    halves = (halves | halves << 16) & 0x0000_ffff_0000_ffff;
    halves = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    halves = (halves | halves << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (halves + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (halves + 0x3030_3030_3030_3030 + letters * 0x27).to_be_bytes()
}
