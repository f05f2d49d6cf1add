//! Completions, manual pages and new users.

use std::process::Stdio;

use super::run::{Folder, command, dragoman, in_folder};

#[tokio::test]
async fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let run = dragoman(&["completions", shell]).await;
        assert_eq!(run.code, Some(0), "{shell}");
        for word in ["doctor", "definitions", "dry-run"] {
            assert!(run.text().contains(word), "{shell}: {word}");
        }
    }
    let run = dragoman(&["completions", "tcsh"]).await;
    assert_eq!(run.code, Some(2), "{run:?}");
}

/// Bash loads the completions and completes the name of a command.
#[tokio::test]
async fn bash_completes_a_command() {
    let script = dragoman(&["completions", "bash"]).await;
    let folder = Folder::new().with("dragoman.bash", &script.out);
    let words = "source ./dragoman.bash; COMP_WORDS=(dragoman doc); COMP_CWORD=1; _dragoman dragoman doc dragoman; echo \"${COMPREPLY[@]}\"";
    #[expect(clippy::disallowed_methods, reason = "a shell, which nobody supervises")]
    let bash = tokio::process::Command::new("bash")
        .args(["--norc", "-c", words])
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&bash.stdout).trim(), "doctor", "{bash:?}");
}

#[tokio::test]
async fn manual_pages_are_printed_and_written() {
    let page = dragoman(&["man"]).await;
    assert!(page.text().contains(".TH dragoman 1") && page.text().contains("Exit codes"), "{}", page.text());
    let page = dragoman(&["man", "doctor"]).await;
    assert!(page.text().contains(".TH dragoman-doctor 1"), "{}", page.text());
    let folder = Folder::new();
    let run = in_folder(&folder, &["man", "--save", "man1"], "").await;
    assert_eq!(run.code, Some(0), "{run:?}");
    for name in ["dragoman.1", "dragoman-add.1", "dragoman-key-new.1"] {
        assert!(folder.0.join("man1").join(name).is_file(), "{name}");
    }
    let unknown = dragoman(&["man", "docter"]).await;
    assert!(unknown.code == Some(2) && unknown.err.contains("the commands are"), "{unknown:?}");
}

#[tokio::test]
async fn a_new_user_can_log_in() {
    let folder = Folder::new();
    let made = in_folder(&folder, &["user", "new", "ann", "--json"], "").await.json();
    let (password, hash) = (made["password"].as_str().unwrap(), made["hash"].as_str().unwrap());
    assert!(password.len() == 23 && hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{made}");
    let again = in_folder(&folder, &["user", "new", "ann", "--json"], "").await.json();
    assert_ne!(again["password"], made["password"]);
    let line = in_folder(&folder, &["user", "new", "ann", "--stdin"], "correct horse\n").await;
    for place in ["`auth: users:`", "`admin: users:`"] {
        assert!(line.err.contains(place), "{line:?}");
    }
    assert!(
        line.text().starts_with("\"ann\": \"$argon2id$") && !line.err.contains("correct horse"),
        "{line:?}"
    );
    let config = format!(
        "listen: 127.0.0.1:0\nmcpServers: {{ demo: {{ native: demo }} }}\nauth:\n  users:\n    {}    bob: \"{hash}\"\n",
        line.text()
    );
    let folder = folder.with("dragoman.yaml", config);
    let mut serving = command(&folder.0).args(["serve", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(serving.stdout.take().unwrap()));
    let hello: serde_json::Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    let url = hello["urls"][0].as_str().unwrap();
    for (user, password, code) in [("bob", password, 0), ("ann", "correct horse", 0), ("ann", "wrong", 1)] {
        let basic =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{user}:{password}"));
        let header = format!("Authorization: Basic {basic}");
        let ping = in_folder(&folder, &["ping", url, "-H", &header], "").await;
        assert_eq!(ping.code, Some(code), "{user}: {ping:?}");
    }
    let refused = in_folder(&folder, &["ping", url], "").await;
    assert!(refused.err.contains("answered HTTP 401: authentication is required"), "{refused:?}");
    assert!(refused.err.contains("this server requires credentials; send them with --header"), "{refused:?}");
    for (name, input) in [("a:b", "long enough\n"), ("ann", "short\n"), ("", "long enough\n")] {
        let bad = in_folder(&folder, &["user", "new", name, "--stdin"], input).await;
        assert_eq!(bad.code, Some(2), "{name} {input}: {bad:?}");
    }
}
