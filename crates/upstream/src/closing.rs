//! Letting go of links and of what hangs on them, beside whatever else there is to do: a server that takes its time over it
//! holds up nobody. It must not know why they are let go.

use tokio::sync::Semaphore;

/// The number that are let go at once.
const AT_ONCE: usize = 64;

static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);

/// Does it soon, beside the caller. There are as many at most as there were sessions and links.
pub fn beside(closing: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(in_turn(closing));
}

/// Does it when it is its turn.
pub async fn in_turn(closing: impl Future<Output = ()>) {
    // It is never closed.
    let _place = ROOM.acquire().await;
    closing.await;
}
