//! The environment of a child, and the error that its owner gets if the child cannot be started.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use super::*;

/// Everything that `env` prints for `spec`.
async fn environment(spec: Spec) -> Vec<String> {
    let (_supervisor, mut child) = start(&spec, Limits::default()).await;
    let mut lines = Vec::new();
    while let Ok(line) = within(child.recv()).await {
        lines.push(String::from_utf8(line.to_vec()).unwrap());
    }
    lines
}

#[tokio::test]
async fn the_environment_is_minimal() {
    // Cargo sets this variable for every test; it represents the secrets of the parent.
    let secret = std::env::var("CARGO_PKG_NAME").unwrap();
    let lines = environment(Spec::new("env").env("GIVEN", "a b=c").env("HOME", "/own")).await;
    assert!(lines.iter().any(|line| line == "GIVEN=a b=c"));
    assert!(lines.iter().any(|line| line == "HOME=/own"), "the configuration wins");
    assert!(lines.iter().any(|line| line.starts_with("PATH=")));
    assert!(!lines.iter().any(|line| line.contains("CARGO_")), "{lines:?}");

    let named = Spec { inherit: vec!["CARGO_PKG_N*".into()], ..Spec::new("env") };
    let lines = environment(named).await;
    assert!(lines.contains(&format!("CARGO_PKG_NAME={secret}")));
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let odd = ["a b", "$HOME", "`id`", "; exit 1", "*", "", "\n", "'\""];
    let mut spec = Spec::new("printf").arg("<%s>");
    spec.args.extend(odd.map(String::from));
    let (_supervisor, mut child) = start(&spec, Limits::default()).await;
    assert_eq!(line(&mut child).await, "<a b><$HOME><`id`><; exit 1><*><><");
    assert_eq!(line(&mut child).await, "><'\">");
}

#[tokio::test]
async fn the_working_directory_is_the_one_asked_for() {
    let spec = Spec { cwd: Some("/usr/bin".into()), ..Spec::new("pwd") };
    let (_supervisor, mut child) = start(&spec, Limits::default()).await;
    assert_eq!(line(&mut child).await, "/usr/bin");
}

async fn refusal(spec: Spec) -> String {
    let supervisor = super::supervisor(1);
    let error = within(supervisor.spawn(&spec, Limits::default())).await.unwrap_err();
    assert_eq!(supervisor.count(), 0);
    error.to_string()
}

#[tokio::test]
async fn a_missing_program_is_explained() {
    let nowhere = |program: &str| Spec::new(program).env("PATH", "/nowhere");
    assert_eq!(
        refusal(nowhere("npx")).await,
        "npx was not found in PATH (/nowhere); install Node.js (https://nodejs.org), or give the full path as \
         `command`, or set PATH in this server's `env`"
    );
    assert!(refusal(nowhere("uvx")).await.contains("install uv"));
    assert!(
        refusal(nowhere("frobnicate")).await.contains("PATH (/nowhere); install it, or give the full path")
    );
    assert!(refusal(nowhere("npx -y thing")).await.contains("put the words after the first into `args`"));
    assert!(
        refusal(Spec::new("~/bin/server"))
            .await
            .ends_with("there is no shell that would expand `~`: write the whole path")
    );
    assert_eq!(
        refusal(Spec::new("/no/such/program")).await,
        "/no/such/program was not found in the file system; check the path"
    );
}

#[tokio::test]
async fn a_missing_directory_is_explained() {
    let inside = |cwd: &str| Spec { cwd: Some(cwd.into()), ..Spec::new("cat") };
    assert_eq!(refusal(inside("/no/such")).await, "the working directory /no/such of cat does not exist");
    assert_eq!(
        refusal(inside("/etc/passwd")).await,
        "the working directory /etc/passwd of cat is not a directory"
    );
}

/// A file in its own folder, deleted with the value.
struct Script(PathBuf);

impl Script {
    fn new(name: &str, content: &str, mode: u32) -> Self {
        let folder = std::env::temp_dir().join(format!("dragoman-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), content).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        Self(folder)
    }

    fn spec(&self, name: &str) -> Spec {
        Spec::new(self.0.join(name).to_str().unwrap())
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // A leftover in the folder for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_run_is_explained() {
    let plain = Script::new("plain", "#!/bin/sh\n", 0o644);
    assert!(refusal(plain.spec("plain")).await.contains("permission denied; `chmod +x /"));
    let orphan = Script::new("orphan", "#!/no/such/interpreter\n", 0o755);
    assert!(refusal(orphan.spec("orphan")).await.contains("its `#!` line or loader) does not exist"));
    assert!(refusal(Spec::new("/usr/bin")).await.contains("is a directory"));
}

#[tokio::test]
async fn what_no_process_can_be_given_is_named() {
    assert_eq!(
        refusal(Spec::new("")).await,
        "the program cannot be started: `command` is empty; set it to the name or the path of a program"
    );
    assert_eq!(
        refusal(Spec::new("cat").arg("a\0b")).await,
        "cat cannot be started: argument 1 contains a NUL character"
    );
    assert_eq!(
        refusal(Spec::new("cat").env("A=B", "c")).await,
        "cat cannot be started: \"A=B\" is not a valid name for an environment variable"
    );
    assert_eq!(
        refusal(Spec::new("cat").env("A", "b\0c")).await,
        "cat cannot be started: the environment variable A contains a NUL character"
    );
}

#[test]
fn secrets_of_a_spec_are_not_printed() {
    let printed = format!("{:?}", Spec::new("cat").arg("hush1").env("TOKEN", "hush2"));
    assert!(printed.contains("TOKEN") && !printed.contains("hush"), "{printed}");
}
