//! The last line on a terminal's stderr while a command waits: what it waits for, and for how long. Everything else that
//! is printed clears this line first. This module must not know what is waited for.

use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::console::Console;
use super::layout;

/// The silence after which the line appears.
const SILENCE: Duration = Duration::from_secs(2);

/// The time between two updates of the line.
const PACE: Duration = Duration::from_secs(1);

/// True while the line is on the screen. There is one stderr in a process, so there is one line.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Removes the line.
pub(crate) fn clear() {
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        put("\r\x1b[K");
    }
}

/// Shows the line, cut to the terminal's width, in place of the previous one.
pub(crate) fn draw(console: &Console, line: &str) {
    if let Some(width) = console.err_width.filter(|_| !console.quiet) {
        // The last column stays free: some terminals start a new line once it is filled.
        let line = layout::cut(line, width - 1);
        put(&format!("\r\x1b[K{}", console.err.dim(&line)));
        IS_SHOWN.store(true, Ordering::Relaxed);
    }
}

fn put(text: &str) {
    let mut err = io::stderr().lock();
    // If this fails, there is no other place to report the failure.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Waits for `work`, which was begun at `since`. After two seconds of silence, shows the text of `line` and updates
/// it every second, if stderr is a terminal. The caller clears the line.
pub(crate) async fn watched<T>(
    console: &Console,
    since: Instant,
    line: impl Fn(Duration) -> String,
    work: impl Future<Output = T>,
) -> T {
    if console.err_width.is_none() || console.quiet {
        return work.await;
    }
    let mut work = pin!(work);
    let mut ticks = interval_at((since + SILENCE).max(Instant::now() + PACE / 4), PACE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = ticks.tick() => draw(console, &line(since.elapsed())),
        }
    }
}
