//! Idle connections keep only their stream, and clients do not notice this.

use std::net::SocketAddr;
use std::time::Duration;

use http::Request;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Handler, Incoming, LONG, Responding, Served, ServerLimits, closed, echo, get, read_answer};

/// Echoes, and reports when a connection releases its buffers.
#[derive(Clone)]
struct Resting(mpsc::UnboundedSender<()>);

impl Handler for Resting {
    fn handle(&self, request: Box<Request<Incoming>>, peer: SocketAddr) -> Responding<'_> {
        Box::pin(async move { echo(*request, peer).await })
    }

    fn rested(&self) {
        let _ = self.0.send(());
    }
}

fn soon() -> ServerLimits {
    ServerLimits { rest_after: Duration::from_millis(20), ..ServerLimits::default() }
}

#[tokio::test]
async fn a_rested_connection_answers_again() {
    let (rests, mut rested) = mpsc::unbounded_channel();
    let served = Served::start(soon(), 10, Resting(rests));
    let mut stream = served.connect().await;
    for round in 0..3 {
        assert_eq!(get(&mut stream, "/a").await.1, b"GET /a ", "round {round}");
        timeout(LONG, rested.recv()).await.expect("it rests").unwrap();
    }
    // A head that arrives in pieces after a rest: the first shorter, the second longer than the bytes that end
    // the rest.
    let head =
        format!("POST /b HTTP/1.1\r\nhost: x\r\nx-long: {}\r\ncontent-length: 2\r\n\r\nhi", "y".repeat(9000));
    for piece in [&head[..3], &head[3..40], &head[40..]] {
        stream.write_all(piece.as_bytes()).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(read_answer(&mut stream).await.1, b"POST /b hi");
    assert_eq!(served.cap.open(), 1);
    served.finish().await;
}

#[tokio::test]
async fn a_connection_with_something_begun_does_not_rest() {
    let (rests, mut rested) = mpsc::unbounded_channel();
    let served = Served::start(soon(), 10, Resting(rests));
    let mut other = served.connect().await;
    let mut stream = served.connect().await;
    // The second request has started before the first was answered, so none of its bytes arrives separately.
    stream.write_all(b"GET /1 HTTP/1.1\r\nhost: x\r\n\r\nGET /2 HTTP/1.1\r\nho").await.unwrap();
    assert_eq!(read_answer(&mut stream).await.1, b"GET /1 ");
    // The rest of another connection shows that enough time has passed.
    get(&mut other, "/").await;
    timeout(LONG, rested.recv()).await.expect("it rests").unwrap();
    stream.write_all(b"st: x\r\n\r\n").await.unwrap();
    assert_eq!(read_answer(&mut stream).await.1, b"GET /2 ");
    served.finish().await;
}

#[tokio::test]
async fn a_rested_connection_is_ended_like_any_other() {
    let (rests, mut rested) = mpsc::unbounded_channel();
    let limits = ServerLimits { header_timeout: Duration::from_millis(200), ..soon() };
    let served = Served::start(limits, 10, Resting(rests));
    let (mut slow, mut gone, mut idle) =
        (served.connect().await, served.connect().await, served.connect().await);
    for stream in [&mut slow, &mut gone, &mut idle] {
        get(stream, "/").await;
        timeout(LONG, rested.recv()).await.expect("it rests").unwrap();
    }
    drop(gone);
    // A head that never ends times out after a rest period, as it does before one.
    slow.write_all(b"GET / HT").await.unwrap();
    assert!(closed(&mut slow).await);
    served.stop.stop();
    assert!(closed(&mut idle).await, "a stopping server waits for nobody who asks nothing");
    served.finish().await;
}
