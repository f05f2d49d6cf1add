//! Tests with real processes, and their common parts.

mod grouped;
#[allow(clippy::duplicate_mod, reason = "each test holds for both ways to run a child")]
#[cfg(target_os = "linux")]
mod guarded;

use std::{path::Path, time::Duration};

use super::{Child, Limits, Spec, Supervisor};

/// Returns the output of `future`; fails the test if there is none in time, so that a hang is reported as a failure.
async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), future).await.expect("this should not take a minute")
}

fn shell(script: &str) -> Spec {
    Spec::new("sh").arg("-c").arg(script)
}

/// Limits with short grace periods, for children that use them up.
fn impatient() -> Limits {
    let (stdin_grace, term_grace) = (Duration::from_millis(100), Duration::from_millis(200));
    Limits { stdin_grace, term_grace, ..Limits::default() }
}

/// The next line as text.
async fn line(child: &mut Child) -> String {
    String::from_utf8(within(child.recv()).await.unwrap().to_vec()).unwrap()
}

async fn number(child: &mut Child) -> u32 {
    line(child).await.parse().unwrap()
}

/// The state letter of a process; `None` if there is no such process.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Returns true if a process runs. Returns false for an orphan that has ended but has not been reaped by the init
/// process.
fn runs(pid: u32) -> bool {
    assert!(Path::new("/proc/self/stat").exists(), "these tests look into /proc");
    !matches!(state(pid), None | Some('Z' | 'X'))
}

/// Waits for the end of a process that is not a child of this one, so nothing reports its end.
async fn ends(pid: u32) {
    within(async {
        while runs(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Not a test: the guardian of the other tests, which start this test program again with only this function.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the harness has nothing to report")]
#[test]
fn guardian_role() {
    if let Some(code) = super::guardian::guard_stdin() {
        std::process::exit(code.into());
    }
}
