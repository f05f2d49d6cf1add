//! Decimal numbers in JSON's notation, compared by value without rounding.

use std::iter::Chain;
use std::slice::Iter;

/// A number, independent of its spelling: 0.`digits` × 10^`point`. The first and the last digit are not zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal<'a> {
    negative: bool,
    point: i64,
    /// The digits in two parts, since a decimal point may separate them in the text.
    digits: (&'a [u8], &'a [u8]),
}

impl<'a> Decimal<'a> {
    /// Reads a JSON number (RFC 8259, section 6); `None` for anything else and for exponents of more than 15 digits.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let (negative, rest) = strip(text, |byte| byte == b'-');
        let (whole, rest) = digits(rest);
        if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') {
            return None;
        }
        let (dot, rest) = strip(rest, |byte| byte == b'.');
        let (fraction, rest) = if dot { digits(rest) } else { (&rest[..0], rest) };
        if dot && fraction.is_empty() {
            return None;
        }
        let exponent = exponent(rest)?;
        Some(Self::normal(negative, whole, fraction, exponent))
    }

    fn normal(negative: bool, whole: &'a [u8], fraction: &'a [u8], exponent: i64) -> Self {
        let length = |digits: &[u8]| i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let not_zero = |digit: &u8| *digit != b'0';
        let end = |digits: &[u8]| digits.iter().rposition(not_zero).map_or(0, |last| last + 1);
        let fraction = &fraction[..end(fraction)];
        if whole != b"0" {
            let kept = if fraction.is_empty() { end(whole) } else { whole.len() };
            let point = exponent.saturating_add(length(whole));
            return Self { negative, point, digits: (&whole[..kept], fraction) };
        }
        match fraction.iter().position(not_zero) {
            Some(zeros) => {
                let point = exponent.saturating_sub(length(&fraction[..zeros]));
                Self { negative, point, digits: (&[], &fraction[zeros..]) }
            }
            None => Self { negative: false, point: 0, digits: (&[], &[]) },
        }
    }

    fn digits(self) -> Chain<Iter<'a, u8>, Iter<'a, u8>> {
        self.digits.0.iter().chain(self.digits.1)
    }

    /// The value if it is an integer from −2⁵³+1 to 2⁵³−1, a range that every JSON parser represents exactly.
    pub(super) fn safe_integer(self) -> Option<i64> {
        let count = self.digits().count();
        let places = usize::try_from(self.point).ok()?;
        if places < count || places > 16 {
            return None;
        }
        let zeros = std::iter::repeat_n(&b'0', places - count);
        let value = self.digits().chain(zeros).fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        (value < 1 << 53).then_some(if self.negative { -value } else { value })
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.negative == other.negative && self.point == other.point && self.digits().eq(other.digits())
    }
}

fn strip(text: &[u8], wanted: impl Fn(u8) -> bool) -> (bool, &[u8]) {
    match text.split_first() {
        Some((&first, rest)) if wanted(first) => (true, rest),
        _ => (false, text),
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// Reads the exponent, which may be absent, up to the end of the text.
fn exponent(text: &[u8]) -> Option<i64> {
    let (marked, rest) = strip(text, |byte| matches!(byte, b'e' | b'E'));
    if !marked {
        return text.is_empty().then_some(0);
    }
    let (negative, rest) = strip(rest, |byte| byte == b'-');
    let rest = if negative { rest } else { strip(rest, |byte| byte == b'+').1 };
    let (written, rest) = digits(rest);
    let first = written.iter().position(|digit| *digit != b'0').unwrap_or(written.len());
    if written.is_empty() || !rest.is_empty() || written.len() - first > 15 {
        return None;
    }
    let value = written[first..].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    Some(if negative { -value } else { value })
}
