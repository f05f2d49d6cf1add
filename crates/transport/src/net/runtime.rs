//! Runs the service on threads: one single-threaded runtime per core, so that a request never changes
//! threads, or one work-stealing runtime. This module must not know what the service does.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::stop::Stop;
use crate::memory::blocks::keep_blocks;

/// The error type of a shard.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The time for which a runtime, at its end, waits for blocking work (name lookups, file reads) that cannot be
/// cancelled.
const BLOCKING_GRACE: Duration = Duration::from_millis(200);

/// The maximum number of blocking threads per runtime; only name lookups and files use them.
const BLOCKING_THREADS: usize = 8;

/// The distribution of work among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeKind {
    /// One single-threaded runtime per shard, each on a named thread with its own sockets.
    PerCore,
    /// One shard on one runtime whose threads steal tasks from each other.
    WorkStealing,
}

/// One shard of the service; the shard's future uses this value to select its own listener.
#[derive(Clone, Debug)]
pub struct Shard {
    /// The index, starting from 0.
    pub index: usize,
    /// The total number of shards.
    pub count: usize,
    /// Raised when the service should end. A shard that fails raises it for the others.
    pub stop: Stop,
}

/// The failure that ended [`run`].
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system provided no thread or no event queue.
    #[error("cannot start worker {shard}: {source} (check the limits on threads and open files)")]
    Start {
        /// The shard.
        shard: usize,
        /// The system's error.
        source: std::io::Error,
    },
    /// The shard's future returned an error.
    #[error("worker {shard} failed: {source}")]
    Failed {
        /// The shard.
        shard: usize,
        /// The error that the future returned.
        source: BoxError,
    },
    /// The shard's own future panicked (a panic in a task that the future spawned is not reported here).
    #[error("worker {shard} panicked: {message}")]
    Panicked {
        /// The shard.
        shard: usize,
        /// The panic's message.
        message: String,
    },
}

/// Returns the number of shards for a kind of runtime with this many threads; [`super::Listeners::bind`] needs this
/// number.
pub fn shards(kind: RuntimeKind, threads: usize) -> usize {
    match kind {
        RuntimeKind::PerCore => threads.max(1),
        RuntimeKind::WorkStealing => 1,
    }
}

/// Runs `make(shard)` for every shard, and returns when all of them have ended. The first failure raises `stop`, so
/// that the other shards end as well, and is returned. Blocks the calling thread; `threads` is at least 1.
pub fn run<F, Fut, E>(kind: RuntimeKind, threads: usize, stop: &Stop, make: F) -> Result<(), RunError>
where
    F: Fn(Shard) -> Fut + Send + Sync,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<BoxError> + Send + 'static,
{
    let count = shards(kind, threads);
    let shard = |index| Shard { index, count, stop: stop.clone() };
    match kind {
        RuntimeKind::WorkStealing => guard(0, stop, || {
            let runtime = tune(&mut Builder::new_multi_thread())
                .worker_threads(threads.max(1))
                .build()
                .map_err(|source| RunError::Start { shard: 0, source })?;
            let future = {
                let _inside = runtime.enter();
                make(shard(0))
            };
            // This runs on a worker, not on this thread: a task that both threads poll would be woken across threads.
            let ended = runtime.block_on(runtime.spawn(future));
            finish(runtime);
            match ended {
                Ok(result) => result.map_err(|e| RunError::Failed { shard: 0, source: e.into() }),
                Err(error) => Err(RunError::Panicked { shard: 0, message: join_message(error) }),
            }
        }),
        RuntimeKind::PerCore => thread::scope(|scope| {
            let workers: Vec<_> = (0..count)
                .map(|index| {
                    let (make, shard) = (&make, shard(index));
                    thread::Builder::new()
                        .name(format!("worker-{index}"))
                        .spawn_scoped(scope, move || guard(index, stop, || on_this_thread(make, shard)))
                        .map_err(|source| {
                            stop.stop();
                            RunError::Start { shard: index, source }
                        })
                })
                .collect();
            workers.into_iter().map(|worker| joined(worker?)).fold(Ok(()), Result::and)
        }),
    }
}

fn joined(worker: thread::ScopedJoinHandle<'_, Result<(), RunError>>) -> Result<(), RunError> {
    worker
        .join()
        .unwrap_or_else(|panic| Err(RunError::Panicked { shard: 0, message: message(panic.as_ref()) }))
}

fn on_this_thread<F, Fut, E>(make: &F, shard: Shard) -> Result<(), RunError>
where
    F: Fn(Shard) -> Fut,
    Fut: Future<Output = Result<(), E>>,
    E: Into<BoxError>,
{
    let index = shard.index;
    let _keeping = keep_blocks();
    let runtime = tune(&mut Builder::new_current_thread())
        .build()
        .map_err(|source| RunError::Start { shard: index, source })?;
    let result = runtime.block_on(async { make(shard).await });
    finish(runtime);
    result.map_err(|error| RunError::Failed { shard: index, source: error.into() })
}

fn tune(builder: &mut Builder) -> &mut Builder {
    builder.enable_all().max_blocking_threads(BLOCKING_THREADS).thread_name("worker")
}

fn finish(runtime: Runtime) {
    runtime.shutdown_timeout(BLOCKING_GRACE);
}

/// Turns a panic into an error and raises `stop` on any failure, so that no other shard waits forever.
fn guard(shard: usize, stop: &Stop, body: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
    let result = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(RunError::Panicked { shard, message: message(panic.as_ref()) }));
    if result.is_err() {
        stop.stop();
    }
    result
}

fn join_message(error: tokio::task::JoinError) -> String {
    if error.is_panic() { message(error.into_panic().as_ref()) } else { "was cancelled".to_owned() }
}

pub(super) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}
