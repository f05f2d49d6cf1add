//! The addresses that a client may connect to, and the client's record of the addresses that it has used.

use bytes::Bytes;
use http::Request;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::LONG;
use crate::net::client::Reach;
use crate::net::{Client, ClientError, ClientLimits, Trust};

async fn listener() -> (String, TcpListener) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    (format!("localhost:{}", listener.local_addr().unwrap().port()), listener)
}

#[tokio::test]
async fn what_answers_from_near_is_known_to() {
    let (host, listener) = listener().await;
    let client = Client::new(ClientLimits::default(), Trust::default());
    let request = Request::get(format!("http://{host}/")).body(Bytes::new()).unwrap();
    let asking = tokio::spawn(async move { client.request(request).await });
    let (mut stream, _) = timeout(LONG, listener.accept()).await.unwrap().unwrap();
    stream.write_all(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let response = timeout(LONG, asking).await.unwrap().unwrap().unwrap();
    assert!(response.body().is_from_near());
}

#[tokio::test]
async fn who_goes_to_other_machines_never_comes_to_this_one() {
    let (host, listener) = listener().await;
    for reach in [Reach::Others, Reach::Public] {
        let client = Client::new(ClientLimits { reach, ..ClientLimits::default() }, Trust::default());
        let request = Request::get(format!("http://{host}/")).body(Bytes::new()).unwrap();
        let error = timeout(LONG, client.request(request)).await.unwrap().unwrap_err();
        assert!(matches!(error, ClientError::NotPublic { .. }), "{error:?}");
    }
    // No client has connected before this one.
    let own = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (_, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, own.local_addr().unwrap());
}
