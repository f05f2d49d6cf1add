//! A scene, step by step.

use std::time::{Duration, Instant};

use testkit::client::{DEADLINE, Reply, within};
use testkit::site::Received;

use crate::file::{Part, Scene, Step};
use crate::json::Json;
use crate::place::Place;
use crate::process::Process;
use crate::web;
use crate::words::Names;

/// A scene that is being played.
struct Play<'a> {
    place: &'a mut Place,
    names: Names,
    /// The last answer, until a step reads it.
    answer: Option<Reply>,
    /// The open event stream.
    stream: Option<Reply>,
    /// The output of a command.
    printed: Option<String>,
    within: Option<(Duration, Duration)>,
    /// The number of requests to each site before the last request was sent.
    before: [usize; 2],
    /// The number of requests to each site before the scene.
    begun: [usize; 2],
}

/// Plays a scene; the error is a difference with its line number.
pub(crate) async fn play(scene: &Scene, place: &mut Place) -> Result<(), String> {
    let names = place.names.clone();
    let before = [place.received(0).len(), place.received(1).len()];
    let mut play =
        Play { place, names, answer: None, stream: None, printed: None, within: None, before, begun: before };
    for (at, step) in &scene.steps {
        play.step(step, scene.setup.pipes).await.map_err(|why| format!("line {at}: {why}"))?;
    }
    match play.answer {
        Some(answer) => Err(format!("an answer with status {} that nobody looked at", answer.status)),
        None => Ok(()),
    }
}

impl Play<'_> {
    async fn step(&mut self, step: &Step, pipes: bool) -> Result<(), String> {
        match step {
            Step::Send(part) => self.send(part, pipes).await,
            Step::Receive(part) if self.printed.is_some() => self.prints(&part.head),
            Step::Receive(part) if pipes => self.line(&part.head).await,
            Step::Receive(part) => self.receive(part).await,
            Step::Event(lines) => self.event(lines).await,
            Step::Within(from, to) => {
                self.within = Some((*from, *to));
                Ok(())
            }
            Step::Reached(site, part) => self.reached(*site, part),
            Step::Logged(text) => {
                let names = &mut self.names;
                let seen = self.place.process.has_logged(|line| names.fits(text, line)).await;
                if seen {
                    Ok(())
                } else {
                    Err(format!("not logged: {text}\n{}", self.place.process.logged()))
                }
            }
            Step::Unlogged(text) => {
                let text = self.names.fill(text)?;
                let logged = self.place.process.logged();
                if logged.contains(&text) { Err(format!("logged: {text}\n{logged}")) } else { Ok(()) }
            }
            Step::Run(command) => {
                let command = self.names.fill(command)?;
                let words: Vec<&str> = command.split(' ').collect();
                self.printed = Some(Process::start(&words, &[], "")?.rest().await?);
                Ok(())
            }
            Step::Stop => self.place.process.stop(),
            Step::Close if pipes => self.place.process.close().await,
            Step::Close => self.stream.take().map(drop).ok_or_else(|| "no stream is open".to_owned()),
        }
    }

    async fn send(&mut self, part: &Part, pipes: bool) -> Result<(), String> {
        self.before = [self.place.received(0).len(), self.place.received(1).len()];
        self.printed = None;
        let head: Result<Vec<String>, String> = part.head.iter().map(|line| self.names.fill(line)).collect();
        let head = head?;
        if pipes {
            return self.place.process.send(&head.join(" ")).await;
        }
        if self.answer.is_some() {
            return Err("nobody looked at the answer before".to_owned());
        }
        let body = self.names.fill(part.body.as_deref().unwrap_or_default())?;
        let address = self.place.address.ok_or("it does not listen")?;
        self.answer = Some(web::send(address, &head, &body).await?);
        Ok(())
    }

    async fn line(&mut self, expected: &[String]) -> Result<(), String> {
        let expected = Json::expected(&expected.join(" "))?;
        let line = self.place.process.line().await?;
        let line = line.ok_or_else(|| format!("stdout has ended\n{}", self.place.process.logged()))?;
        expected.fits(&Json::found(&line)?, &mut self.names).map_err(|why| format!("{why}\n  in {line}"))
    }

    async fn receive(&mut self, part: &Part) -> Result<(), String> {
        let mut answer = self.answer.take().ok_or("nothing was sent")?;
        let body = if answer.is_stream() { None } else { Some(answer.try_bytes().await?) };
        let body = body.map(String::from_utf8).transpose().map_err(|e| e.to_string())?;
        let shown = format!(
            "status {}, {:?}\n  {}",
            answer.status,
            answer.fields,
            body.as_deref().unwrap_or("a stream")
        );
        self.head(&part.head, &answer).map_err(|why| format!("{why}\n  in {shown}"))?;
        match (&part.body, body) {
            (None, None) => self.stream = Some(answer),
            (None, Some(body)) if body.is_empty() => {}
            (Some(expected), Some(body)) if expected.trim() == "…" => drop(body),
            (Some(expected), Some(body)) if is_plain(&answer) => {
                if !self.names.fits(expected, body.trim_end()) {
                    return Err(format!("{expected:?} expected\n  in {shown}"));
                }
            }
            (Some(expected), Some(body)) => {
                let found = Json::found(&body).map_err(|why| format!("{why}\n  in {shown}"))?;
                let fits = Json::expected(expected)?.fits(&found, &mut self.names);
                fits.map_err(|why| format!("{why}\n  in {shown}"))?;
            }
            (None, Some(_)) => return Err(format!("no body expected\n  in {shown}")),
            (Some(_), None) => return Err(format!("a body expected, not a stream\n  in {shown}")),
        }
        Ok(())
    }

    fn head(&mut self, expected: &[String], answer: &Reply) -> Result<(), String> {
        let (status, headers) = expected.split_first().ok_or("an answer without a status")?;
        if *status != answer.status.to_string() {
            return Err(format!("status {status} expected"));
        }
        self.headers(headers, &answer.fields)
    }

    fn headers(&mut self, expected: &[String], found: &[(String, String)]) -> Result<(), String> {
        for line in expected {
            if let Some(name) = line.strip_prefix('!') {
                if let Some((_, value)) = found.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    return Err(format!("no header {name} expected, but there is {value:?}"));
                }
                continue;
            }
            let (name, value) = line.split_once(": ").ok_or_else(|| format!("{line:?} is no header"))?;
            let mut all = found.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
            if !all.any(|(_, found)| self.names.fits(value, found)) {
                return Err(format!("header {line} expected"));
            }
        }
        Ok(())
    }

    fn prints(&mut self, expected: &[String]) -> Result<(), String> {
        let printed = self.printed.clone().unwrap_or_default();
        let mut lines = printed.lines();
        for line in expected {
            if !lines.any(|found| self.names.fits(line, found)) {
                return Err(format!("not printed: {line}\n{printed}"));
            }
        }
        Ok(())
    }

    async fn event(&mut self, expected: &[String]) -> Result<(), String> {
        let (from, to) = self.within.take().unwrap_or((Duration::ZERO, DEADLINE));
        let stream = self.stream.as_mut().ok_or("no stream is open")?;
        let alive = |line: &String| line == "event: ping" || line.starts_with(':');
        let wants_alive = expected.iter().any(alive);
        let begun = Instant::now();
        let next = async {
            loop {
                let event = stream.try_event().await?.ok_or("the stream has ended")?;
                let event: Vec<String> = event.lines().map(|line| line.trim_end().to_owned()).collect();
                // Keep-alive comments can come at any time.
                if wants_alive || !event.iter().any(alive) {
                    return Ok::<_, String>(event);
                }
            }
        };
        let found = within("an event that is no sign of life", next).await??;
        let passed = begun.elapsed();
        let shown = found.join("\n  ");
        if passed < from || passed > to {
            return Err(format!("it came after {passed:?}:\n  {shown}"));
        }
        if expected.len() != found.len() {
            return Err(format!("{} lines expected in:\n  {shown}", expected.len()));
        }
        for (expected, found) in expected.iter().zip(&found) {
            self.event_line(expected, found).map_err(|why| format!("{why}\n  in {shown}"))?;
        }
        Ok(())
    }

    fn event_line(&mut self, expected: &str, found: &str) -> Result<(), String> {
        match (expected.strip_prefix("data: "), found.strip_prefix("data: ")) {
            (Some(expected), Some(found)) if expected.starts_with('{') => {
                Json::expected(expected)?.fits(&Json::found(found)?, &mut self.names)
            }
            _ if self.names.fits(expected, found) => Ok(()),
            _ => Err(format!("{expected:?} expected")),
        }
    }

    fn reached(&mut self, site: usize, part: &Part) -> Result<(), String> {
        let all = self.place.received(site);
        if let Some(line) = part.head[0].strip_prefix("never ") {
            let part = Part { head: vec![line.to_owned()], body: None };
            let since = all[self.begun[site]..].to_vec();
            let found = since.iter().find(|one| self.is(&part, one).is_ok());
            return found.map_or(Ok(()), |one| Err(format!("this came: {one:?}")));
        }
        let since = &all[self.before[site]..];
        let shown = || format!("\n{since:#?}");
        if part.head == ["nothing"] {
            return if since.is_empty() { Ok(()) } else { Err(format!("nothing expected, but:{}", shown())) };
        }
        let mut why = "nothing of the kind".to_owned();
        for one in since {
            match self.is(part, one) {
                Ok(()) => return Ok(()),
                Err(other) if !other.is_empty() => why = other,
                Err(_) => {}
            }
        }
        Err(format!("{why} in:{}", shown()))
    }

    /// Checks that a request is the expected one; the reason is empty if it is a different request
    /// altogether.
    fn is(&mut self, part: &Part, found: &Received) -> Result<(), String> {
        let (line, headers) = part.head.split_first().ok_or("a request without a head")?;
        let line = self.names.fill(line)?;
        let (method, path) = line.split_once(' ').ok_or("a request without a path")?;
        let ((path, query), (there, asked)) = (cut(path), cut(&found.path));
        if method != found.method || path != there {
            return Err(String::new());
        }
        let parts = |query: &str| -> Vec<String> {
            let mut parts: Vec<String> = query.split('&').map(str::to_owned).collect();
            parts.sort();
            parts
        };
        let open = parts(query).contains(&"…".to_owned());
        let fits = if open {
            parts(query).iter().all(|one| one == "…" || parts(asked).contains(one))
        } else {
            parts(query) == parts(asked)
        };
        if !fits {
            return Err(format!("the query {query:?} expected"));
        }
        self.headers(headers, &found.headers)?;
        match &part.body {
            Some(body) => Json::expected(body)?.fits(&Json::found(&found.body)?, &mut self.names),
            None => Ok(()),
        }
    }
}

/// Returns true if a body is a text that is not JSON.
fn is_plain(answer: &Reply) -> bool {
    answer.header("content-type").starts_with("text/plain")
}

fn cut(path: &str) -> (&str, &str) {
    path.split_once('?').unwrap_or((path, ""))
}
