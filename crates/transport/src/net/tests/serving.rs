use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout};

use super::{Body, Incoming, LONG, Served, ServerLimits, closed, collect, echo, get, read_answer};
use crate::budget::Part;

#[tokio::test]
async fn keep_alive_and_pipelining() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    let mut stream = served.connect().await;
    for path in ["/a", "/b"] {
        assert_eq!(get(&mut stream, path).await.1, format!("GET {path} ").as_bytes());
    }
    let piped = "POST /1 HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi\
                 POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nho\
                 GET /3 HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(piped.as_bytes()).await.unwrap();
    for expected in ["POST /1 hi", "POST /2 ho", "GET /3 "] {
        let (head, body) = read_answer(&mut stream).await;
        assert!(head.contains(&format!("content-length: {}", expected.len())), "{head}");
        assert_eq!(body, expected.as_bytes());
    }
    served.finish().await;
}

#[tokio::test]
async fn a_request_in_small_pieces_is_put_together() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    let mut stream = served.connect().await;
    stream.set_nodelay(true).unwrap();
    // The request starts like the HTTP/2 preface, so the protocol is certain only at the fourth byte.
    for byte in b"PRIZE /x HTTP/1.1\r\nhost: x\r\n\r\n" {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(read_answer(&mut stream).await.1, b"PRIZE /x ");
    served.finish().await;
}

#[tokio::test]
async fn slow_heads_are_cut_off() {
    let limits = ServerLimits { header_timeout: Duration::from_millis(200), ..ServerLimits::default() };
    let served = Served::start(limits, 10, echo);
    let (mut silent, mut first, mut second) =
        (served.connect().await, served.connect().await, served.connect().await);
    first.write_all(b"GET / HT").await.unwrap();
    get(&mut second, "/fine").await;
    second.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    // Single bytes from time to time must not extend the deadline.
    let (mut dripped, mut drip) = first.into_split();
    let dripping = tokio::spawn(async move {
        while drip.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(closed(&mut silent).await);
    assert!(closed(&mut second).await);
    let mut rest = Vec::new();
    let _ = timeout(LONG, dripped.read_to_end(&mut rest)).await.expect("cut off in time");
    dripping.await.unwrap();
    assert_eq!(served.cap.open(), 0);
    served.finish().await;
}

#[tokio::test]
async fn idle_connections_live_longer_than_heads_may_take() {
    let limits = ServerLimits {
        header_timeout: Duration::from_millis(50),
        idle_timeout: Duration::from_millis(400),
        ..ServerLimits::default()
    };
    let served = Served::start(limits, 10, echo);
    let mut stream = served.connect().await;
    get(&mut stream, "/1").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    get(&mut stream, "/2").await;
    assert!(closed(&mut stream).await, "and end at last");
    served.finish().await;
}

#[tokio::test]
async fn too_many_and_too_long_headers_are_refused() {
    let limits = ServerLimits { max_headers: 20, max_header_bytes: 8192, ..ServerLimits::default() };
    let served = Served::start(limits, 10, echo);
    let many = "a: b\r\n".repeat(21);
    let long = format!("a: {}\r\n", "b".repeat(9000));
    for headers in [many, long] {
        let mut stream = served.connect().await;
        let request = format!("GET / HTTP/1.1\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = read_answer(&mut stream).await.0;
        assert!(head.starts_with("http/1.1 431 "), "{head}");
    }
    served.finish().await;
}

#[tokio::test]
async fn connections_over_the_cap_are_told_so() {
    let served = Served::start(ServerLimits::default(), 2, echo);
    let (mut first, mut second) = (served.connect().await, served.connect().await);
    get(&mut first, "/").await;
    get(&mut second, "/").await;
    let mut third = served.connect().await;
    let (head, body) = get(&mut third, "/").await;
    assert!(head.starts_with("http/1.1 503 ") && head.contains("retry-after"), "{head}");
    assert!(body.starts_with(b"Too many open connections"));
    assert!(closed(&mut third).await);
    drop(first);
    while served.cap.open() > 1 {
        tokio::task::yield_now().await;
    }
    get(&mut served.connect().await, "/").await;
    served.finish().await;
}

/// Returns a handler that notifies `came` when a request for `/wait` has arrived, and answers it after `go` is
/// notified. The handler answers other requests immediately.
fn gated(came: Arc<Notify>, go: Arc<Notify>) -> impl super::Handler {
    move |request: Request<Incoming>, _| {
        let (came, go) = (came.clone(), go.clone());
        async move {
            if request.uri().path() == "/wait" {
                came.notify_one();
                go.notified().await;
            }
            Response::new(Body::from("finished"))
        }
    }
}

#[tokio::test]
async fn stopping_finishes_what_has_begun() {
    let (came, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let served = Served::start(ServerLimits::default(), 10, gated(came.clone(), go.clone()));
    let (mut busy, mut idle) = (served.connect().await, served.connect().await);
    get(&mut idle, "/").await;
    busy.write_all(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    came.notified().await;
    served.stop.stop();
    assert!(closed(&mut idle).await, "idle connections go at once");
    assert!(!served.done.is_finished());
    go.notify_one();
    let (head, body) = read_answer(&mut busy).await;
    assert!(head.contains("connection: close"), "{head}");
    assert_eq!(body, b"finished");
    served.finish().await;
}

#[tokio::test]
async fn stopping_serves_connections_that_the_runtime_has_not_seen() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    get(&mut served.connect().await, "/").await;
    // The runtime has no turn between these connections and the stop.
    let waiting: Vec<_> = (0..3).map(|_| std::net::TcpStream::connect(served.addr).unwrap()).collect();
    served.stop.stop();
    for stream in waiting {
        stream.set_nonblocking(true).unwrap();
        let (head, _) = get(&mut tokio::net::TcpStream::from_std(stream).unwrap(), "/").await;
        assert!(head.starts_with("http/1.1 200 "), "{head}");
    }
    served.finish().await;
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let (came, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let limits = ServerLimits { drain_timeout: Duration::from_millis(50), ..ServerLimits::default() };
    let served = Served::start(limits, 10, gated(came.clone(), go));
    let mut stream = served.connect().await;
    stream.write_all(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    came.notified().await;
    served.finish().await;
    assert!(closed(&mut stream).await);
}

#[tokio::test]
async fn a_panic_concerns_one_request() {
    let served = Served::start(ServerLimits::default(), 10, async |request: Request<Incoming>, _| {
        assert!(request.uri().path() != "/panic", "asked to");
        Response::new(Body::Empty)
    });
    let mut stream = served.connect().await;
    assert!(get(&mut stream, "/panic").await.0.starts_with("http/1.1 500 "));
    assert!(get(&mut stream, "/fine").await.0.starts_with("http/1.1 200 "));
    served.finish().await;
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_cut_off() {
    let limits = ServerLimits { write_timeout: Duration::from_millis(100), ..ServerLimits::default() };
    let served = Served::start(limits, 10, async |_: Request<Incoming>, _| {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move { while sender.send(Bytes::from(vec![0; 65536])).await.is_ok() {} });
        Response::new(body)
    });
    let mut stream = served.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    timeout(LONG, async {
        while served.cap.open() == 0 {
            tokio::task::yield_now().await;
        }
        while served.cap.open() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("cut off in time");
    served.finish().await;
}

#[tokio::test]
async fn an_aborted_stream_breaks_off_visibly() {
    let served = Served::start(ServerLimits::default(), 10, async |_: Request<Incoming>, _| {
        let (sender, body) = Body::channel(2);
        tokio::spawn(async move {
            sender.send(Bytes::from_static(b"half")).await.unwrap();
            sender.abort("the other half is lost").await;
        });
        Response::new(body)
    });
    let mut stream = served.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut all = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut all)).await.expect("ends");
    let text = String::from_utf8_lossy(&all);
    assert!(text.contains("4\r\nhalf\r\n") && !text.ends_with("0\r\n\r\n"), "{text}");
    served.finish().await;
}

#[tokio::test]
async fn taking_the_last_piece_of_a_body_wakes_nobody() {
    let (polls, waits) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (answer, answered) = oneshot::channel::<()>();
    let answered = Arc::new(Mutex::new(Some(answered)));
    let (counted, waiting) = (polls.clone(), waits.clone());
    let served = Served::start(ServerLimits::default(), 10, move |request: Request<Incoming>, _| {
        let (polls, waits, answered) = (counted.clone(), waiting.clone(), answered.lock().unwrap().take());
        async move {
            let body = collect(request.into_body(), Part::Answers, 100, Instant::now() + LONG).await.unwrap();
            let mut answered = answered.unwrap();
            poll_fn(|cx| {
                polls.fetch_add(1, Relaxed);
                waits.notify_one();
                Pin::new(&mut answered).poll(cx)
            })
            .await
            .unwrap();
            Response::new(Body::from(body))
        }
    });
    let mut stream = served.connect().await;
    stream.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody").await.unwrap();
    waits.notified().await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    answer.send(()).unwrap();
    assert_eq!(read_answer(&mut stream).await.1, b"body");
    assert_eq!(polls.load(Relaxed), 2, "once when it came, once when it was answered");
    served.finish().await;
}
