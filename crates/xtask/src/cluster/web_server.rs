//! A small HTTP/1.1 server with a thread for each request, which stands for servers on the network.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The time for which a request may be read or answered.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest accepted body.
const LONGEST: usize = 1 << 20;

/// A request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    /// The credential, without its scheme.
    pub(super) token: String,
    pub(super) body: String,
}

/// An answer: its status, an additional header, and its body.
pub(super) type Said = (u16, String, String);

/// A function from a request and the server's own address to an answer.
type Answering = dyn Fn(&Asked, &str) -> Said + Send + Sync;

/// A server, which runs until it is dropped.
#[derive(Debug)]
pub(super) struct WebServer {
    pub(super) address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl WebServer {
    /// Starts a server that answers like this.
    pub(super) fn start(
        answer: impl Fn(&Asked, &str) -> Said + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (is_over, answer): (_, Arc<Answering>) = (Arc::new(AtomicBool::new(false)), Arc::new(answer));
        let ended = is_over.clone();
        thread::spawn(move || {
            let base = format!("http://{address}");
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (answer, base) = (answer.clone(), base.clone());
                // A client that breaks off concerns nobody else.
                thread::spawn(move || drop(served(stream, &base, &*answer)));
            }
        });
        Ok(Self { address, is_over })
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // This wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn served(stream: TcpStream, base: &str, answer: &Answering) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(stream);
    let asked = read(&mut input)?;
    let (status, header, body) = answer(&asked, base);
    let length = body.len();
    let head = format!("HTTP/1.1 {status} -\r\nContent-Length: {length}\r\nConnection: close\r\n{header}");
    input.get_mut().write_all(format!("{head}Content-Type: application/json\r\n\r\n{body}").as_bytes())
}

fn read(input: &mut BufReader<TcpStream>) -> io::Result<Asked> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut token, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "authorization" => {
                value.trim().split_once(' ').map_or("", |(_, token)| token).clone_into(&mut token);
            }
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut body = vec![0; length.min(LONGEST)];
    input.read_exact(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Asked { method, path: path.to_owned(), query: query.to_owned(), token, body })
}

/// The value of a parameter, as it is written. The parameters that are read here need no decoding.
pub(super) fn parameter<'a>(text: &'a str, name: &str) -> &'a str {
    let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
}
