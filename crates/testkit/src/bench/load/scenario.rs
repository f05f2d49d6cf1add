//! The timed scenarios: every client sends its next call as soon as it has an answer.

use super::check::{Checker, Wanted};
use super::client::{Client, Fault, Template, put_number};
use super::report::Report;
use super::{Options, SET_UP, Scenario, print_line, wait_for_line};
use crate::bench::payload_text;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The longest wait for answers after the last call was sent.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// One client and its requests.
struct Worker {
    client: Client,
    number: u64,
    scenario: Scenario,
    tools: Vec<String>,
    templates: Vec<Template>,
    checker: Checker,
    part: Vec<u8>,
    calls: u64,
}

pub(super) async fn run(options: &Options) -> Result<(), String> {
    let mut workers =
        timeout(SET_UP, open_all(options)).await.map_err(|_| "opening the sessions took too long")??;
    if options.gate {
        print_line("ready")?;
        wait_for_line()?;
    }
    let (report, elapsed) = measure(options, &mut workers).await;
    print_line(&report.line(elapsed))?;
    if options.gate {
        wait_for_line()?;
    }
    let end = async {
        for worker in &mut workers {
            if worker.in_session() {
                // The figures are complete; the calls have already reported an upstream that fails here.
                let _ = worker.client.end_session().await;
            }
        }
    };
    timeout(SET_UP, end).await.map_err(|_| "ending the sessions took too long".into())
}

async fn open_all(options: &Options) -> Result<Vec<Worker>, String> {
    let mut workers = Vec::new();
    for number in 0..u64::from(options.sessions) {
        let mut worker = Worker::new(options, number);
        let opened = match worker.open(options).await {
            Ok(()) => worker.call().await,
            Err(fault) => Err(fault),
        };
        if let Err(Fault::Broken(why) | Fault::Wrong(why)) = opened {
            return Err(format!("session {number}, before the calls: {why}"));
        }
        workers.push(worker);
    }
    Ok(workers)
}

/// Runs all workers to the end. Workers that hang are counted as errors and abandoned.
async fn measure(options: &Options, workers: &mut Vec<Worker>) -> (Report, Duration) {
    let started = Instant::now();
    let until = started + Duration::from_secs_f64(options.seconds);
    let mut running: JoinSet<_> = workers.drain(..).map(|worker| worker.run(until)).collect();
    let mut report = Report::default();
    let mut ended = started;
    let all = async {
        while let Some(done) = running.join_next().await {
            match done {
                Ok((worker, part)) => {
                    report.merge(part);
                    workers.push(worker);
                }
                Err(error) => report.fail(error.to_string()),
            }
            ended = Instant::now();
        }
    };
    let limit = Duration::from_secs_f64(options.seconds) + LAST_ANSWERS;
    if timeout(limit, all).await.is_err() {
        for _ in 0..running.len() {
            report.fail("no answer within 10 s of the last call".into());
        }
    }
    (report, ended - started)
}

impl Worker {
    fn new(options: &Options, number: u64) -> Self {
        let scenario = options.scenario;
        let (wanted, alike, tool) = match scenario {
            Scenario::Payload => (Wanted::Text(payload_text(options.bytes)), true, "payload"),
            Scenario::List => (Wanted::Tools(options.expect_tools), true, ""),
            _ => (Wanted::Text(Vec::new()), false, "echo"),
        };
        let tools = if options.tool.is_empty() { vec![tool.to_owned()] } else { options.tool.clone() };
        Self {
            client: Client::new(&options.target(), options.introduction()),
            number,
            scenario,
            tools,
            templates: Vec::new(),
            checker: Checker::new(wanted, scenario == Scenario::ModernEcho, alike),
            part: Vec::new(),
            calls: 0,
        }
    }

    /// Returns true if a session stays open between calls.
    fn in_session(&self) -> bool {
        !matches!(self.scenario, Scenario::ModernEcho | Scenario::Session)
    }

    async fn open(&mut self, options: &Options) -> Result<(), Fault> {
        if self.in_session() {
            self.client.open_session().await?;
        }
        if self.scenario == Scenario::Payload {
            put_number(&mut self.part, options.bytes as u64);
        }
        self.write_templates();
        Ok(())
    }

    /// Writes the requests, with the headers of the currently open session.
    fn write_templates(&mut self) {
        let client = &self.client;
        self.templates = match self.scenario {
            Scenario::List => vec![client.list()],
            Scenario::Payload => {
                self.tools.iter().map(|tool| client.call(tool, "bytes", false, false)).collect()
            }
            scenario => {
                let modern = scenario == Scenario::ModernEcho;
                self.tools.iter().map(|tool| client.call(tool, "text", true, modern)).collect()
            }
        };
    }

    async fn run(mut self, until: Instant) -> (Self, Report) {
        let mut report = Report::default();
        let mut before = Instant::now();
        while before < until {
            let called = self.call().await;
            let now = Instant::now();
            match called {
                Ok(()) => report.took.add(now - before),
                Err(Fault::Wrong(why)) => report.fail(why),
                Err(Fault::Broken(why)) => {
                    report.fail(why);
                    break;
                }
            }
            before = now;
        }
        (self, report)
    }

    /// One call, or one whole session.
    async fn call(&mut self) -> Result<(), Fault> {
        self.calls += 1;
        if self.scenario == Scenario::Session {
            self.client.open_session().await?;
            self.write_templates();
            self.ask().await?;
            return self.client.end_session().await;
        }
        self.ask().await
    }

    async fn ask(&mut self) -> Result<(), Fault> {
        if let (Wanted::Text(text), false) = (&mut self.checker.wanted, self.scenario == Scenario::Payload) {
            text.clear();
            text.extend_from_slice(b"client ");
            put_number(text, self.number);
            text.extend_from_slice(b" says for the time number ");
            put_number(text, self.calls);
            text.extend_from_slice(b" that it is well");
            self.part.clone_from(text);
        }
        let turn = usize::try_from(self.calls).unwrap_or(0) % self.templates.len();
        self.client.ask(&self.templates[turn], &self.part, &mut self.checker).await
    }
}
