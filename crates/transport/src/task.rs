//! Tasks of the runtime. This module must not know what a task does.
//!
//! Futures and blocking work are boxed before they are passed to the runtime. The runtime's code for tasks is compiled once
//! for each type of future and each scheduler; with a single type, the binary is more than a megabyte smaller
//! (docs/performance.md, "Size").

use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::task::{JoinError, JoinHandle};

/// A boxed future. All futures with this output have this one type.
pub type BoxedFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Work that blocks, and its result.
type BoxedWork = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

/// Boxes a future, so that it can be started as a task.
pub fn boxed<T>(future: impl Future<Output = T> + Send + 'static) -> BoxedFuture<T> {
    Box::pin(future)
}

/// Starts a task.
///
/// # Panics
/// Panics outside of a runtime.
pub fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(boxed(future))
}

/// The future for the result of blocking work. The work runs even if nobody waits for it.
///
/// The future fails if the work panicked, or if the runtime ended before the work began.
#[derive(Debug)]
#[must_use = "wait for the work, or drop this to let it run on its own"]
pub struct BlockingHandle<T> {
    handle: JoinHandle<Box<dyn Any + Send>>,
    result: PhantomData<fn() -> T>,
}

impl<T: 'static> Future for BlockingHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let done = ready!(Pin::new(&mut self.handle).poll(cx));
        Poll::Ready(done.map(|result| *result.downcast().expect("the work returns this type")))
    }
}

/// Starts work that blocks, on a thread for such work.
///
/// # Panics
/// Panics outside of a runtime.
#[expect(clippy::disallowed_methods, reason = "the work is boxed")]
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> BlockingHandle<T> {
    let boxed: BoxedWork = Box::new(move || Box::new(work()));
    BlockingHandle { handle: tokio::task::spawn_blocking(boxed), result: PhantomData }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_gives_its_result_its_panic_and_runs_without_a_listener() {
        assert_eq!(spawn_blocking(|| "a result".to_owned()).await.expect("it ran"), "a result");
        assert!(spawn_blocking(|| panic!("on purpose")).await.expect_err("it panicked").is_panic());
        let (sender, receiver) = mpsc::channel();
        drop(spawn_blocking(move || sender.send(7)));
        assert_eq!(spawn_blocking(move || receiver.recv()).await.expect("it ran"), Ok(7));
    }
}
