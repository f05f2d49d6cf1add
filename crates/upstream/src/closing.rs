//! Closes links and the resources that depend on them in the background, so that a slow server delays nobody. This
//! module must not know why they are closed.

use tokio::sync::Semaphore;

/// The maximum number of closings that run at the same time.
const AT_ONCE: usize = 64;

static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);

/// Runs `closing` soon, in a separate task. The number of such tasks is limited by the number of sessions and links.
pub fn beside(closing: impl Future<Output = ()> + Send + 'static) {
    transport::task::spawn(in_turn(closing));
}

/// Runs `closing` when it is its turn.
pub async fn in_turn(closing: impl Future<Output = ()>) {
    // The semaphore is never closed.
    let _place = ROOM.acquire().await;
    closing.await;
}
