//! Files that calls name by URL. They are fetched without credentials, and only from public addresses unless the
//! configuration allows private ones. A few redirects are followed; each target is checked like the first URL. A
//! small file is read at once. Of a larger file, only the beginning is read at first, and the rest is read while
//! the file is sent. This module must not know the purpose of a file.

use std::borrow::Cow;
use std::future::poll_fn;

use bytes::Bytes;

use super::FileFrom;
use super::environment::{RestEnvironment, Run};
use super::file::{self, ArrivingFile, FileAsk, FileContent, FileData, GUESSED};
use super::request::AGENT;
use super::step::Step;
use crate::passing::{FileStream, FileTransfer, HttpBody, too_large};
use crate::port::{ArrivingBody, HttpFault, HttpFaultKind, HttpRequest, OpenedResponse, Verb};
use crate::tools::{CallFailure, Condition};

/// The maximum number of redirects to follow.
const HOPS: usize = 3;
/// The largest file that is read at once, in bytes.
const SMALL: usize = 256 << 10;

/// The beginning of a file.
struct FileBeginning {
    first: Bytes,
    /// True if `first` is the whole file.
    is_whole: bool,
}

impl Run<'_> {
    /// The file that a call contains or names, for the following steps.
    ///
    /// # Errors
    /// Fails if there is no such file, if it may not be fetched, or if the site that will receive the file does not
    /// know the caller: files are not fetched for unknown callers.
    pub(super) async fn had(&self, from: FileFrom, behind: &[Step]) -> Result<FileData, CallFailure> {
        let url = match file::wanted(from, &self.values, self.environment.limits.file)? {
            FileAsk::Here(file) => return Ok(file),
            FileAsk::Fetch(url) => url,
        };
        let next =
            behind.iter().find_map(|step| if let Step::Ask(ask) = step { Some(ask.base) } else { None });
        if let Some(base) = next {
            let place = self.environment.places.place(base, &self.values, self.mapped)?;
            self.environment.let_in(&place).await?;
        }
        self.environment.fetched(url, self.transfer).await
    }
}

impl RestEnvironment {
    async fn fetched(
        &self,
        mut url: String,
        transfer: Option<&FileTransfer>,
    ) -> Result<FileData, CallFailure> {
        for _ in 0..=HOPS {
            let mut request = HttpRequest {
                method: Verb::Get,
                url: url.clone(),
                headers: vec![("accept", Cow::Borrowed("*/*")), AGENT],
                authorization: None,
                body: HttpBody::default(),
                public_only: !self.limits.private_files,
                is_fixed_host: false,
                patience: self.limits.passing,
                most: 0,
            };
            self.settle(&mut request);
            let opened = self.http.open(request, self.limits.patience).await;
            let response = opened.map_err(|fault| unfetched(&fault))?;
            match (response.status, response.header("location")) {
                (301 | 302 | 303 | 307 | 308, Some(to)) => {
                    url = file::redirected(&url, to).map_err(CallFailure::arguments)?;
                }
                _ if response.is_success() => return self.begun(url, response, transfer).await,
                (status, _) => return Err(unserved(status)),
            }
        }
        Err(CallFailure::new(
            Condition::ToolFailed,
            "the file cannot be fetched: its URL redirects too often",
        ))
    }

    /// The file in a successful answer. Its length is checked before anything else.
    async fn begun(
        &self,
        url: String,
        mut response: OpenedResponse,
        transfer: Option<&FileTransfer>,
    ) -> Result<FileData, CallFailure> {
        let (length, most) = (response.length, self.limits.passed_file);
        let large = || CallFailure::new(Condition::ToolFailed, too_large(most));
        if length.is_some_and(|length| length > most) {
            return Err(large());
        }
        let is_long = length.is_some_and(|length| length > SMALL as u64);
        let enough = if is_long { GUESSED } else { SMALL };
        let FileBeginning { first, is_whole } =
            beginning(&mut *response.body, enough).await.map_err(|fault| unfetched(&fault))?;
        if first.is_empty() {
            return Err(unserved(response.status));
        }
        if first.len() as u64 > most {
            return Err(large());
        }
        let head = file::fetched(&url, response.header("content-type"), &first)
            .map_err(|why| CallFailure::new(Condition::ToolFailed, why))?;
        if is_whole {
            return Ok(FileData { head, content: FileContent::Here(first) });
        }
        let secret = self.secret(&url);
        let stream = FileStream::new(first, Some(response.body), length, most).counted(transfer.cloned());
        Ok(FileData { head, content: FileContent::Arriving(ArrivingFile { stream, secret }) })
    }

    /// A number that no server can predict.
    fn secret(&self, url: &str) -> u128 {
        let now = self.http.now().as_nanos();
        let digest = self.http.digest(format!("boundary\n{now}\n{url}").as_bytes());
        digest.iter().take(16).fold(0, |number, byte| (number << 8) | u128::from(*byte))
    }
}

/// Reads a body until more than `enough` bytes have arrived, or to its end.
async fn beginning(body: &mut dyn ArrivingBody, enough: usize) -> Result<FileBeginning, HttpFault> {
    let mut first = Vec::new();
    while first.len() <= enough {
        let Some(piece) = poll_fn(|cx| body.poll_piece(cx)).await else {
            return Ok(FileBeginning { first: first.into(), is_whole: true });
        };
        first.extend_from_slice(&piece?);
    }
    Ok(FileBeginning { first: first.into(), is_whole: false })
}

fn unserved(status: u16) -> CallFailure {
    let why = format!("the file cannot be fetched: its server answered HTTP {status}");
    CallFailure::new(Condition::ToolFailed, why).with("status", status)
}

fn unfetched(fault: &HttpFault) -> CallFailure {
    match fault.kind {
        HttpFaultKind::Refused => {
            CallFailure::arguments(format!("fetching this file is not allowed: {}", fault.message))
        }
        HttpFaultKind::NotAllowed => CallFailure::arguments(
            "fetching this file is not allowed: check the address; it must be a public one",
        ),
        HttpFaultKind::TooOften => CallFailure::new(Condition::RateLimited, fault.message.clone()),
        _ => {
            CallFailure::new(Condition::ToolFailed, format!("the file cannot be fetched: {}", fault.message))
        }
    }
}
