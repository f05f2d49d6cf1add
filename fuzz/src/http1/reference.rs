//! A simple parser of a whole answer, line by line. It accepts more heads than the client does, but if both accept a
//! head, it follows the standard (RFC 9112).

use http::Method;

use super::answers::{Answer, Setting};

/// The maximum number of bytes between the chunks of a body.
const OVERHEAD: usize = 16 * 1024;

struct Head<'a> {
    is_newer: bool,
    status: u16,
    lines: Vec<(String, &'a [u8])>,
}

/// Reads the answer; returns `None` if a line of its head is invalid.
pub fn read(stream: &[u8], setting: &Setting) -> Option<Answer> {
    let mut rest = stream;
    let head = loop {
        let head = head(&mut rest)?;
        if !(100..200).contains(&head.status) {
            break head;
        }
    };
    let codings = head.list("transfer-encoding");
    let lengths = head.list("content-length");
    let length = lengths.first().map(|length| number(length, 10).expect("a length is a number"));
    assert!(lengths.iter().all(|one| number(one, 10) == length), "the lengths differ");
    let is_chunked = |coding: &&[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let has_no_body = setting.method == Method::HEAD || matches!(head.status, 204 | 304);
    let mut is_sure = true;
    let (body, left) = if has_no_body {
        (Vec::new(), Some(rest))
    } else if let Some(last) = codings.last() {
        assert!(head.is_newer, "HTTP/1.0 has no codings");
        is_sure = is_chunked(last);
        if is_sure { chunks(rest) } else { (rest.to_vec(), Some(&[][..])) }
    } else if let Some(length) = length {
        let here = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        (rest[..here].to_vec(), (here as u64 == length).then(|| &rest[here..]))
    } else {
        is_sure = false;
        (rest.to_vec(), Some(&[][..]))
    };
    // If two parties could disagree about the end of the body, the connection must not be used again.
    is_sure &= codings.is_empty() || length.is_none();
    is_sure &= !codings.iter().rev().skip(1).any(is_chunked);
    is_sure &= head.status != 204 || (codings.is_empty() && length.is_none_or(|length| length == 0));
    let says =
        |option: &str| head.list("connection").iter().any(|one| one.eq_ignore_ascii_case(option.as_bytes()));
    is_sure &= !setting.closes && !says("close") && (head.is_newer || says("keep-alive"));
    is_sure &= !setting.is_wary || says("keep-alive") || head.tells_how_long();
    let end = left.map(|left| (left.len(), is_sure && left.is_empty()));
    Some(Answer { status: head.status, headers: head.kept(), body, end })
}

impl<'a> Head<'a> {
    /// Returns the elements of a list that may span several headers with the same name.
    fn list(&self, name: &str) -> Vec<&'a [u8]> {
        let lines = self.lines.iter().filter(|(own, _)| own == name);
        lines.flat_map(|(_, value)| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).collect()
    }

    /// Returns true if a header gives the number of seconds for which the connection stays open.
    fn tells_how_long(&self) -> bool {
        self.lines.iter().filter(|(name, _)| name == "keep-alive").any(|(_, value)| {
            let parts = std::str::from_utf8(value).unwrap_or_default().split(',');
            let told = parts.map(str::trim).find_map(|part| part.strip_prefix("timeout="));
            told.is_some_and(|seconds| seconds.trim().parse::<u64>().is_ok())
        })
    }

    fn kept(&self) -> Vec<(String, Vec<u8>)> {
        let ours = ["connection", "keep-alive", "transfer-encoding"];
        let kept = self.lines.iter().filter(|(name, _)| !ours.contains(&name.as_str()));
        let mut kept: Vec<_> = kept.map(|(name, value)| (name.clone(), value.to_vec())).collect();
        kept.sort_by(|(one, _), (other, _)| one.cmp(other));
        kept
    }
}

fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

fn head<'a>(rest: &mut &'a [u8]) -> Option<Head<'a>> {
    let mut first = line(rest)?;
    while first.is_empty() {
        first = line(rest)?;
    }
    let [version @ .., b' ', a, b, c] = first.get(..12)? else { return None };
    let is_newer = match version {
        b"HTTP/1.1" => true,
        b"HTTP/1.0" => false,
        _ => return None,
    };
    let status = std::str::from_utf8(&[*a, *b, *c]).ok()?.parse().ok()?;
    let mut lines = Vec::new();
    loop {
        let line = line(rest)?;
        if line.is_empty() {
            return Some(Head { is_newer, status, lines });
        }
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        if name.is_empty() || !name.iter().all(is_token) || value.iter().any(|byte| b"\r\0".contains(byte)) {
            return None;
        }
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let from = value.iter().position(|byte| !is_blank(byte)).unwrap_or(value.len());
        let to = value.iter().rposition(|byte| !is_blank(byte)).map_or(from, |last| last + 1);
        lines.push((String::from_utf8_lossy(name).to_ascii_lowercase(), &value[from..to]));
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// Returns the joined chunks of a body, and the bytes after it; `None` instead of these if the body is faulty.
fn chunks(stream: &[u8]) -> (Vec<u8>, Option<&[u8]>) {
    let (mut body, mut beside, mut rest) = (Vec::new(), 0, stream);
    loop {
        let Some(line) = strict_line(&mut rest) else { return (body, None) };
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let extension = &line[digits..];
        beside += extension.len().saturating_sub(1);
        let is_apart = matches!(extension, [] | [b';' | b' ' | b'\t', ..]);
        if !(1..=16).contains(&digits) || !is_apart || beside > OVERHEAD {
            return (body, None);
        }
        let Some(size) = number(&line[..digits], 16) else { return (body, None) };
        if size == 0 {
            break;
        }
        let here = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
        body.extend_from_slice(&rest[..here]);
        let Some(after) = rest[here..].strip_prefix(b"\r\n") else { return (body, None) };
        rest = after;
    }
    loop {
        match strict_line(&mut rest) {
            Some([]) => return (body, Some(rest)),
            Some(line) => beside += line.len(),
            None => return (body, None),
        }
        if beside > OVERHEAD {
            return (body, None);
        }
    }
}

/// Returns a line that ends with CR and LF and contains no control characters except tabs.
fn strict_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte < b' ' && *byte != b'\t')?;
    let (line, after) = rest.split_at(end);
    *rest = after.strip_prefix(b"\r\n")?;
    Some(line)
}
