//! Clients that get no access: without a valid certificate, without TLS, with an unfinished handshake, or beyond the
//! limit.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::is_served;
use crate::rig::{Authority, Client, gateway, gateway_with};
use crate::support::*;

/// Sends these bytes, and reads until the connection ends.
async fn answer_to(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).await.expect("room to write");
    let mut answer = Vec::new();
    // A reset connection has also ended.
    let _ = soon("the end of the connection", stream.read_to_end(&mut answer)).await;
    answer
}

#[tokio::test]
async fn clients_must_show_a_certificate_of_the_right_authority() {
    let authority = Authority::new();
    let (clients, others) = (Authority::new(), Authority::new());
    let (cert, key) = authority.server(&["localhost"]);
    let files = [("clients.pem", &*clients.pem())];
    let gateway = gateway_with(&cert, &key, &files, ", clientCa: clients.pem", "").await;
    assert!(is_served(&gateway, &Client::showing(&authority, &clients.server(&["someone"]))).await);
    assert!(!is_served(&gateway, &Client::trusting(&authority)).await);
    assert!(!is_served(&gateway, &Client::showing(&authority, &others.server(&["someone"]))).await);
    // The server's own certificate is not a client certificate, and an old client certificate is no longer valid.
    assert!(!is_served(&gateway, &Client::showing(&authority, &(cert, key))).await);
    let old = clients.signed(&["someone"], |params| params.not_after = rcgen::date_time_ymd(2021, 2, 3));
    assert!(!is_served(&gateway, &Client::showing(&authority, &old)).await);
    assert!(is_served(&gateway, &Client::showing(&authority, &clients.server(&["other"]))).await);
}

/// A certificate lets a client connect; its caller still has to authenticate.
#[tokio::test]
async fn a_certificate_of_a_client_is_no_credential() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (cert, key) = authority.server(&["localhost"]);
    let files = [("clients.pem", &*clients.pem())];
    let more = "auth: { bearer: abcdefghijklmnop }\n";
    let gateway = gateway_with(&cert, &key, &files, ", clientCa: clients.pem", more).await;
    let client = Client::showing(&authority, &clients.server(&["someone"]));
    let answer = crate::get(&gateway, &client, "/mcp").await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[tokio::test]
async fn plain_http_is_told_to_come_by_tls() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "").await;
    let h2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for bytes in [&b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], b"POST /mcp HTTP/1.1\r\n", h2] {
        let mut stream = gateway.http().connect().await;
        let answer = String::from_utf8(answer_to(&mut stream, bytes).await).expect("UTF-8");
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
        assert!(
            answer.ends_with("\r\n\r\nThis port speaks TLS only; write https:// instead of http://.\n"),
            "{answer}"
        );
        let length = answer.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let body = answer.split("\r\n\r\n").nth(1).expect("a body");
        assert_eq!(length.and_then(|length| length.parse().ok()), Some(body.len()));
    }
    for bytes in [&b"\0\0\0"[..], b"\x80\x2e\x01\x00\x02", b"get / HTTP/1.1\r\n\r\n"] {
        let mut stream = gateway.http().connect().await;
        assert_eq!(answer_to(&mut stream, bytes).await, b"", "{bytes:?}");
    }
    // Bytes that begin like TLS get an alert or no answer, but never an HTTP response.
    let mut stream = gateway.http().connect().await;
    let answer = answer_to(&mut stream, b"\x16\x03\x01\x00\x04GET / HTTP/1.1\r\n\r\n").await;
    assert!(answer.first().is_none_or(|first| *first == 21), "{answer:?}");
    assert!(is_served(&gateway, &Client::trusting(&authority)).await);
}

#[tokio::test]
async fn handshakes_that_do_not_end_are_cut_off() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "limits: { headerReadTimeout: 400ms }\n").await;
    for begun in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01"] {
        let mut streams = Vec::new();
        // More connections than the limit allows.
        for _ in 0..300 {
            let mut stream = gateway.http().connect().await;
            stream.write_all(begun).await.expect("room to write");
            streams.push(stream);
        }
        for stream in &mut streams {
            let mut answer = Vec::new();
            let _ = soon("the end of the connection", stream.read_to_end(&mut answer)).await;
            assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
        }
        assert!(is_served(&gateway, &Client::trusting(&authority)).await);
    }
}

#[tokio::test]
async fn one_connection_too_many_gets_no_plain_text() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "limits: { connections: 1 }\n").await;
    let client = Client::trusting(&authority);
    let held = client.connect(gateway.http().address).await.expect("TLS");
    let mut stream = gateway.http().connect().await;
    assert_eq!(answer_to(&mut stream, b"\x16\x03\x01").await, b"");
    assert!(client.connect(gateway.http().address).await.is_err());
    drop(held);
    let until = tokio::time::Instant::now() + DEADLINE;
    while !is_served(&gateway, &client).await {
        assert!(tokio::time::Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
