//! Pairs of names and values in URLs and forms (WHATWG URL, application/x-www-form-urlencoded). This module must not
//! know their meaning.

/// The maximum length of a query that is read, in bytes.
pub(super) const LONGEST: usize = 16 << 10;

/// Returns the pairs, joined to a query.
pub fn joined(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

/// Returns a text in which all special characters of URLs are encoded.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
    out
}

/// Returns the pairs in a query; none if the query is too long.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    if query.len() > LONGEST { Vec::new() } else { form_pairs(query) }
}

/// Returns the pairs in the body of a form, whose length the caller has limited.
pub fn form_pairs(form: &str) -> Vec<(String, String)> {
    let parts = form.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(n, v)| (decoded(n), decoded(v)))
        .collect()
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                out.push(code);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_are_read_as_browsers_write_them() {
        let read =
            |query: &str| pairs(query).into_iter().map(|(n, v)| format!("{n}|{v}")).collect::<Vec<_>>();
        assert_eq!(read("a=1+2&b=%C3%A6%2&&c&=d&a=%zz"), ["a|1 2", "b|æ%2", "c|", "|d", "a|%zz"]);
        assert_eq!(read(&"a=1&".repeat(LONGEST)), [""; 0]);
    }

    proptest! {
        #[test]
        fn what_is_joined_is_read_again(all in proptest::collection::vec((".{1,8}", ".{0,8}"), 0..5)) {
            let written: Vec<(&str, &str)> = all.iter().map(|(n, v)| (&**n, &**v)).collect();
            prop_assert_eq!(pairs(&joined(&written)), all);
        }

        #[test]
        fn any_query_is_read(query in ".{0,80}") {
            pairs(&query);
        }
    }
}
