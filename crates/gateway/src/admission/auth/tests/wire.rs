//! The client for other servers over real sockets: what is sent, and which answers are rejected.

use std::time::Duration;

use http::{HeaderValue, Uri};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use transport::net::{Client, ClientLimits, Trust};

use upstream::web::{GetRequest, Web, is_local, is_safe};

/// A server that answers one request with these bytes and keeps the connection open; its task returns the request.
async fn server(answer: String) -> (Uri, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys?a=b", listener.local_addr().unwrap()).parse().unwrap();
    let task = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(socket.read_u8().await.unwrap());
        }
        let _ = socket.write_all(answer.as_bytes()).await;
        // Wait until the other side closes the connection.
        let _ = socket.read_u8().await;
        String::from_utf8(request).unwrap()
    });
    (url, task)
}

fn get(url: &Uri) -> GetRequest<'_> {
    GetRequest { url, authorization: None, cap: 100, within: Duration::from_secs(5) }
}

fn client() -> Client {
    Client::new(ClientLimits::default(), Trust::default())
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_taken() {
    let (url, sent) =
        server("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbody".to_owned()).await;
    let client = client();
    let authorization = Some(HeaderValue::from_static("Basic YTpi"));
    let answer = client.get(GetRequest { authorization, ..get(&url) }).await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.retry_after), (429, Some(Duration::from_secs(7))));
    assert_eq!(answer.body, "body");
    drop(client);
    let sent = sent.await.unwrap().to_ascii_lowercase();
    assert!(sent.starts_with("get /keys?a=b http/1.1\r\n"), "{sent}");
    assert!(
        sent.contains("authorization: basic ytpi\r\n") && sent.contains("accept: application/json\r\n"),
        "{sent}"
    );
}

#[tokio::test]
async fn redirects_are_not_followed_and_long_or_slow_answers_not_taken() {
    let (url, _sent) =
        server("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_owned())
            .await;
    assert_eq!(client().get(get(&url)).await.unwrap().status.as_u16(), 302);
    for head in ["Content-Length: 101", "Transfer-Encoding: chunked"] {
        let long = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n65\r\n{}\r\n0\r\n\r\n", "x".repeat(101));
        let (url, _sent) = server(long).await;
        let error = client().get(get(&url)).await.unwrap_err().to_string();
        assert!(error.contains("longer than the allowed 100 bytes"), "{error}");
    }
    for slow in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbo"] {
        let (url, _sent) = server(slow.to_owned()).await;
        let within = Duration::from_millis(50);
        let error = client().get(GetRequest { within, ..get(&url) }).await.unwrap_err().to_string();
        assert!(error.contains("in time"), "{error}");
    }
    let nobody: Uri = "http://127.0.0.1:1/".parse().unwrap();
    assert!(client().get(get(&nobody)).await.unwrap_err().to_string().contains("127.0.0.1:1"));
}

#[test]
fn only_tls_and_this_machine_are_safe() {
    for (url, safe, local) in [
        ("https://id.example.com/x", true, false),
        ("https://10.0.0.1", true, false),
        ("http://127.0.0.1:80/x", true, true),
        ("http://localhost", true, true),
        ("http://[::1]:3/", true, true),
        ("http://id.example.com", false, false),
        ("http://127.0.0.1.example.com", false, false),
        ("http://localhost.example.com", false, false),
        ("https://u@id.example.com", false, false),
        ("ftp://127.0.0.1", false, true),
        ("/x", false, false),
    ] {
        let uri: Uri = url.parse().unwrap();
        assert_eq!((is_safe(&uri), is_local(&uri)), (safe, local), "{url}");
    }
}
