//! Whole process trees end, however the gateway ends, and however its servers resist.
#![cfg(target_os = "linux")]

mod support;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open};
use serde_json::json;
use support::*;
use testkit::awkward::{self, Kind};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;

/// The time after which no process of a killed gateway may be left.
const PROMISE: Duration = Duration::from_secs(3);

/// A named pipe that every process of awkward servers keeps open.
struct Census {
    path: PathBuf,
    lines: BufReader<pipe::Receiver>,
    /// Keeps the pipe open before any process has opened it.
    open: Option<pipe::Sender>,
}

impl Census {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("census-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_file(&path);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .expect("a pipe in the target folder");
        let lines = pipe::OpenOptions::new().open_receiver(&path).expect("a pipe can be read");
        let open = pipe::OpenOptions::new().open_sender(&path).expect("it has a reader");
        Self { path, lines: BufReader::new(lines), open: Some(open) }
    }

    /// A server's configuration.
    fn server(&self, kind: Kind) -> String {
        let program = quoted(awkward::program().to_str().expect("a path in UTF-8"));
        let pipe = quoted(self.path.to_str().expect("a path in UTF-8"));
        format!("{{ command: {program}, args: [{}, {pipe}], startTimeout: 1m }}", kind.word())
    }

    /// A configuration with a server of each of these kinds.
    fn config(&self, kinds: &[Kind], rest: &str) -> String {
        let mut config = String::from("mcpServers:\n");
        for kind in kinds {
            config.extend(["  ", &kind.word(), ": ", &self.server(*kind), "\n"]);
        }
        config + rest
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        soon("a line of an awkward process", self.lines.read_line(&mut line)).await.expect("readable");
        line
    }

    /// Waits until all processes of these kinds have reached their state.
    async fn all_there(&mut self, kinds: &[Kind]) {
        let mut missing: HashMap<String, usize> =
            kinds.iter().map(|kind| (kind.word(), kind.lines())).collect();
        let begun = Instant::now();
        while !missing.is_empty() {
            let line = self.line().await;
            let word = line.split(' ').next().unwrap_or_default();
            if let Some(count) = missing.get_mut(word) {
                *count -= 1;
                if *count == 0 {
                    missing.remove(word);
                }
            }
            assert!(begun.elapsed() < DEADLINE, "still missing: {missing:?}");
        }
    }

    /// Waits until no process is left.
    async fn nobody_left(&mut self, patience: Duration) {
        drop(self.open.take());
        let mut rest = Vec::new();
        let end = tokio::time::timeout(patience, self.lines.read_to_end(&mut rest)).await;
        assert!(end.is_ok(), "not gone within {patience:?}:\n{}", self.holders());
    }

    /// The processes that have the pipe open.
    fn holders(&self) -> String {
        let mut found = String::new();
        for process in std::fs::read_dir("/proc").expect("Linux").flatten() {
            let Ok(descriptors) = std::fs::read_dir(process.path().join("fd")) else { continue };
            if descriptors.flatten().any(|one| std::fs::read_link(one.path()).is_ok_and(|to| to == self.path))
            {
                let read = |name: &str| std::fs::read(process.path().join(name)).unwrap_or_default();
                let (line, stat) = (read("cmdline"), read("stat"));
                let text = String::from_utf8_lossy(&line).replace('\0', " ");
                found.extend([&*text, "\n    ", &*String::from_utf8_lossy(&stat)]);
            }
        }
        found
    }
}

impl Drop for Census {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Descriptors that report the end of processes that are not this process's children.
fn watched(pids: &[u32]) -> Vec<OwnedFd> {
    let open = |pid: &u32| pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok();
    pids.iter().filter_map(open).collect()
}

/// Waits until all of them have ended, at most until this time.
async fn ended(processes: Vec<OwnedFd>, until: Instant) -> bool {
    let wait = move || {
        processes.iter().all(|process| {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).expect("a few seconds");
            poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)) == Ok(1)
        })
    };
    transport::task::spawn_blocking(wait).await.expect("no panic")
}

/// Limits under which a gateway does not disturb such servers, and ends them quickly.
const LIMITS: &str = "limits: { connectTimeout: 1m, drainTimeout: 300ms, childStopTimeout: 500ms }\n";

#[tokio::test]
async fn nothing_is_left_of_a_gateway_that_was_killed() {
    let mut census = Census::new();
    let gateway = Gateway::start(&census.config(Kind::all(), "limits: { connectTimeout: 1m }\n")).await;
    census.all_there(Kind::all()).await;
    let guards: Vec<u32> = [named(gateway.pid(), GUARDIAN), named(gateway.pid(), HOLDER)].concat();
    assert!(guards.len() > Kind::all().len() / 2, "{guards:?}");
    let guards = watched(&guards);
    let killed = Instant::now();
    kill(gateway.pid(), Signal::KILL);
    census.nobody_left(PROMISE).await;
    assert!(ended(guards, killed + PROMISE).await, "guardian or holders are left after {PROMISE:?}");
}

#[tokio::test]
async fn nothing_is_left_of_a_gateway_that_stops() {
    let mut census = Census::new();
    let gateway = Gateway::start(&census.config(Kind::all(), LIMITS)).await;
    census.all_there(Kind::all()).await;
    let guards = watched(&[named(gateway.pid(), GUARDIAN), named(gateway.pid(), HOLDER)].concat());
    let ended_gateway = gateway.stop().await;
    assert_eq!(ended_gateway.code, Some(0), "{}", ended_gateway.err);
    // The gateway has waited for them.
    census.nobody_left(Duration::from_millis(100)).await;
    assert!(ended(guards, Instant::now() + PROMISE).await);
}

#[tokio::test]
async fn servers_outlive_their_guardian_and_new_ones_have_another() {
    let kinds = [Kind::OwnSession, Kind::Daemon, Kind::Chain];
    let mut census = Census::new();
    let config = census.config(&kinds, "  pipe: PIPE\nlimits: { connectTimeout: 1m }\n");
    let gateway = Gateway::start(&config.replace("PIPE", &odd_stdio(&[]))).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "1"})).await), "1");
    census.all_there(&kinds).await;
    let [guardian] = named(gateway.pid(), GUARDIAN)[..] else { panic!("one guardian") };
    kill(guardian, Signal::KILL);
    until("its end, reaped", || !std::path::Path::new(&format!("/proc/{guardian}")).exists()).await;
    // Their pipes do not pass through the guardian.
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "2"})).await), "2");
    let holders = named(gateway.pid(), HOLDER);
    assert!(holders.len() >= kinds.len(), "adopted: {holders:?}");
    // The next start needs another guardian. The holder without a server ends, and is reaped.
    session.call("pipe__die", &json!({"code": 9})).await;
    soon("its return", async { while session.call("pipe__ok", &json!({})).await.get("error").is_some() {} })
        .await;
    assert_eq!(named(gateway.pid(), GUARDIAN).len(), 1);
    let guards = watched(&[named(gateway.pid(), GUARDIAN), named(gateway.pid(), HOLDER)].concat());
    let killed = Instant::now();
    kill(gateway.pid(), Signal::KILL);
    census.nobody_left(PROMISE).await;
    assert!(ended(guards, killed + PROMISE).await);
}

#[tokio::test]
async fn what_a_killed_holder_leaves_is_ended_by_the_guardian() {
    let kinds = [Kind::OwnSession, Kind::Daemon, Kind::Adopter, Kind::Storm];
    let mut census = Census::new();
    let gateway = Gateway::start(&census.config(&kinds, "limits: { connectTimeout: 1m }\n")).await;
    census.all_there(&kinds).await;
    let holders = named(gateway.pid(), HOLDER);
    let left = watched(&descendants_of(gateway.pid()));
    let killed = Instant::now();
    for holder in holders {
        kill(holder, Signal::KILL);
    }
    assert!(ended(left, killed + PROMISE).await, "{}", census.holders());
    // They are started again, and the new ones also end.
    census.all_there(&kinds).await;
    kill(gateway.pid(), Signal::KILL);
    census.nobody_left(PROMISE).await;
}

#[tokio::test]
async fn a_server_finds_what_a_program_expects() {
    let server = "{ command: sleep, args: ['1000'], startTimeout: 1m }";
    let gateway = Gateway::start_with(&Start {
        config: &format!("mcpServers:\n  quiet: {server}\n"),
        env: &[("SECRET_OF_THE_GATEWAY", "hush")],
        ..Start::default()
    })
    .await;
    let pid = gateway.pid();
    until("the server", || matches!(children_of(pid)[..], [server] if name_of(server) == "sleep")).await;
    let server = children_of(pid)[0];
    let status = std::fs::read_to_string(format!("/proc/{server}/status")).expect("it runs");
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux says it");
        u64::from_str_radix(line.trim(), 16).expect("a mask")
    };
    // Bit 12 is SIGPIPE's. Signals that the test itself was started with are inherited.
    assert_eq!((mask("SigBlk:"), mask("SigIgn:") & 1 << 12), (0, 0), "{status}");
    let pipes = opened(server).filter(|to| to.starts_with("pipe:")).count();
    let others: Vec<String> = opened(server).filter(|to| !to.starts_with("pipe:")).collect();
    assert_eq!((pipes, others), (3, Vec::new()));
    for guard in [named(pid, GUARDIAN), named(pid, HOLDER)].concat() {
        let environment = std::fs::read(format!("/proc/{guard}/environ")).expect("it runs");
        assert_eq!(String::from_utf8_lossy(&environment), "");
        let count = |kind: &str| opened(guard).filter(|to| to.starts_with(kind)).count();
        assert_eq!(
            (count("socket:"), count("pipe:")),
            (1, 0),
            "a socket of its own, and no pipe of the server"
        );
    }
}

/// The open files of a process, except those that it inherited from this one.
fn opened(pid: u32) -> impl Iterator<Item = String> {
    let open = |pid: u32| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").flatten();
        descriptors
            .filter_map(|one| Some(std::fs::read_link(one.path()).ok()?.to_string_lossy().into_owned()))
    };
    let own: Vec<String> = open(std::process::id()).collect();
    open(pid).filter(move |to| !own.contains(to))
}

/// Processes that have ended, and that this process should have reaped.
fn zombies_of(pid: u32) -> Vec<String> {
    let stats = std::fs::read_dir("/proc").expect("Linux").flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(&format!(" Z {pid} "))))
        .collect()
}

#[tokio::test]
async fn as_the_first_process_it_reaps_everybodys_orphans_and_stops_when_it_is_told() {
    // Only root may start a process with PID 1; other users may do so in a user namespace of their own, if the system
    // lets them create one.
    let own_users: &[&str] = if geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    let first = [&["unshare"], own_users, &["--pid", "--fork", "--mount-proc", "--kill-child"]].concat();
    let done = command(first[0]).args(&first[1..]).arg("true").output().await;
    let done = done.expect("`unshare` (package util-linux) is installed");
    let why = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "run this test as root, or allow user namespaces: {why}");
    for servers in ["  demo: { native: demo }\n".to_owned(), format!("  pipe: {}\n", odd_stdio(&[]))] {
        let config = format!("mcpServers:\n{servers}");
        let gateway =
            Gateway::start_with(&Start { config: &config, under: &first, ..Start::default() }).await;
        let [pid] = children_of(gateway.pid())[..] else { panic!("the gateway is the only child") };
        let session = Legacy::open(gateway.http()).await;
        session.ask("tools/list", &json!({})).await;
        let target = pid.to_string();
        let users = own_users.first().copied();
        let inside = ["--target", &target, "--pid", "--mount"].into_iter().chain(users).chain(["sh", "-c"]);
        let inside: Vec<&str> = inside.collect();
        for _ in 0..10 {
            // One of the two ends before it is orphaned, or soon afterwards; the other one ends later.
            let orphans = "setsid true & setsid sleep 0.2 & exit 0";
            let done = command("nsenter").args(&inside).arg(orphans).status().await;
            assert!(done.expect("nsenter is where unshare is").success());
        }
        let sleeps = || family_of(pid).iter().any(|one| name_of(*one) == "sleep");
        until("the orphans' end", || !sleeps() && zombies_of(pid).is_empty()).await;
        kill(pid, Signal::TERM);
        let ended = gateway.ended().await;
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
}

fn name_of(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "a process beside the gateway, which nobody supervises")]
fn command(program: &str) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command
}
