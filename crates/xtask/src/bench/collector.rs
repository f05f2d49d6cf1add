//! A collector of spans that accepts everything. This module must not know what a span contains.

use super::plain_http::ask;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time within which the spans of a first request arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

/// A running collector.
#[derive(Debug)]
pub(crate) struct Collector {
    address: SocketAddr,
    received: Arc<AtomicU64>,
}

impl Collector {
    /// Listens on a free port. The thread ends with this process.
    pub(crate) fn start() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the collector does not listen: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let (address, received) = (listener.local_addr().map_err(failed)?, Arc::new(AtomicU64::new(0)));
        let bytes = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let bytes = Arc::clone(&bytes);
                thread::spawn(move || accept(&stream, &bytes));
            }
        });
        Ok(Self { address, received })
    }

    /// The environment variables that make a gateway send every span here.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", self.address)),
            ("OTEL_TRACES_SAMPLER", "always_on".to_owned()),
            ("OTEL_BSP_SCHEDULE_DELAY", "500".to_owned()),
        ]
    }

    /// Sends a request to the gateway at `address`, and waits until its spans arrive.
    pub(crate) fn receives_a_call(&self, address: SocketAddr) -> Result<(), String> {
        let headers = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                       MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: up__echo\r\n";
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","arguments":{"text":"x"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        ask(address, "POST /mcp", headers, call).ok_or("the gateway does not answer")?;
        let until = Instant::now() + ARRIVES_WITHIN;
        while self.received.load(Ordering::Relaxed) == 0 {
            if Instant::now() > until {
                return Err("no spans arrive at the collector".to_owned());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Answers every request of a connection with an empty success.
fn accept(stream: &TcpStream, received: &AtomicU64) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => break,
                Ok(_) => {}
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let read = std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).unwrap_or_default();
        received.fetch_add(read, Ordering::Relaxed);
        let mut out = stream;
        if out
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n",
            )
            .is_err()
        {
            return;
        }
    }
}
