//! Tests of how children end: in every case, none of their processes remains.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::Instant,
};

use super::*;

#[tokio::test]
async fn a_polite_child_exits_when_its_stdin_closes() {
    let (supervisor, child) = start(&Spec::new("cat"), Limits::default()).await;
    let begun = Instant::now();
    let exit = within(child.stop()).await;
    assert_eq!(exit.to_string(), "cat was stopped: it exited with code 0");
    assert!(begun.elapsed() < Limits::default().stdin_grace, "no grace was used up");
    assert_eq!(state(child.handle().pid()), None, "reaped, not a zombie");
    assert_eq!(supervisor.count(), 0);
    assert_eq!(within(child.stop()).await, exit, "again, with the same answer");
}

#[tokio::test]
async fn what_waits_is_written_before_stdin_closes() {
    let (_supervisor, mut child) = start(&Spec::new("cat"), Limits::default()).await;
    for n in 0..100 {
        child.send(n.to_string().into()).await.unwrap();
    }
    let handle = child.handle().clone();
    within(handle.stop()).await;
    for n in 0..100 {
        assert_eq!(number(&mut child).await, n);
    }
}

#[tokio::test]
async fn a_child_that_ignores_its_stdin_gets_sigterm() {
    let (_supervisor, child) = start(&shell("exec sleep 600"), impatient()).await;
    assert_eq!(within(child.stop()).await.to_string(), "sh was stopped: it was ended by signal 15 (SIGTERM)");
    assert_eq!(state(child.handle().pid()), None);
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed() {
    let script = "trap '' TERM; echo ready; while :; do sleep 1; done";
    let (_supervisor, mut child) = start(&shell(script), impatient()).await;
    assert_eq!(line(&mut child).await, "ready");
    assert_eq!(within(child.stop()).await.to_string(), "sh was stopped: it was ended by signal 9 (SIGKILL)");
    assert_eq!(state(child.handle().pid()), None);
}

#[tokio::test]
async fn grandchildren_end_with_a_stopped_child() {
    let (_supervisor, mut child) = start(&shell("sleep 600 & echo $!; cat"), Limits::default()).await;
    let grandchild = number(&mut child).await;
    assert!(runs(grandchild));
    within(child.stop()).await;
    assert!(!runs(grandchild));
}

#[tokio::test]
async fn grandchildren_that_ignore_sigterm_are_killed() {
    let script = "trap '' TERM; sleep 600 & echo $!; exec cat";
    let (_supervisor, mut child) = start(&shell(script), impatient()).await;
    let grandchild = number(&mut child).await;
    within(child.stop()).await;
    assert!(!runs(grandchild));
}

#[tokio::test]
async fn grandchildren_end_with_a_child_that_exits_by_itself() {
    let (supervisor, mut child) = start(&shell("sleep 600 & echo $!; exit 7"), Limits::default()).await;
    let grandchild = number(&mut child).await;
    let error = within(child.recv()).await.unwrap_err();
    assert_eq!(error.to_string(), "sh exited with code 7");
    within(child.handle().gone()).await;
    assert!(!runs(grandchild));
    assert_eq!(supervisor.count(), 0);
}

#[tokio::test]
async fn a_descendant_outside_the_group_holds_nobody_up() {
    // The descendant inherits all three pipes and outlives the child.
    let (_supervisor, mut child) =
        start(&shell("setsid sleep 600 & echo $!; exit 4"), Limits::default()).await;
    let outsider = number(&mut child).await;
    let error = within(child.recv()).await.unwrap_err();
    assert_eq!(error.to_string(), "sh exited with code 4");
    within(child.stop()).await;
    if !WHOLE_TREES {
        kill(outsider);
    }
    ends(outsider).await;
}

#[tokio::test]
async fn dropping_the_handle_or_the_lines_stops_the_child() {
    let (supervisor, child) = start(&Spec::new("cat"), Limits::default()).await;
    let (handle, lines) = child.split();
    let pid = handle.pid();
    let other = handle.clone();
    drop(handle);
    assert!(other.is_running(), "a clone keeps it");
    drop(other);
    ends(pid).await;
    drop(lines);

    let (handle, lines) =
        within(supervisor.spawn(&Spec::new("cat"), Limits::default())).await.unwrap().split();
    drop(lines);
    within(handle.gone()).await;
    assert_eq!(state(handle.pid()), None);
}

#[tokio::test]
async fn a_dropped_stop_goes_on() {
    let (_supervisor, child) = start(&shell("exec sleep 600"), impatient()).await;
    {
        let stop = std::pin::pin!(child.stop());
        assert!(poll_once(stop).await.is_none());
    }
    ends(child.handle().pid()).await;
}

/// Kills a process that this test started and that belongs to no child's process group.
fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Polls a future once.
async fn poll_once<T>(mut future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match future.as_mut().poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn shutdown_stops_all_and_starts_none() {
    let (supervisor, first) = start(&Spec::new("cat"), impatient()).await;
    let second = within(supervisor.spawn(&shell("exec sleep 600"), impatient())).await.unwrap();
    assert_eq!(supervisor.count(), 2);
    assert_eq!(within(supervisor.shutdown(Duration::from_secs(30))).await, 0);
    assert_eq!(state(first.handle().pid()), None);
    assert_eq!(state(second.handle().pid()), None);
    let error = within(supervisor.spawn(&Spec::new("cat"), impatient())).await.unwrap_err();
    assert_eq!(error.to_string(), "no program can be started: Dragoman is stopping all child processes");
}

#[tokio::test]
async fn a_shutdown_at_its_deadline_kills() {
    // With long grace periods, only the deadline can end this child in time.
    let grace = Duration::from_mins(10);
    let limits = Limits { stdin_grace: grace, term_grace: grace, ..Limits::default() };
    let (supervisor, mut child) = start(&shell("trap '' TERM; sleep 600 & echo $!; wait"), limits).await;
    let grandchild = number(&mut child).await;
    assert_eq!(within(supervisor.shutdown(Duration::from_millis(50))).await, 0);
    assert_eq!(within(child.stop()).await.to_string(), "sh was stopped: it was ended by signal 9 (SIGKILL)");
    assert!(!runs(grandchild));
}

#[tokio::test]
async fn dropping_the_supervisor_stops_its_children_with_all_grace() {
    let (supervisor, child) = start(&shell("cat; echo 'saved' >&2; exit 5"), Limits::default()).await;
    drop(supervisor);
    let exit = within(child.handle().gone()).await;
    assert_eq!(exit.to_string(), "sh was stopped: it exited with code 5; its last output on stderr: saved");
}

/// This test starts its own program as a process that owns a child, and kills it so that it cannot clean up.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the supervisor's process has to be another than this one")]
#[tokio::test]
async fn a_child_ends_when_its_parent_is_killed() {
    const ROLE: &str = "DRAGOMAN_TEST_OWNS_A_CHILD";
    if std::env::var_os(ROLE).is_some() {
        let (_supervisor, child) = start(&Spec::new("sleep").arg("600"), Limits::default()).await;
        writeln!(std::io::stdout(), "\nchild {}", child.handle().pid()).unwrap();
        within(std::future::pending::<()>()).await;
    }
    let name = std::thread::current().name().unwrap().to_owned();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(ROLE, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines().map_while(Result::ok);
    let child =
        lines.find_map(|line| line.strip_prefix("child ")?.parse().ok()).expect("a child was started");
    assert!(runs(child), "it does not end by itself");
    parent.kill().unwrap();
    parent.wait().unwrap();
    ends(child).await;
}
