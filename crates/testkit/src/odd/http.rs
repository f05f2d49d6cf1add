//! The odd upstream over HTTP/1.1: one thread per connection, no runtime.

use std::{
    io::{self, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    act::{self, Act},
    message,
    request::{self, Request},
    server::Server,
};

const CONNECTIONS: usize = 1000;

/// The longest time that a connection may be idle, and that a silent call waits for its client to disconnect.
const PATIENCE: Duration = Duration::from_mins(10);

/// Serves until accepting fails.
pub(super) fn serve(listener: &TcpListener, server: &Arc<Server>) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let (stream, _) = listener.accept()?;
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (server, open) = (server.clone(), open.clone());
        std::thread::spawn(move || {
            // A failed connection is the client's concern.
            let _ = connection(stream, &server);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn connection(mut stream: TcpStream, server: &Server) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut early = stream.try_clone()?;
    while let Some(request) = request::read(&mut input, || early.write_all(b"HTTP/1.1 100 Continue\r\n\r\n"))?
    {
        if answer(&mut stream, server, &request)? == After::Close || request.close {
            break;
        }
    }
    stream.shutdown(Shutdown::Both)
}

/// The decision whether a connection is used again.
#[derive(PartialEq)]
enum After {
    Stay,
    Close,
}

fn answer(out: &mut TcpStream, server: &Server, request: &Request) -> io::Result<After> {
    match request.method.as_str() {
        "POST" => {}
        "DELETE" => return plain(out, "200 OK", ""),
        _ => return plain(out, "405 Method Not Allowed", "Allow: POST, DELETE\r\n"),
    }
    let acts = match std::str::from_utf8(&request.body) {
        Ok(text) => server.answer(text),
        Err(_) => vec![Act::Send(message::error("null", -32700, "this is not UTF-8"))],
    };
    let messages = acts.iter().filter(|act| matches!(act, Act::Send(_) | Act::Huge { .. })).count();
    match messages {
        0 if acts.is_empty() => plain(out, "202 Accepted", ""),
        0 | 1 => single(out, &acts),
        _ => stream(out, &acts),
    }
}

fn plain(out: &mut TcpStream, status: &str, headers: &str) -> io::Result<After> {
    write!(out, "HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\n\r\n")?;
    Ok(After::Stay)
}

fn head(out: &mut TcpStream, kind: &str, length: Option<u64>) -> io::Result<()> {
    let framing =
        length.map_or("Transfer-Encoding: chunked".into(), |length| format!("Content-Length: {length}"));
    // A session for clients that want one; it is never checked.
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-cache\r\nMcp-Session-Id: odd-session\r\n{framing}\r\n\r\n"
    )
}

/// Sends one message as a JSON body, or whatever the acts specify instead of a message.
fn single(out: &mut TcpStream, acts: &[Act]) -> io::Result<After> {
    const JSON: &str = "application/json";
    for act in acts {
        match act {
            Act::Send(message) => {
                head(out, JSON, Some(message.len() as u64))?;
                out.write_all(message.as_bytes())?;
            }
            Act::Garbage(text) => {
                head(out, JSON, Some(text.len() as u64))?;
                out.write_all(text.as_bytes())?;
            }
            Act::Huge { head: before, bytes, tail } => {
                head(out, JSON, Some(before.len() as u64 + bytes + tail.len() as u64))?;
                out.write_all(before.as_bytes())?;
                act::filler(out, *bytes)?;
                out.write_all(tail.as_bytes())?;
            }
            Act::Half(message) => {
                head(out, JSON, Some(message.len() as u64))?;
                out.write_all(act::half(message))?;
            }
            other => {
                if aside(out, other)? == After::Close {
                    return Ok(After::Close);
                }
            }
        }
    }
    Ok(After::Stay)
}

/// Sends several messages as an event stream.
fn stream(out: &mut TcpStream, acts: &[Act]) -> io::Result<After> {
    head(out, "text/event-stream", None)?;
    for act in acts {
        match act {
            Act::Send(message) => {
                // A line break, which can occur in a message only as white space, continues in a further
                // `data` field.
                let data = message.replace("\r\n", "\n").replace(['\n', '\r'], "\ndata: ");
                let event = format!("event: message\ndata: {data}\n\n");
                write!(out, "{:x}\r\n{event}\r\n", event.len())?;
            }
            Act::Huge { head, bytes, tail } => {
                let length = "data: \n\n".len() as u64 + head.len() as u64 + bytes + tail.len() as u64;
                write!(out, "{length:x}\r\ndata: {head}")?;
                act::filler(out, *bytes)?;
                write!(out, "{tail}\n\n\r\n")?;
            }
            other => {
                if aside(out, other)? == After::Close {
                    return Ok(After::Close);
                }
            }
        }
    }
    out.write_all(b"0\r\n\r\n")?;
    Ok(After::Stay)
}

/// Performs acts that send nothing.
fn aside(stream: &mut TcpStream, act: &Act) -> io::Result<After> {
    match act {
        Act::Noise(bytes) => act::filler(&mut io::stderr().lock(), *bytes)?,
        Act::Wait(time) | Act::Deafness(time) => act::pause(*time),
        Act::Die(_) => return Ok(After::Close),
        Act::Silence => {
            // Wait until the client disconnects; its further input is ignored.
            let mut ignored = [0; 4096];
            while let Ok(1..) = stream.read(&mut ignored) {}
            return Ok(After::Close);
        }
        Act::Send(_) | Act::Garbage(_) | Act::Huge { .. } | Act::Half(_) => {}
    }
    Ok(After::Stay)
}
