//! Closes links and the resources that depend on them in the background, so that a slow server delays nobody. It must not
//! know why they are closed.

use tokio::sync::Semaphore;

/// The number of futures that close something at once.
const AT_ONCE: usize = 64;

static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);

/// Runs `closing` soon, in a separate task. There are at most as many such tasks as there were sessions and links.
pub fn beside(closing: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(in_turn(closing));
}

/// Runs `closing` when its turn comes.
pub async fn in_turn(closing: impl Future<Output = ()>) {
    // The semaphore is never closed.
    let _place = ROOM.acquire().await;
    closing.await;
}
