//! The first screen of `serve` comes from a gateway that then serves; the terminal's client connects to it.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use super::run::{DEADLINE, Folder, command, in_folder};

/// Starts `dragoman` with these arguments and reads its first screen.
async fn greeted(folder: &Folder, args: &[&str], last: &str) -> (Child, String) {
    let mut child = command(&folder.0).args(args).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut screen = String::new();
    let read = async {
        while let Some(line) = lines.next_line().await.expect("text") {
            screen.push_str(&line);
            screen.push('\n');
            if line.contains(last) {
                return;
            }
        }
    };
    tokio::time::timeout(DEADLINE, read).await.expect("in time");
    (child, screen)
}

#[tokio::test]
async fn what_the_screen_says_works() {
    let folder = Folder::new();
    let (_serving, screen) = greeted(&folder, &["--listen", "0"], "Press Ctrl-C to stop").await;
    let url = screen.lines().next().and_then(|line| line.split(" serves ").nth(1)).unwrap().to_owned();
    assert!(screen.contains(&format!("claude mcp add --transport http dragoman {url}\n")), "{screen}");
    assert!(screen.contains("embedded demo"), "{screen}");
    for era in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let called = in_folder(&folder, &["call", &url, "hello", "name=Ada", "--era", era], "").await;
        assert_eq!(called.text(), "Hello, Ada!\n", "{era}: {called:?}");
    }
    let read = in_folder(&folder, &["read", &url, "demo://greeting/Ada"], "").await;
    assert_eq!(read.text(), "Hello, Ada!\n", "{read:?}");
    let program = env!("CARGO_BIN_EXE_dragoman");
    let bridged = in_folder(&folder, &["call", "add", "a=1", "b=2", "--", program, "stdio", &url], "").await;
    assert_eq!(bridged.text(), "3\n", "{bridged:?}");
    let child = in_folder(&folder, &["ping", "--json", "--", program, "stdio"], "").await;
    assert_eq!(child.json()["server"]["name"], "dragoman", "{child:?}");
}

#[tokio::test]
async fn scripts_get_json() {
    let folder = Folder::new();
    let (_serving, screen) = greeted(&folder, &["serve", "--json", "--listen", "127.0.0.1:0"], "urls").await;
    let hello: serde_json::Value = serde_json::from_str(&screen).unwrap();
    let url = hello["urls"][0].as_str().unwrap();
    assert_eq!(hello["profiles"][0], "default");
    let ping = in_folder(&folder, &["ping", url], "").await;
    assert_eq!(ping.code, Some(0), "{ping:?}");
}
