use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use http::Request;

use super::{Body, ConnectionCap, Incoming, Listeners, ServerLimits, Stop, serve};
use crate::net::listen::BindError;
use crate::net::{RunError, RuntimeKind, Shard, run, runtime};

const ANY: &str = "127.0.0.1:0";

fn ask(addr: std::net::SocketAddr) -> String {
    let mut stream = std::net::TcpStream::connect(addr).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Answers 64 requests on two threads; returns, for each request, the name of the thread that answered it.
fn serves(kind: RuntimeKind) -> Vec<String> {
    let listeners = Arc::new(Listeners::bind(ANY.parse().unwrap(), runtime::shards(kind, 2)).unwrap());
    let (addr, stop, cap) = (listeners.addr(), Stop::new(), ConnectionCap::new(100));
    let signal = stop.clone();
    let server = std::thread::spawn(move || {
        run(kind, 2, &signal, |shard: Shard| {
            let handler = async |_: Request<Incoming>, _| {
                let name = std::thread::current().name().unwrap_or_default().to_owned();
                http::Response::new(Body::from(name))
            };
            let listener = listeners.take(shard.index).unwrap();
            serve(
                listener,
                move |r, p| Box::pin(handler(r, p)),
                ServerLimits::default(),
                cap.clone(),
                shard.stop,
            )
        })
    });
    let answers: Vec<_> = (0..64).map(|_| ask(addr)).collect();
    stop.stop();
    server.join().unwrap().unwrap();
    std::net::TcpStream::connect(addr).expect_err("nobody listens after the end");
    answers.iter().map(|answer| answer.rsplit("\r\n").next().unwrap().to_owned()).collect()
}

#[test]
fn one_runtime_per_core_serves_on_every_thread() {
    let names = serves(RuntimeKind::PerCore);
    for worker in ["worker-0", "worker-1"] {
        assert!(names.iter().any(|name| name == worker), "{worker} served nothing: {names:?}");
    }
}

#[test]
fn a_work_stealing_runtime_serves() {
    assert!(serves(RuntimeKind::WorkStealing).iter().all(|name| name == "worker"));
}

#[test]
fn a_panicking_shard_ends_all_with_its_message() {
    for kind in [RuntimeKind::PerCore, RuntimeKind::WorkStealing] {
        let stop = Stop::new();
        let result = run(kind, 2, &stop, async |shard: Shard| {
            assert!(shard.index + 1 < shard.count, "out of luck in {}", shard.index);
            shard.stop.stopped().await;
            Ok::<(), std::io::Error>(())
        });
        assert!(stop.is_stopped());
        let Err(RunError::Panicked { message, .. }) = result else { panic!("{result:?}") };
        assert!(message.starts_with("out of luck"), "{message}");
    }
}

#[test]
fn a_failing_shard_ends_all_with_its_error() {
    let ended = Arc::new(AtomicUsize::new(0));
    let stop = Stop::new();
    let counted = ended.clone();
    let result = run(RuntimeKind::PerCore, 3, &stop, move |shard: Shard| {
        let ended = counted.clone();
        async move {
            if shard.index == 1 {
                return Err(std::io::Error::other("disk on fire"));
            }
            shard.stop.stopped().await;
            ended.fetch_add(1, SeqCst);
            Ok(())
        }
    });
    assert_eq!(ended.load(SeqCst), 2);
    assert_eq!(result.unwrap_err().to_string(), "worker 1 failed: disk on fire");
}

#[test]
fn a_port_is_never_shared_with_somebody_else() {
    let two = Listeners::bind(ANY.parse().unwrap(), 2).unwrap();
    for shards in [1, 2] {
        let error = Listeners::bind(two.addr(), shards).unwrap_err();
        assert!(matches!(error, BindError::InUse { .. }), "{error}");
        assert!(error.to_string().contains("another port"));
    }
    let one = Listeners::bind(ANY.parse().unwrap(), 1).unwrap();
    assert!(matches!(Listeners::bind(one.addr(), 2), Err(BindError::InUse { .. })));
}

#[test]
fn many_who_want_one_port_at_once_get_it_once() {
    let addr = Listeners::bind(ANY.parse().unwrap(), 1).unwrap().addr();
    let won = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    if let Ok(listeners) = Listeners::bind(addr, 2) {
                        won.lock().unwrap().push(listeners);
                    }
                }
            });
        }
    });
    assert_eq!(won.lock().unwrap().len(), 1);
}

#[test]
fn a_foreign_address_is_named_with_help() {
    let error = Listeners::bind("192.0.2.1:0".parse().unwrap(), 1).unwrap_err();
    assert!(matches!(error, BindError::NotOurs { .. }), "{error}");
}
