//! Tasks of the runtime. This module must not know what a task does.
//!
//! Futures are boxed before the runtime gets them. Its code for tasks exists once for each type of future and for each of its schedulers; with
//! one type, the binary is a megabyte smaller (docs/performance.md, "Size").

use std::pin::Pin;

use tokio::task::JoinHandle;

/// Starts a task.
///
/// # Panics
/// Outside of a runtime.
pub fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let boxed: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
    tokio::spawn(boxed)
}
