//! The first contact of a new user, with times: from an empty home folder to a call of a real server's tool, with
//! the three commands that a new user needs.

use super::inspected::endpoint;
use crate::package::workshop::Workshop;
use crate::run::Service;
use crate::tally::Tally;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The maximum time that a new user has to wait.
const PATIENCE: Duration = Duration::from_mins(2);

/// A real server, which is downloaded from its registry into empty caches.
const SERVER: &str = "@modelcontextprotocol/server-everything";

/// Installs, adds a server, starts, and calls a tool with the Inspector; prints the times.
pub(in crate::package) fn timed(workshop: &Workshop<'_>, npm: &[PathBuf]) -> Result<Tally, String> {
    let home = Workshop::empty("first-contact")?;
    let path = format!(
        "{}:{}",
        workshop.node.program().with_file_name("").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let user = |program: &str| {
        let mut command = Command::new(program);
        command
            .env("HOME", &home)
            .env("npm_config_cache", home.join(".npm"))
            .env("PATH", &path)
            .current_dir(&home);
        command
    };
    let started = Instant::now();
    let mut install = user("npm");
    install
        .args(["install", "--global", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(home.join("prefix"));
    workshop.log.run(install.args(npm))?;
    let installed = started.elapsed();
    let dragoman = home.join("prefix/bin/dragoman").display().to_string();
    workshop.log.run(user(&dragoman).args(["add", "everything", "--", "npx", "-y", SERVER]))?;
    let mut serve = user(&dragoman);
    serve.args(["serve", "--listen", "127.0.0.1:0"]);
    let (service, url) = Service::start(&mut serve, workshop.log, endpoint)?;
    let running = started.elapsed();
    let call: [&str; 4] =
        ["--tool-name", "everything__echo", "--tool-arg", "message=hello from the first contact"];
    // The server is downloaded meanwhile; until then, its tools are unknown.
    let (good, said) = loop {
        let mut inspector = workshop.inspector(&["--transport", "http", &url], "tools/call")?;
        let (good, said) = workshop.log.status(inspector.args(call))?;
        if good || started.elapsed() > PATIENCE {
            break (good, said);
        }
    };
    let called = started.elapsed();
    if !good {
        service.tell(workshop.log);
    }
    println!(
        "{:<16} installed after {:.1} s, running after {:.1} s, a tool of {SERVER} called after {:.1} s",
        "first contact",
        installed.as_secs_f64(),
        running.as_secs_f64(),
        called.as_secs_f64()
    );
    let answered = good && said.contains("hello from the first contact");
    Ok(workshop.judged(answered, "a tool of a real server answers")
        + workshop.judged(called < PATIENCE, "within two minutes"))
}
