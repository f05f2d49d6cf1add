//! Connections that are lost in the middle of a request.

use bytes::Bytes;
use http::Request;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

use super::asking::{HI, accept, asked, post, raw, read_request};
use super::{LONG, collect};
use crate::budget::Part;
use crate::net::{Client, ClientError, ClientLimits, Origin, Protocol, Trust};

/// Two clients for two threads, and an upstream to which each has an idle connection; the first one has a second.
async fn two_threads_with_idle_connections() -> ([Origin; 2], TcpListener, [TcpStream; 3]) {
    let (addr, listener) = raw().await;
    let first = Client::new(ClientLimits::default(), Trust::default());
    let url = format!("http://{addr}/").parse().unwrap();
    let origins = [first.sibling(), first].map(|client| client.origin(&url, Protocol::Auto).unwrap());
    let answering = async {
        let mut links = [accept(&listener).await, accept(&listener).await, accept(&listener).await];
        for link in &mut links {
            read_request(link, 2).await;
            link.write_all(HI).await.unwrap();
        }
        links
    };
    let [own, other] = &origins;
    let asking = async { tokio::join!(asked(own, "a1"), asked(own, "a2"), asked(other, "b1")) };
    let (links, _) = tokio::join!(answering, asking);
    (origins, listener, links)
}

/// A process that ends closes its connections one after another: requests that follow must not use those that are still open.
#[tokio::test]
async fn after_a_lost_connection_no_thread_uses_the_others() {
    for in_answer in [false, true] {
        let ([own, other], listener, mut links) = two_threads_with_idle_connections().await;
        let breaking = async {
            // The newest idle connection is used, and it is not known which of the two that is.
            let [mut a, mut b, mut c] = [[0]; 3];
            let used = tokio::select! {
                _ = links[0].peek(&mut a) => 0,
                _ = links[1].peek(&mut b) => 1,
                _ = links[2].peek(&mut c) => 2,
            };
            let used = &mut links[used];
            read_request(used, 1).await;
            if in_answer {
                used.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await.unwrap();
            }
            used.shutdown().await.unwrap();
        };
        let failing = async {
            let response = timeout(LONG, own.request(post("x"))).await.expect("in time");
            match response {
                Ok(response) => {
                    let until = Instant::now() + LONG;
                    collect(response.into_body(), Part::Answers, 1 << 24, until)
                        .await
                        .expect_err("half an answer");
                }
                Err(error) => assert!(matches!(error, ClientError::Closed { sent: true, .. }), "{error}"),
            }
        };
        tokio::join!(breaking, failing);
        for origin in [&own, &other] {
            let fresh = async {
                let mut link = accept(&listener).await;
                read_request(&mut link, 1).await;
                link.write_all(HI).await.unwrap();
            };
            assert_eq!(tokio::join!(asked(origin, "y"), fresh).0, "hi", "a new connection");
        }
    }
}

/// The listening socket of a process that ends may be closed last: it still accepts connections that nobody will serve.
#[tokio::test]
async fn after_a_lost_connection_only_requests_that_may_be_repeated_connect_at_once() {
    let (addr, listener) = raw().await;
    let client = Client::new(ClientLimits::default(), Trust::default());
    let origin = client.origin(&format!("http://{addr}/").parse().unwrap(), Protocol::Auto).unwrap();
    let breaking = async { read_request(&mut accept(&listener).await, 1).await };
    let (_, lost) = tokio::join!(breaking, timeout(LONG, origin.request(post("x"))));
    lost.expect("in time").expect_err("no answer");
    let reading = Request::get("/mcp").body(Bytes::new()).unwrap();
    let first_come = async {
        let mut link = accept(&listener).await;
        assert!(read_request(&mut link, 0).await.starts_with("get "), "reading need not wait");
        link.write_all(HI).await.unwrap();
        drop(listener);
    };
    let (unsent, read, ()) = tokio::join!(origin.request(post("y")), origin.request(reading), first_come);
    read.unwrap();
    let refused = unsent.expect_err("nobody listens");
    assert!(refused.is_unsent(), "{refused}");
}
