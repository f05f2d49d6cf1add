//! Tests of a child that several single-threaded runtimes share, as in the gateway.

use std::sync::mpsc;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::*;

/// Starts a child on a runtime in a separate thread, which lives until the sender is used or dropped.
fn elsewhere(supervisor: Supervisor) -> (Child, oneshot::Sender<()>, std::thread::JoinHandle<()>) {
    let (done, wait) = oneshot::channel::<()>();
    let (give, take) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            give.send(within(supervisor.spawn(&Spec::new("cat"), Limits::default())).await.unwrap()).unwrap();
            let _ = wait.await;
        });
    });
    (take.recv().unwrap(), done, thread)
}

#[tokio::test]
async fn a_child_is_used_from_another_runtime() {
    let (mut child, done, thread) = elsewhere(supervisor(1));
    for n in 0..1000 {
        child.send(n.to_string().into()).await.unwrap();
        assert_eq!(number(&mut child).await, n);
    }
    assert_eq!(within(child.stop()).await.to_string(), "cat was stopped: it exited with code 0");
    done.send(()).unwrap();
    thread.join().unwrap();
}

#[tokio::test]
async fn a_child_ends_with_the_runtime_that_its_pipes_belong_to() {
    let (mut child, done, thread) = elsewhere(supervisor(1));
    let pid = child.handle().pid();
    child.send(Bytes::from_static(b"1")).await.unwrap();
    assert_eq!(number(&mut child).await, 1);
    let handle = child.handle().clone();
    let reader = tokio::spawn(async move { child.recv().await });
    done.send(()).unwrap();
    thread.join().unwrap();
    let error = within(reader).await.unwrap().unwrap_err();
    assert!(error.is_final(), "{error}");
    assert!(within(handle.send(Bytes::from_static(b"2"))).await.unwrap_err().is_final());
    within(handle.gone()).await;
    assert_eq!(state(pid), None);
}

#[test]
fn a_child_outlives_the_thread_that_asked_for_it() {
    // The parent-death signal is bound to a thread, which must not be this short-lived one.
    let supervisor = super::supervisor(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let spawning = supervisor.clone();
    let guard = runtime.handle().clone();
    let child =
        std::thread::spawn(move || guard.block_on(spawning.spawn(&Spec::new("cat"), Limits::default())));
    let mut child = child.join().unwrap().unwrap();
    runtime.block_on(async {
        child.send(Bytes::from_static(b"7")).await.unwrap();
        assert_eq!(number(&mut child).await, 7);
        within(child.stop()).await;
    });
}
