//! Reads HTTP/1.1 requests from a connection.

use std::io::{self, BufRead, Read};

const HEAD: u64 = 64 << 10;
const BODY: u64 = 256 << 20;

/// One request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// True if the connection is to be closed after the answer.
    pub(super) close: bool,
    pub(super) body: Vec<u8>,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

impl Request {
    /// The value of a header, whose name is given in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }
}

/// The next request; `None` if the connection was closed between two requests. `proceed` is called if the client
/// waits for permission to send the body.
pub(super) fn read(
    input: &mut impl BufRead,
    proceed: impl FnOnce() -> io::Result<()>,
) -> io::Result<Option<Request>> {
    let mut head = input.by_ref().take(HEAD);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut request = Request::default();
    let mut words = line.split_ascii_whitespace();
    request.method = words.next().unwrap_or_default().to_owned();
    request.close = words.nth(1) == Some("HTTP/1.0");
    let (mut length, mut chunked, mut expects) = (0, false, false);
    loop {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.split_once(':') else { break };
        let value = value.trim();
        let name = name.to_ascii_lowercase();
        request.headers.push((name.clone(), value.to_owned()));
        match name.as_str() {
            "content-length" => {
                length = value.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            }
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => request.close |= value.eq_ignore_ascii_case("close"),
            "expect" => expects = true,
            _ => {}
        }
    }
    if expects {
        proceed()?;
    }
    if chunked {
        read_chunks(input, &mut request.body)?;
    } else {
        read_exactly(input, length, &mut request.body)?;
    }
    Ok(Some(request))
}

fn read_chunks(input: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        input.by_ref().take(HEAD).read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        read_exactly(input, size, body)?;
        // The line end after a chunk; trailers may follow the last chunk.
        loop {
            line.clear();
            let count = input.by_ref().take(HEAD).read_line(&mut line)?;
            if count == 0 || line.trim_end().is_empty() {
                break;
            }
        }
        if size == 0 {
            return Ok(());
        }
    }
}

fn read_exactly(input: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if length + body.len() as u64 > BODY {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let read = input.by_ref().take(length).read_to_end(body)?;
    if read as u64 == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
