//! The format of a transcript: its rule, then scenes, each with a set-up, requests and answers.
//!
//! ```text
//! S0-08: A message without an id is acknowledged by status 202, without a body.
//!
//! preset: buddyboss
//! env: WORDPRESS_URL=‹site›
//!
//! > POST /wp-json/buddyboss-mcp/v1/mcp
//! > Authorization: ‹admin›
//! >
//! > {"jsonrpc":"2.0","method":"notifications/initialized"}
//! < 202
//! < !Mcp-Session-Id
//! ```
//!
//! | line | means |
//! |---|---|
//! | `preset: NAME` | the preset to serve; `none` for the configuration alone |
//! | `transport: stdio` | uses pipes; otherwise HTTP |
//! | `env: NAME=VALUE` | an environment variable |
//! | `config: LINE` | a line of a configuration that extends the preset |
//! | `site: without-buddyboss`, `site: broken` | a property of the site |
//! | `bridge: /path` | over pipes: Dragoman as a bridge to the preset, which is served over HTTP at this path |
//! | `alone` | no other scene uses the same gateway |
//! | `---` | another scene |
//! | `> …`, `< …` | a request, an answer: over HTTP head, an empty line, body; over pipes one line each |
//! | `< !Name` | the header is absent |
//! | `~ …` | a line of the next event of the open stream; an empty `~` separates events |
//! | `@ …`, `@2 …` | a request to the first, the second site since the last `>`; `@ nothing`; `@ never …` in the whole scene |
//! | `! …` | a line in the log; `!- …` a text that is absent from the log |
//! | `$ …` | a command of Dragoman; `<` lines show its output |
//! | `= close` | closes the input, or the stream; a process must then end successfully |
//! | `= stop` | tells the gateway to stop |
//! | `= within 25s..45s` | the time in which the next event comes |
//! | `# …` | a comment |
//!
//! If the transcript's answer has no body, the real answer must have none either. `words` and `json` explain `…` and names in
//! `‹…›`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The set-up of a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SetUp {
    pub(crate) preset: String,
    pub(crate) pipes: bool,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) config: String,
    pub(crate) site: String,
    pub(crate) bridge: Option<String>,
    pub(crate) alone: bool,
}

/// A head or an event, and the text after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// The lines up to the first empty one.
    pub(crate) head: Vec<String>,
    /// The text after the head; `None` without an empty line.
    pub(crate) body: Option<String>,
}

/// An action or an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A request over HTTP, or lines over pipes.
    Send(Part),
    /// The expected answer.
    Receive(Part),
    /// The next event's lines.
    Event(Vec<String>),
    /// The time in which the next event comes.
    Within(Duration, Duration),
    /// A request that has reached a site, which is given by number.
    Reached(usize, Part),
    /// A line in the log.
    Logged(String),
    /// A text that is absent from the log.
    Unlogged(String),
    /// A command.
    Run(String),
    /// Closes the input or the stream.
    Close,
    /// Tells the gateway to stop.
    Stop,
}

/// A set-up and its steps.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) setup: SetUp,
    /// The steps, each with its line number.
    pub(crate) steps: Vec<(usize, Step)>,
}

/// A transcript.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// The number of the rule, which is also the file's name.
    pub(crate) name: String,
    pub(crate) rule: String,
    pub(crate) scenes: Vec<Scene>,
}

/// The folder of the transcripts.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/dialects/transcripts")
}

impl File {
    /// All transcripts, by name; unreadable ones are returned as faults.
    pub(crate) fn all() -> (Vec<Self>, Vec<String>) {
        let entries = fs::read_dir(folder()).expect("there are transcripts");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for name in names {
            let text = fs::read_to_string(folder().join(&name)).expect("it can be read");
            match name.strip_suffix(".txt").ok_or("its name does not end in .txt".to_owned()) {
                Ok(stem) => match Self::read(stem, &text) {
                    Ok(file) => files.push(file),
                    Err(why) => faults.push(format!("{name}: {why}")),
                },
                Err(why) => faults.push(format!("{name}: {why}")),
            }
        }
        (files, faults)
    }

    fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end())).peekable();
        let (_, first) = lines.next().ok_or("it is empty")?;
        let rule = first.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
        let rule = rule.ok_or_else(|| format!("the first line is {name}: and the rule"))?.to_owned();
        let mut scenes = vec![Scene { setup: SetUp::default(), steps: Vec::new() }];
        for (at, line) in lines {
            let Some(scene) = scenes.last_mut() else { break };
            if line == "---" {
                scenes.push(Scene { setup: SetUp::default(), steps: Vec::new() });
            } else {
                scene.take(at, line).map_err(|why| format!("line {at}: {why}"))?;
            }
        }
        for scene in &scenes {
            let expects =
                |(_, step): &(usize, Step)| !matches!(step, Step::Send(_) | Step::Close | Step::Stop);
            if scene.setup.preset.is_empty() || !scene.steps.iter().any(expects) {
                return Err("each scene needs a preset and something that must come".to_owned());
            }
        }
        Ok(Self { name: name.to_owned(), rule, scenes })
    }
}

impl Scene {
    fn take(&mut self, at: usize, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with("# ") {
            return Ok(());
        }
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        let pipes = self.setup.pipes;
        match mark {
            ">" if pipes => self.push(at, Step::Send(Part { head: vec![rest.to_owned()], body: None })),
            "<" if pipes => self.push(at, Step::Receive(Part { head: vec![rest.to_owned()], body: None })),
            ">" => self.extend(
                at,
                rest,
                |step| if let Step::Send(part) = step { Some(part) } else { None },
                Step::Send,
            )?,
            "<" => self.extend(
                at,
                rest,
                |step| if let Step::Receive(part) = step { Some(part) } else { None },
                Step::Receive,
            )?,
            "~" => self.event(at, rest),
            "@" => self.reached(at, 0, rest),
            "@2" => self.reached(at, 1, rest),
            "!" => self.push(at, Step::Logged(rest.to_owned())),
            "!-" => self.push(at, Step::Unlogged(rest.to_owned())),
            "$" => self.push(at, Step::Run(rest.to_owned())),
            "=" => {
                let step = match rest.split_once(' ') {
                    None if rest == "close" => Step::Close,
                    None if rest == "stop" => Step::Stop,
                    Some(("within", times)) => within(times).ok_or("within takes 1s..2s")?,
                    _ => return Err(format!("{rest:?} is nothing that can be done")),
                };
                self.push(at, step);
            }
            _ => return self.setup.take(line),
        }
        Ok(())
    }

    fn push(&mut self, at: usize, step: Step) {
        self.steps.push((at, step));
    }

    /// Continues the last part, if this line is of the same kind and directly follows it.
    fn extend(
        &mut self,
        at: usize,
        line: &str,
        kind: impl Fn(&mut Step) -> Option<&mut Part>,
        new: impl Fn(Part) -> Step,
    ) -> Result<(), String> {
        let last = self.steps.last_mut();
        match last.and_then(|(begun, step)| Some((*begun, kind(step)?))) {
            Some((begun, part)) if begun + part.lines() == at => {
                match &mut part.body {
                    Some(body) if body.is_empty() => line.clone_into(body),
                    Some(body) => {
                        body.push('\n');
                        body.push_str(line);
                    }
                    None if line.is_empty() => part.body = Some(String::new()),
                    None => part.head.push(line.to_owned()),
                }
                Ok(())
            }
            _ if line.is_empty() => Err("a part begins with an empty line".to_owned()),
            _ => {
                self.push(at, new(Part { head: vec![line.to_owned()], body: None }));
                Ok(())
            }
        }
    }

    fn event(&mut self, at: usize, line: &str) {
        match self.steps.last_mut() {
            Some((begun, Step::Event(lines))) if *begun + lines.len() == at && !line.is_empty() => {
                lines.push(line.to_owned());
            }
            _ if line.is_empty() => {}
            _ => self.push(at, Step::Event(vec![line.to_owned()])),
        }
    }

    fn reached(&mut self, at: usize, site: usize, line: &str) {
        let begins = ["never ", "GET ", "POST ", "PUT ", "PATCH ", "DELETE "]
            .iter()
            .any(|word| line.starts_with(word));
        match self.steps.last_mut() {
            Some((begun, Step::Reached(same, part)))
                if !begins && *same == site && *begun + part.lines() == at =>
            {
                match &mut part.body {
                    Some(body) => body.push_str(line),
                    None if line.is_empty() => part.body = Some(String::new()),
                    None => part.head.push(line.to_owned()),
                }
            }
            _ => self.push(at, Step::Reached(site, Part { head: vec![line.to_owned()], body: None })),
        }
    }
}

impl Part {
    /// The number of lines that it takes in the transcript.
    fn lines(&self) -> usize {
        let body = self.body.as_ref().map_or(0, |body| 1 + body.lines().count());
        self.head.len() + body
    }
}

impl SetUp {
    fn take(&mut self, line: &str) -> Result<(), String> {
        if line == "alone" {
            self.alone = true;
            return Ok(());
        }
        let (key, value) =
            line.split_once(':').ok_or_else(|| format!("{line:?} is nothing that is known"))?;
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match key {
            "preset" => self.preset = value,
            "transport" => {
                self.pipes = match value.as_str() {
                    "stdio" => true,
                    "http" | "sse" => false,
                    other => return Err(format!("there is no transport {other}")),
                };
            }
            "env" => {
                let (name, value) = value.split_once('=').ok_or("env takes NAME=VALUE")?;
                self.env.push((name.to_owned(), value.to_owned()));
            }
            "config" => {
                self.config.push_str(&value);
                self.config.push('\n');
            }
            "site" => self.site = value,
            "bridge" => self.bridge = Some(value),
            other => return Err(format!("there is no {other}")),
        }
        Ok(())
    }
}

fn within(times: &str) -> Option<Step> {
    let seconds = |text: &str| Some(Duration::from_secs(text.strip_suffix('s')?.parse().ok()?));
    let (from, to) = times.split_once("..")?;
    Some(Step::Within(seconds(from)?, seconds(to)?))
}

#[test]
fn what_is_not_understood_is_a_fault() {
    let good = "X: A rule.\n\npreset: bb\nenv: A=b\n\n> POST /mcp\n> H: v\n>\n> {\n> }\n< 200\n< !H\n---\n\
                preset: bb\ntransport: stdio\n\n> {}\n< {}\n= close\n";
    let file = File::read("X", good).expect("it can be read");
    let [first, second] = &file.scenes[..] else { panic!("two scenes") };
    let sent = Part { head: vec!["POST /mcp".into(), "H: v".into()], body: Some("{\n}".into()) };
    let came = Part { head: vec!["200".into(), "!H".into()], body: None };
    assert_eq!(first.steps, [(6, Step::Send(sent)), (11, Step::Receive(came))]);
    assert_eq!(second.steps.len(), 3);
    for (from, to) in [
        ("X: A", "Y: A"),
        ("preset: bb\nenv", "env"),
        ("env: A=b", "env: A"),
        ("env: A=b", "nothing"),
        ("transport: stdio", "transport: pigeon"),
        ("= close", "= fly"),
        ("< 200\n< !H\n", ""),
    ] {
        assert!(File::read("X", &good.replacen(from, to, 1)).is_err(), "{from} as {to}");
    }
}
