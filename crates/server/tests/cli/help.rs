//! The output of `--help`, word for word.

use super::run::{dragoman, golden};

#[tokio::test]
async fn help_of_every_command() {
    let commands = [
        "",
        "serve",
        "stdio",
        "init",
        "import",
        "connect",
        "disconnect",
        "add",
        "remove",
        "check",
        "doctor",
        "status",
        "logs",
        "top",
        "server",
        "profile",
        "session",
        "consent",
        "list",
        "call",
        "read",
        "prompt",
        "ping",
        "key",
        "user",
        "keyring",
        "definitions",
        "audit",
        "admin",
        "completions",
        "man",
        "schema",
        "config",
    ];
    for command in commands {
        let mut args: Vec<&str> = command.split_whitespace().collect();
        args.push("--help");
        let run = dragoman(&args).await;
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{command}");
        let name = if command.is_empty() { "dragoman" } else { command };
        golden(&format!("help-{name}.txt"), run.text());
    }
}

#[tokio::test]
async fn a_wrong_command_line_is_a_usage_error() {
    for (args, says) in [
        (&["serv"][..], "serve"),
        (&["list", "--era", "1999-01-01", "demo"], "supported versions are"),
        (&["serve", "--listen", "nowhere"], "a port alone"),
        (&["ping", "--timeout", "0", "demo"], "--timeout"),
        (&["--listen", "9000", "list", "demo"], "write them after `serve`"),
        (&["-q", "-v", "check"], "cannot be used with"),
        (&["list", "-H", "nocolon", "demo"], "Name: value"),
    ] {
        let run = dragoman(args).await;
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains(says) && run.out.is_empty(), "{args:?}: {}", run.err);
        let script: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let run = dragoman(&script).await;
        let message = run.json()["error"]["message"].as_str().expect("a message").to_owned();
        let says_it = format!("{message} {}", run.json()["error"]["help"]).contains(says);
        assert!(run.code == Some(2) && run.err.is_empty() && says_it, "{script:?}: {run:?}");
    }
}

#[tokio::test]
async fn the_schema_is_printed_by_both_names() {
    let (one, other) = (dragoman(&["schema"]).await, dragoman(&["config", "schema"]).await);
    assert_eq!(one.out, other.out);
    assert_eq!(one.json()["title"], "Dragoman configuration");
}
