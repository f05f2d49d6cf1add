//! An operator who watches the live traffic of a gateway on its page. This module must not know what the page shows.

use super::plain_http::{ask, is};
use super::service::Service;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// The path of the one-time sign-in link in the startup message.
const LINK: &str = "/admin/enter/";

/// The stream of the page with the live traffic.
const STREAM: &str = "/admin/events/live";

/// The time within which the gateway prints its link, and within which the stream begins.
const BEGINS_WITHIN: Duration = Duration::from_secs(10);

/// The headers that a browser sends with the form of one of the gateway's own pages.
const FORM: &str = "Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\n";

/// An open page; dropping it closes the page.
#[derive(Debug)]
pub(crate) struct Watcher(TcpStream);

impl Watcher {
    /// Uses the one-time link that the gateway prints, and opens the stream of the live page.
    pub(crate) fn open(address: SocketAddr, service: &Service) -> Result<Self, String> {
        let until = Instant::now() + BEGINS_WITHIN;
        let secret = loop {
            let line = service.line(until.saturating_duration_since(Instant::now()))?;
            if let Some((_, rest)) = line.split_once(LINK) {
                break rest
                    .split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter))
                    .next()
                    .unwrap_or_default()
                    .to_owned();
            }
        };
        let answer = ask(address, &format!("POST {LINK}{secret}"), FORM, "")
            .ok_or("no answer to the one-time link")?;
        let text = String::from_utf8_lossy(&answer);
        let cookie = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("set-cookie")
                .then(|| value.trim().split(';').next().unwrap_or_default().to_owned())
        });
        let cookie = cookie
            .filter(|_| is(&answer, 303))
            .ok_or_else(|| format!("the one-time link opens no session: {text}"))?;
        let failed = |error: std::io::Error| format!("the live page does not open: {error}");
        let mut stream = TcpStream::connect(address).map_err(failed)?;
        stream.set_read_timeout(Some(BEGINS_WITHIN)).map_err(failed)?;
        let request = format!(
            "GET {STREAM} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nSec-Fetch-Site: same-origin\r\nCookie: {cookie}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).map_err(failed)?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).map_err(failed)?;
        if !is(&head, 200) {
            return Err(format!("the live page answers {}", String::from_utf8_lossy(&head)));
        }
        stream.set_read_timeout(None).map_err(failed)?;
        let read = stream.try_clone().map_err(failed)?;
        // The thread ends with the connection.
        thread::spawn(move || drained(read));
        Ok(Self(stream))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

/// Reads the whole stream, as a browser does.
fn drained(mut stream: TcpStream) {
    let mut bytes = [0; 16 << 10];
    while stream.read(&mut bytes).is_ok_and(|read| read > 0) {}
}
