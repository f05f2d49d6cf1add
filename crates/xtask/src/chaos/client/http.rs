//! One HTTP/1.1 exchange on its own connection, with a deadline. This module must not know MCP.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The maximum length of a head, and of a line in an event stream.
const LINE: u64 = 64 << 20;

/// The length of the part of a body that is kept when the rest is only counted.
const SKIMMED: u64 = 4 << 10;

/// A request's parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a str,
}

/// An answer whose body has not been read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<Body>,
    /// The id of the last event that had one.
    last_id: Option<String>,
}

/// A body without its framing.
#[derive(Debug)]
struct Body {
    input: BufReader<TcpStream>,
    framing: Framing,
    /// The number of remaining bytes of the body, or of the chunk.
    left: u64,
    ended: bool,
    deadline: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// Sends a request and reads the head of its answer; the whole exchange ends at the deadline.
pub(crate) fn exchange(address: SocketAddr, sent: &Sent<'_>, deadline: Instant) -> io::Result<Reply> {
    let mut stream = TcpStream::connect_timeout(&address, left(deadline)?)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(left(deadline)?))?;
    let Sent { method, path, headers, body } = sent;
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in *headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
    let input = BufReader::new(stream);
    let mut body = Body { input, framing: Framing::UntilClose, left: 0, ended: false, deadline };
    let (status, headers) = body.head()?;
    Ok(Reply { status, headers, body: BufReader::new(body), last_id: None })
}

impl Reply {
    /// The value of a header, whose name is given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }

    /// All values of a header, whose name is given in lower case.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(its, _)| its == name).map(|(_, value)| value.as_str())
    }

    /// Returns true if the body is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// Reads the whole body and keeps only its beginning; returns the beginning and the length of the body.
    pub(crate) fn skim(&mut self) -> io::Result<(String, u64)> {
        let mut beginning = Vec::new();
        let kept = self.body.by_ref().take(SKIMMED).read_to_end(&mut beginning)?;
        let rest = io::copy(&mut self.body, &mut io::sink())?;
        Ok((String::from_utf8_lossy(&beginning).into_owned(), kept as u64 + rest))
    }

    /// The whole body as text.
    pub(crate) fn text(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.body.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The next event with data: its name and its data; `None` at the end of the stream.
    pub(crate) fn event(&mut self) -> io::Result<Option<(String, String)>> {
        let (mut name, mut data) = (String::new(), None::<String>);
        loop {
            let mut line = Vec::new();
            if self.body.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                if let Some(data) = data.take().filter(|data| !data.is_empty()) {
                    return Ok(Some((name, data)));
                }
                name.clear();
            } else if let Some(value) = field(line, "data") {
                let data = data.get_or_insert_default();
                data.extend([if data.is_empty() { "" } else { "\n" }, value]);
            } else if let Some(value) = field(line, "event") {
                value.clone_into(&mut name);
            } else if let Some(value) = field(line, "id") {
                self.last_id = Some(value.to_owned());
            }
        }
    }

    /// The id of the last event that had one.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// A handle for any thread to end the connection.
    pub(crate) fn closer(&self) -> io::Result<TcpStream> {
        self.body.get_ref().input.get_ref().try_clone()
    }
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let value = line.strip_prefix(name)?.strip_prefix(':')?;
    Some(value.strip_prefix(' ').unwrap_or(value))
}

/// The time that is left until a deadline.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

impl Body {
    fn head(&mut self) -> io::Result<(u16, Vec<(String, String)>)> {
        loop {
            let first = self.line()?;
            let status = first.split_ascii_whitespace().nth(1).and_then(|code| code.parse::<u16>().ok());
            let status = status.ok_or_else(|| io::Error::other(format!("no HTTP answer: {first:?}")))?;
            let mut headers = Vec::new();
            loop {
                let line = self.line()?;
                let Some((name, value)) = line.split_once(':') else { break };
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            if status < 200 {
                continue;
            }
            let value =
                |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
            if value("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
                self.framing = Framing::Chunked;
            } else if let Some(length) = value("content-length").and_then(|length| length.parse().ok()) {
                (self.framing, self.left) = (Framing::Length, length);
            }
            self.ended = status == 204 || status == 304;
            return Ok((status, headers));
        }
    }

    /// The next line of the connection, without its line end.
    fn line(&mut self) -> io::Result<String> {
        self.input.get_ref().set_read_timeout(Some(left(self.deadline)?))?;
        let mut line = String::new();
        if self.input.by_ref().take(LINE).read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

impl Read for Body {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.framing == Framing::Chunked && self.left == 0 && !self.ended {
            let size = self.line()?;
            let digits = size.split(';').next().unwrap_or_default().trim();
            self.left =
                u64::from_str_radix(digits, 16).map_err(|_| io::Error::other("a chunk has no size"))?;
            self.ended = self.left == 0;
        }
        if self.ended || (self.framing != Framing::UntilClose && self.left == 0) {
            return Ok(0);
        }
        self.input.get_ref().set_read_timeout(Some(left(self.deadline)?))?;
        if self.framing == Framing::UntilClose {
            return self.input.read(space);
        }
        let most = usize::try_from(self.left).map_or(space.len(), |left| left.min(space.len()));
        let read = self.input.read(&mut space[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        if self.framing == Framing::Chunked && self.left == 0 {
            self.line()?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::{Sent, exchange};
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::time::{Duration, Instant};

    /// A server that answers one connection with these bytes and closes it.
    fn serve(bytes: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 1024];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(bytes.as_bytes());
        });
        address
    }

    const GET: Sent<'_> = Sent { method: "GET", path: "/", headers: &[], body: "" };

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn bodies_are_read_in_every_framing() {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nhi",
        ] {
            let mut reply = exchange(serve(bytes), &GET, soon()).unwrap();
            assert_eq!((reply.status, reply.text().unwrap().as_str()), (200, "hi"), "{bytes}");
        }
        let cut = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi";
        assert!(exchange(serve(cut), &GET, soon()).unwrap().text().is_err());
    }

    #[test]
    fn events_are_read_one_by_one() {
        let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\nid: 1\ndata:\n\nevent: endpoint\ndata: /x\n\ndata: a\ndata: b\n\n";
        let mut reply = exchange(serve(events), &GET, soon()).unwrap();
        assert!(reply.is_stream());
        assert_eq!(reply.event().unwrap(), Some(("endpoint".into(), "/x".into())));
        assert_eq!(reply.last_id(), Some("1"));
        assert_eq!(reply.event().unwrap(), Some((String::new(), "a\nb".into())));
        assert_eq!(reply.event().unwrap(), None);
    }
}
