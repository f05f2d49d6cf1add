//! A person at a terminal: questions are asked and answered, and Ctrl-C ends a call.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use testkit::fixture::Eras;
use tokio::process::Child;
use tokio::sync::watch;

use super::run::{DEADLINE, Folder, command, program, server};
use super::support::{Puppet, Said};

/// The program at a separate terminal, which also gets its stdout.
pub(super) struct Person {
    child: Child,
    keys: File,
    screen: watch::Receiver<String>,
    read: usize,
    _folder: Folder,
}

impl Person {
    fn sit_down(args: &[&str]) -> Self {
        Self::at_width(80, args)
    }

    /// Starts the program at a terminal of this width.
    pub(super) fn at_width(columns: u16, args: &[&str]) -> Self {
        let folder = Folder::new();
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it is ours");
        let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).expect("it is ours");
        let name = ptsname(&ours, Vec::new()).expect("its name");
        let theirs =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("a free number"));
        let mut command = command(&folder.0);
        command.args(args).env("TERM", "xterm").stdin(end(&theirs)).stdout(end(&theirs)).stderr(end(&theirs));
        let child = command.spawn().expect("it starts");
        drop(command);
        drop(theirs);
        let keys = File::from(ours);
        let screen = watched(keys.try_clone().expect("a free number"));
        Self { child, keys, screen, read: 0, _folder: folder }
    }

    /// Waits until `text` appears on the screen after everything that was already waited for.
    pub(super) async fn sees(&mut self, text: &str) {
        let read = self.read;
        let seen = self.screen.wait_for(|screen| screen[read..].contains(text));
        let found =
            tokio::time::timeout(DEADLINE, seen).await.ok().and_then(Result::ok).map(|screen| screen.clone());
        let screen =
            found.unwrap_or_else(|| panic!("no {text:?} on the screen:\n{}", self.screen.borrow().as_str()));
        self.read += screen[read..].find(text).expect("it was waited for") + text.len();
    }

    pub(super) fn types(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).expect("the program is there");
    }

    /// Sends the signal that Ctrl-C sends.
    pub(super) fn interrupts(&self) {
        interrupt(&self.child);
    }

    /// Sends a signal to the program.
    fn is_sent(&self, signal: Signal) {
        send(&self.child, signal);
    }

    async fn ends(self) -> Option<i32> {
        self.leaves().await.0
    }

    /// Waits for the end of the program; returns its exit code and everything that was on the screen.
    pub(super) async fn leaves(mut self) -> (Option<i32>, String) {
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await.expect("in time");
        let code = ended.expect("it ends").code();
        // The reader of the terminal ends once nobody holds the other end open.
        while self.screen.changed().await.is_ok() {}
        let screen = self.screen.borrow().clone();
        (code, screen)
    }
}

/// Sends the signal that Ctrl-C at a terminal sends to the program there.
fn interrupt(child: &Child) {
    send(child, Signal::INT);
}

fn send(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("it runs");
    kill_process(pid, signal).expect("it runs");
}

/// The growing output at a terminal, as text.
fn watched(mut terminal: File) -> watch::Receiver<String> {
    let (sender, receiver) = watch::channel(String::new());
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // The read fails once nobody holds the other end open.
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            sender.send_modify(|screen| screen.push_str(&String::from_utf8_lossy(&bytes[..count])));
        }
    });
    receiver
}

#[tokio::test]
async fn a_form_is_filled_in() {
    let http = server(Eras::default()).await;
    for era in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut person = Person::sit_down(&[
            "call",
            &http.url(),
            "test_elicitation_sep1034_defaults",
            "--era",
            era,
            "--color",
            "never",
        ]);
        person.sees("The server asks: Please review these values").await;
        // In this version, only yes-or-no questions have defaults.
        let is_without_defaults = era == "2025-06-18";
        person
            .sees(if is_without_defaults { "name (text, optional): " } else { "name (text, optional) [" })
            .await;
        person.types("Ada\n");
        person.sees("age (whole number").await;
        person.types("old\n");
        person.sees("write a whole number").await;
        person.sees("age (whole number").await;
        for _ in 0..4 {
            person.types("\n");
        }
        person.sees("action=accept").await;
        person.sees("\"name\":\"Ada\"").await;
        assert_eq!(person.ends().await, Some(0), "{era}");
    }
}

/// Many servers of several versions can ask only in a session, so such a version is used if somebody can answer.
#[tokio::test]
async fn a_version_that_can_ask_is_used() {
    let http = server(Eras::default()).await;
    let args = ["call", &http.url(), "test_elicitation", "message=Who?", "-v", "--color", "never"];
    let mut person = Person::sit_down(&args);
    person.sees("connected, protocol version 2025-11-25").await;
    person.sees("username").await;
    person.types("!\n");
    person.sees("action=decline").await;
    assert_eq!(person.ends().await, Some(0));
    let mut person = Person::sit_down(&["list", &http.url(), "tools", "-v", "--color", "never"]);
    person.sees("connected, protocol version 2026-07-28").await;
    assert_eq!(person.ends().await, Some(0));
}

#[tokio::test]
async fn a_long_wait_shows_that_it_lasts() {
    let silent = Puppet::start(|_, request| match request.method() {
        "tools/call" => Said::Hold(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let era = super::support::LEGACY;
    let mut person = Person::sit_down(&["call", &silent.url(), "ok", "--era", era, "--color", "never"]);
    person.sees("\r\u{1b}[Kwaiting for an answer, 2 s; Ctrl-C cancels").await;
    person.sees("waiting for an answer, 3 s").await;
    person.interrupts();
    let (code, screen) = person.leaves().await;
    assert!(code == Some(130) && screen.trim_end().ends_with("\u{1b}[K"), "{screen:?}");
    let start = format!("sleep 3; exec {} --stdio", program());
    let mut person = Person::sit_down(&["ping", "--color", "never", "--", "sh", "-c", &start]);
    person.sees("starting sh, 2 s").await;
    person.sees("\r\u{1b}[K").await;
    person.sees("answers in").await;
    assert_eq!(person.ends().await, Some(0));
}

#[tokio::test]
async fn a_question_is_declined() {
    let mut person =
        Person::sit_down(&["call", "test_elicitation", "message=Who?", "--", program(), "--stdio"]);
    person.sees("username").await;
    person.types("!\n");
    person.sees("action=decline").await;
    assert_eq!(person.ends().await, Some(0));
}

/// Returns true if the terminal shows what is typed.
fn is_shown(terminal: &OwnedFd) -> bool {
    tcgetattr(terminal).expect("it is ours").local_modes.contains(LocalModes::ECHO)
}

#[tokio::test]
async fn a_password_is_not_shown_and_the_terminal_is_restored() {
    for end in [None, Some(Signal::INT), Some(Signal::TERM), Some(Signal::HUP)] {
        let mut person = Person::sit_down(&["user", "new", "ann", "--stdin", "--color", "never"]);
        let name = ptsname(&person.keys, Vec::new()).expect("its name");
        let terminal =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");
        person.sees("Password (not shown): ").await;
        assert!(!is_shown(&terminal), "{end:?}");
        match end {
            None => person.types("correct horse\n"),
            Some(signal) => person.is_sent(signal),
        }
        let ended = tokio::time::timeout(DEADLINE, person.child.wait()).await.expect("in time");
        assert_eq!(ended.expect("it ends").code(), Some(if end.is_some() { 130 } else { 0 }), "{end:?}");
        assert!(is_shown(&terminal), "{end:?}");
        assert!(!person.screen.borrow().contains("horse"), "{end:?}");
    }
}

#[tokio::test]
async fn ctrl_c_ends_a_question() {
    let mut person =
        Person::sit_down(&["call", "test_elicitation", "message=Who?", "--", program(), "--stdio"]);
    person.sees("username").await;
    interrupt(&person.child);
    assert_eq!(person.ends().await, Some(130));
}

#[tokio::test]
async fn ctrl_c_cancels_a_call() {
    let era = super::support::LEGACY;
    let silent = Puppet::start(|_, request| match request.method() {
        "tools/call" => Said::Hold(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let folder = Folder::new();
    let mut child = command(&folder.0).args(["call", &silent.url(), "slow", "--era", era]).spawn().unwrap();
    silent.was_sent("tools/call", 1).await;
    interrupt(&child);
    let status = tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(130));
    let received = silent.received();
    let call = received.iter().find(|one| one.method() == "tools/call").unwrap();
    let cancelled = received.iter().find(|one| one.method() == "notifications/cancelled").unwrap();
    assert_eq!(cancelled.body["params"]["requestId"], call.body["id"]);
}

#[tokio::test]
async fn progress_is_drawn_and_cleared() {
    let http = server(Eras::default()).await;
    let mut person = Person::sit_down(&["call", &http.url(), "test_tool_with_progress"]);
    person.sees("50% working").await;
    person.sees("\r\x1b[K").await;
    person.sees("Tool with progress executed successfully").await;
    assert_eq!(person.ends().await, Some(0));
}
