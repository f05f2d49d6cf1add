//! The commands in the documentation are run, and their output must match it.

#![allow(clippy::disallowed_methods, reason = "a test starts the program as a person would, from a shell")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod not_run;

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The pages whose `console` blocks are run. Blocks with `yaml` are loaded by the tests of the configuration.
const EXECUTED: [&str; 7] = [
    "README.md",
    "docs/get-started.md",
    "docs/terminal.md",
    "docs/configuration.md",
    "docs/connect.md",
    "docs/authentication.md",
    "docs/many-tools.md",
];

/// A command in the documentation, and the output that is shown below it.
struct Shown {
    place: String,
    command: String,
    output: Vec<String>,
}

/// The `dragoman` commands in the `console` blocks of a page.
fn commands(name: &str, page: &str) -> Vec<Shown> {
    commands_for("dragoman ", name, page)
}

fn commands_for(program: &str, name: &str, page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let (mut inside, mut ours) = (false, false);
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
            ours = false;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            let command = command.replace("target/release/dragoman", "dragoman");
            ours = command.contains(program) && !command.starts_with("cargo ");
            if ours {
                found.push(Shown { place: format!("{name}:{}", number + 1), command, output: Vec::new() });
            }
        } else if ours && let Some(last) = found.last_mut() {
            last.output.push(line.to_owned());
        }
    }
    found
}

#[test]
fn what_the_documentation_shows_works() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for name in EXECUTED {
        let shown = commands(name, &fs::read_to_string(checkout.join(name)).unwrap());
        count += shown.len();
        in_order(&name.replace('/', "-"), shown);
    }
    assert!(count >= 20, "only {count} commands were found");
}

/// Runs the commands of a page in a folder of its own without any configuration, so that the demo is served.
fn in_order(page: &str, shown: Vec<Shown>) {
    let empty =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("commands-of-{page}-{}", std::process::id()));
    fs::create_dir_all(&empty).unwrap();
    for Shown { place, command, output } in shown {
        let said = Command::new("sh")
            .args(["-c", &format!("dragoman() {{ \"$DRAGOMAN\" \"$@\"; }}; {command}")])
            .env("DRAGOMAN", env!("CARGO_BIN_EXE_dragoman"))
            .env("HOME", &empty)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("DRAGOMAN_LOG")
            .current_dir(&empty)
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success(), "{place}: `{command}` failed: {out}{err}");
        assert!(!out.trim().is_empty(), "{place}: `{command}` said nothing; {err}");
        for line in output {
            assert!(
                out.lines().any(|said| said == line),
                "{place}: `{command}` did not say {line:?}, but: {out}"
            );
        }
    }
    fs::remove_dir_all(empty).unwrap();
}

/// A gateway that serves until this is dropped.
struct Serving {
    child: Child,
    address: String,
    home: PathBuf,
}

/// A connection over TCP or a Unix socket.
trait Connection: Read + Write {}

impl<T: Read + Write> Connection for T {}

impl Serving {
    fn start(folder: &Path, config: &str) -> Self {
        fs::create_dir_all(folder).unwrap();
        let file = folder.join("dragoman.yaml");
        fs::write(&file, config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_dragoman"))
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .env("HOME", folder)
            .env_remove("XDG_DATA_HOME")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let hello: serde_json::Value = serde_json::from_str(&line).unwrap();
        let url = hello["urls"][0].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { child, address, home: folder.to_path_buf() }
    }

    /// Does what `curl` would do with these arguments: a method, headers, a body, a URL. Returns the body of the
    /// answer.
    fn curl(&self, command: &str) -> String {
        let (mut method, mut headers, mut body, mut url) = (None, String::new(), None, String::new());
        let mut socket = None;
        let mut words = words(command).into_iter().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "-s" => {}
                "-X" => method = words.next(),
                "-H" => headers.extend([words.next().unwrap().as_str(), "\r\n"]),
                "-d" => body = words.next(),
                "--unix-socket" => socket = words.next(),
                _ => url = word,
            }
        }
        let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
        let origin = if socket.is_some() { "http://localhost" } else { "http://127.0.0.1:8808" };
        let (path, body) = (url.strip_prefix(origin).unwrap(), body.unwrap_or_default());
        let (address, length) = (&self.address, body.len());
        let mut stream: Box<dyn Connection> = match socket {
            Some(path) => Box::new(self.over_socket(&path)),
            None => Box::new(TcpStream::connect(address).unwrap()),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// A connection to the gateway's socket, which is opened a moment after its port.
    fn over_socket(&self, path: &str) -> UnixStream {
        let path = self.home.join(path.strip_prefix("~/").unwrap());
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            match UnixStream::connect(&path) {
                Ok(stream) => return stream,
                Err(e) => assert!(Instant::now() < deadline, "{}: {e}", path.display()),
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The words of a command, split like in a shell: separated by blanks, some in single quotes.
fn words(command: &str) -> Vec<String> {
    let quoted = command.split('\'').enumerate();
    quoted
        .flat_map(|(number, part)| match number % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}

#[test]
fn what_the_page_on_managing_shows_works_in_its_order() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/management.md");
    let shown = commands_for("curl ", "docs/management.md", &fs::read_to_string(page).unwrap());
    assert!(shown.len() >= 8, "only {} commands were found", shown.len());
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("docs-on-managing-{}", std::process::id()));
    let config = "management: true\nmcpServers: { demo: { native: demo } }\n";
    let serving = Serving::start(&folder, config);
    for Shown { place, command, output } in shown {
        let said = serving.curl(&command);
        for line in output {
            // The order of members does not matter, and no two runs start at the same time.
            let read = |text: &str| {
                let mut read = serde_json::from_str::<serde_json::Value>(text).ok()?;
                if let Some(since) = read.get_mut("since").filter(|since| since.is_string()) {
                    *since = "a time".into();
                }
                Some(read)
            };
            let is_said = read(&said).is_some() && read(&said) == read(&line);
            assert!(is_said, "{place}: `{command}` did not say {line:?}, but: {said}");
        }
        assert!(!said.contains("\"error\":{") || command.contains("DELETE"), "{place}: {said}");
    }
    drop(serving);
    fs::remove_dir_all(folder).unwrap();
}
