//! The task that sends items to a collector: in batches, compressed if this is configured, and with retries after
//! transient failures (OTLP specification, OTLP/HTTP). This module must not know what an item contains.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Request, StatusCode};
use tokio::time::{Instant, sleep, timeout_at};
use transport::budget::Part;
use transport::net::{Client, Stop, collect};

use super::envelope::rejected;
use super::{ExportBatch, ExportQueue, ExporterSettings};

/// The maximum number of attempts to send one batch.
const TRIES: u32 = 5;

/// The pause after the first failed attempt; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two attempts, even if the collector asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The time for sending the last items when the process ends.
const LAST: Duration = Duration::from_secs(2);

/// The maximum size of a collector's answer, in bytes.
const ANSWER: usize = 64 << 10;

/// The minimum time between two log lines about failures.
const TELL: Duration = Duration::from_mins(1);

/// The collector of a signal.
pub(crate) struct Collector {
    settings: ExporterSettings,
    client: Client,
    /// The time of the last log line about a failure.
    told: Option<Instant>,
}

/// The reason why a collector did not accept a batch.
struct PostFailure {
    reason: String,
    /// The time to wait before another attempt; `None` if another attempt is pointless.
    again: Option<Duration>,
}

impl Collector {
    /// Creates a collector that is reached through `client`.
    pub(crate) fn new(settings: ExporterSettings, client: Client) -> Self {
        Self { settings, client, told: None }
    }

    /// Sends a batch; gives up after several attempts.
    async fn send<B: ExportBatch>(&mut self, queue: &ExportQueue<B>, mut batch: B, tries: u32) {
        let (count, gzip) = (batch.len(), self.settings.gzip);
        // Encoding and compressing a batch can take milliseconds.
        let encoding = move || {
            let plain = batch.body();
            (if gzip { compressed(&plain) } else { Some(plain.clone()) }, plain, batch)
        };
        let Ok((Some(body), plain, batch)) = transport::task::spawn_blocking(encoding).await else {
            return queue.note_dropped(count);
        };
        if let Err(reason) = self.post_until_accepted(body, tries).await {
            // The loss is counted before it is logged, so that a reader of the log line finds it in the metrics.
            queue.note_dropped(count);
            self.tell(&reason, count);
        }
        queue.take_back(batch, plain);
    }

    /// Posts a body; fails with the reason of the last attempt.
    async fn post_until_accepted(&mut self, body: Bytes, tries: u32) -> Result<(), String> {
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            let Err(failure) = self.post(body.clone()).await else { return Ok(()) };
            let Some(asked) = failure.again.filter(|_| attempt < tries) else { return Err(failure.reason) };
            sleep(asked.max(pause).min(LONGEST_PAUSE)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            attempt += 1;
        }
    }

    async fn post(&mut self, body: Bytes) -> Result<(), PostFailure> {
        let settings = &self.settings;
        let failed = |reason: String, again| PostFailure { reason, again };
        let mut request =
            Request::post(settings.endpoint.clone()).body(body).map_err(|e| failed(e.to_string(), None))?;
        let headers = request.headers_mut();
        headers.clone_from(&settings.headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("dragoman/", env!("CARGO_PKG_VERSION"))));
        if settings.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let deadline = Instant::now() + settings.timeout;
        let answered = timeout_at(deadline, self.client.request(request)).await;
        let answered =
            answered.map_err(|_| failed("it did not answer in time".to_owned(), Some(Duration::ZERO)))?;
        let response = answered.map_err(|e| failed(e.to_string(), Some(Duration::ZERO)))?;
        let (head, body) = response.into_parts();
        let body = collect(body, Part::Answers, ANSWER, deadline).await.unwrap_or_default();
        match head.status {
            status if status.is_success() => {
                if let Some((count, reason)) = rejected(&body) {
                    let items = settings.signal.items;
                    self.tell(&format!("it rejected {count} {items}: {reason:.300}"), 0);
                }
                Ok(())
            }
            status @ (StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT) => {
                let asked = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
                Err(failed(
                    format!("it answered HTTP {status}"),
                    Some(Duration::from_secs(asked.unwrap_or(0))),
                ))
            }
            status => Err(failed(format!("it answered HTTP {status}"), None)),
        }
    }

    /// Logs a failure, at most once a minute.
    fn tell(&mut self, reason: &str, lost: usize) {
        let now = Instant::now();
        if self.told.is_some_and(|told| now.duration_since(told) < TELL) {
            return;
        }
        self.told = Some(now);
        let host = self.settings.endpoint.authority().map_or("", |authority| authority.host());
        let items = self.settings.signal.items;
        tracing::warn!(lost, "the collector at {host} did not accept {items}: {reason}");
    }
}

fn compressed(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Sends items until the gateway stops; then returns the collector, to which the last items are sent.
pub(crate) async fn send_until_stopped<B: ExportBatch>(
    mut collector: Collector,
    queue: Arc<ExportQueue<B>>,
    stop: Stop,
) -> Collector {
    let delay = collector.settings.delay;
    loop {
        tokio::select! {
            () = queue.filled() => {}
            () = sleep(delay) => {}
            () = stop.stopped() => return collector,
        }
        let Some(batch) = queue.take() else { continue };
        if !collector.send_unless_late(&queue, batch, &stop).await {
            return collector;
        }
    }
}

impl Collector {
    /// Sends a batch. If the gateway stops in the meantime, the batch gets two more seconds, and the function
    /// returns false.
    async fn send_unless_late<B: ExportBatch>(
        &mut self,
        queue: &ExportQueue<B>,
        batch: B,
        stop: &Stop,
    ) -> bool {
        let count = batch.len();
        let mut sending = std::pin::pin!(self.send(queue, batch, TRIES));
        tokio::select! {
            () = &mut sending => return true,
            () = stop.stopped() => {}
        }
        if tokio::time::timeout(LAST, sending).await.is_err() {
            queue.note_dropped(count);
        }
        false
    }

    /// Sends everything that is still waiting when the process ends: one attempt for each batch, within two seconds.
    pub(crate) async fn send_rest<B: ExportBatch>(&mut self, queue: &ExportQueue<B>) {
        let rest = async {
            while let Some(batch) = queue.take() {
                self.send(queue, batch, 1).await;
            }
        };
        let _ = tokio::time::timeout(LAST, rest).await;
    }
}
