//! Files that are passed on while they arrive: what the site gets, what is in memory, and files that are too large
//! or end early.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Fake, asked, login, refused, reply, shown};
use crate::AnswerStyle;
use crate::passing::HttpBody;
use crate::port::{
    ArrivingBody, HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, OpenedResponse, Pending,
};
use crate::site::SiteSettings;
use crate::wordpress::{Sets, server};

const URL: &str = "https://files.example.com/big.bin";
const PIECE: u64 = 50_000;
const MIB: u64 = 1 << 20;

/// A site, and a server with one file.
struct Between {
    site: Arc<Fake>,
    /// The size of the file.
    size: u64,
    /// The length that the file's server states.
    stated: Option<u64>,
    /// The number of bytes after which the file ends early.
    breaks_at: u64,
    /// The number of bytes of the file that were read.
    read: Arc<AtomicU64>,
}

impl Between {
    fn new(size: u64, stated: Option<u64>) -> Self {
        Self {
            site: Fake::replying(|_| reply(201, &json!({"id": 7}))),
            size,
            stated,
            breaks_at: u64::MAX,
            read: Arc::default(),
        }
    }
}

/// The file: a PNG signature, then zeros.
struct Pieces {
    at: u64,
    size: u64,
    breaks_at: u64,
    read: Arc<AtomicU64>,
}

impl ArrivingBody for Pieces {
    fn poll_piece(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>> {
        if self.at >= self.breaks_at {
            let message = "the file's server interrupted the transfer".to_owned();
            return Poll::Ready(Some(Err(HttpFault { kind: HttpFaultKind::Broken, message })));
        }
        let length = PIECE.min(self.size - self.at);
        let mut piece = vec![0; usize::try_from(length).unwrap()];
        if self.at == 0 && length >= 8 {
            piece[..8].copy_from_slice(b"\x89PNG\r\n\x1a\n");
        }
        self.at += length;
        self.read.fetch_add(length, Ordering::SeqCst);
        Poll::Ready((length > 0).then(|| Ok(piece.into())))
    }
}

impl HttpClient for Between {
    fn send(&self, request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        if let HttpBody::Passing(passed) = &request.body {
            assert_eq!((request.patience, passed.stall), (Duration::from_mins(10), Duration::from_secs(30)));
            let read = self.read.load(Ordering::SeqCst);
            assert!(read <= 256 * 1024 + PIECE, "{read} bytes were read before they could be sent");
            assert!(self.stated.is_none() || read == PIECE, "only what shows the kind of the file");
            assert_eq!(passed.file.length(), self.stated);
        }
        self.site.send(request)
    }

    fn open(&self, request: HttpRequest, stall: Duration) -> Pending<Result<OpenedResponse, HttpFault>> {
        assert_eq!((request.patience, stall), (Duration::from_mins(10), Duration::from_secs(30)));
        assert!(request.public_only && request.authorization.is_none() && request.url == URL);
        let (size, breaks_at, read) = (self.size, self.breaks_at, self.read.clone());
        self.read.store(0, Ordering::SeqCst);
        let body = Box::new(Pieces { at: 0, size, breaks_at, read });
        let opened = OpenedResponse { status: 200, headers: Vec::new(), length: self.stated, body };
        Box::pin(std::future::ready(Ok(opened)))
    }

    fn now(&self) -> Duration {
        self.site.now()
    }

    fn digest(&self, secret: &[u8]) -> [u8; 32] {
        self.site.digest(secret)
    }

    fn pause(&self, time: Duration) -> Pending<()> {
        self.site.pause(time)
    }
}

fn settings() -> SiteSettings {
    let login = Some(login("https://x.example", "a", "b"));
    SiteSettings { login, answers: AnswerStyle::Plain, ..SiteSettings::default() }
}

fn uploaded(between: Between) -> (Value, Arc<Fake>) {
    let site = between.site.clone();
    let server = server(&settings(), Sets::default(), Arc::new(between)).unwrap();
    let arguments = json!({"url": URL, "title": "T"});
    (asked(&server, "wp_upload_media_from_url", &arguments), site)
}

/// The last request to the site: its content type, and its body.
fn body_of(site: &Fake) -> (String, Bytes) {
    let asked = site.asked.lock().unwrap();
    let last = asked.last().unwrap();
    let kind = last.headers.iter().find(|(name, _)| *name == "content-type").unwrap().1.to_string();
    (kind, last.body.whole().unwrap().clone())
}

#[test]
fn a_file_is_read_while_it_is_sent() {
    for size in [1, 12, PIECE, 256 * 1024, 256 * 1024 + 1, 3 * MIB] {
        for stated in [None, Some(size)] {
            let (answer, site) = uploaded(Between::new(size, stated));
            assert_eq!(shown(&answer)["id"], 7, "{size} {stated:?}");
            let (kind, body) = body_of(&site);
            let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
            let mime = if size < 8 { "application/octet-stream" } else { "image/png" };
            let before = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"big.bin\"\r\nContent-Type: {mime}\r\n\r\n"
            );
            let after = format!(
                "\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nT\r\n--{boundary}--\r\n"
            );
            assert!(body.starts_with(before.as_bytes()) && body.ends_with(after.as_bytes()), "{size}");
            assert_eq!((body.len() - before.len() - after.len()) as u64, size, "{stated:?}");
        }
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_before_anything_is_sent() {
    let between = Between::new(0, Some(512 * MIB + 1));
    let read = between.read.clone();
    let (answer, site) = uploaded(between);
    let (_, words, condition) = refused(&answer);
    assert_eq!(condition, "toolFailed");
    assert!(words.contains("larger than 512 MiB"), "{words}");
    assert!(site.lines().is_empty() && read.load(Ordering::SeqCst) == 0);
}

#[test]
fn a_file_that_turns_out_to_be_too_large_is_not_sent() {
    let (answer, site) = uploaded(Between::new(512 * MIB + 1, None));
    let (_, words, condition) = refused(&answer);
    assert_eq!(condition, "toolFailed");
    assert!(
        words.contains("larger than 512 MiB") && words.contains("the site did not receive the file"),
        "{words}"
    );
    assert!(site.lines().is_empty());
}

#[test]
fn a_file_that_breaks_off_is_not_sent() {
    for (breaks_at, says) in
        [(0, "cannot be fetched"), (PIECE, ""), (MIB, "the site did not receive the file")]
    {
        for stated in [None, Some(3 * MIB)] {
            let (answer, site) = uploaded(Between { breaks_at, ..Between::new(3 * MIB, stated) });
            let (_, words, condition) = refused(&answer);
            assert_eq!(condition, "toolFailed");
            assert!(
                words.contains("the file's server interrupted the transfer") && words.contains(says),
                "{words}"
            );
            assert!(site.lines().is_empty());
        }
    }
}
