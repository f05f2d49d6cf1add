//! One HTTP request on its own connection. This module must not know the server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Returns true if an answer has this status.
pub(crate) fn is(answer: &[u8], status: u16) -> bool {
    answer.get(8..12) == Some(format!(" {status}").as_bytes())
}

/// Sends one request, and reads its answer to the end, so that no server logs a reset connection. `headers`
/// includes the end of each header line.
pub(crate) fn ask(address: SocketAddr, what: &str, headers: &str, body: &str) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let length = body.len();
    let head = format!("{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}");
    let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
    let mut answer = Vec::new();
    stream.write_all(request.as_bytes()).ok()?;
    stream.take(64 << 10).read_to_end(&mut answer).ok()?;
    Some(answer)
}
