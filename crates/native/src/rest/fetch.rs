//! Files that calls name by URL. They are fetched without credentials, and only from public addresses unless the
//! configuration says otherwise. A few redirects are followed; each target is checked like the first URL. This module
//! must not know the purpose of a file.

use std::borrow::Cow;

use bytes::Bytes;

use super::FileFrom;
use super::file::{self, FileAsk, FileData};
use super::request::AGENT;
use super::step::Step;
use super::world::Run;
use crate::port::{HttpFault, HttpFaultKind, HttpRequest, Verb};
use crate::tools::{Condition, Trouble};

/// The maximum number of redirects to follow.
const HOPS: usize = 3;

impl Run<'_> {
    /// The file that a call contains or names, for the following steps.
    ///
    /// # Errors
    /// Fails if there is no such file, if it may not be fetched, or if the site that the file is meant for does not know the
    /// caller: files are not fetched for unknown callers.
    pub(super) async fn had(&self, from: FileFrom, behind: &[Step]) -> Result<FileData, Trouble> {
        let limits = &self.world.limits;
        let mut url = match file::wanted(from, &self.values, limits.file)? {
            FileAsk::Here(file) => return Ok(file),
            FileAsk::Fetch(url) => url,
        };
        let next =
            behind.iter().find_map(|step| if let Step::Ask(ask) = step { Some(ask.base) } else { None });
        if let Some(base) = next {
            let place = self.world.places.place(base, &self.values, self.mapped)?;
            self.world.let_in(&place).await?;
        }
        for _ in 0..=HOPS {
            let request = HttpRequest {
                method: Verb::Get,
                url: url.clone(),
                headers: vec![("accept", Cow::Borrowed("*/*")), AGENT],
                authorization: None,
                body: Bytes::new(),
                public_only: !limits.private_files,
                is_fixed_host: false,
                patience: limits.patience,
                most: limits.file,
            };
            let response = self.world.sent(request).await.map_err(|fault| unfetched(&fault))?;
            match (response.status, response.header("location")) {
                (301 | 302 | 303 | 307 | 308, Some(to)) => {
                    url = file::redirected(&url, to).map_err(Trouble::arguments)?;
                }
                _ if response.is_success() && !response.body.is_empty() => {
                    let kind = response.header("content-type").map(str::to_owned);
                    return file::fetched(&url, kind.as_deref(), response.body)
                        .map_err(|why| Trouble::new(Condition::ToolFailed, why));
                }
                (status, _) => {
                    let why = format!("the file cannot be fetched: its server answered HTTP {status}");
                    return Err(Trouble::new(Condition::ToolFailed, why).with("status", status));
                }
            }
        }
        Err(Trouble::new(Condition::ToolFailed, "the file cannot be fetched: its URL redirects too often"))
    }
}

fn unfetched(fault: &HttpFault) -> Trouble {
    match fault.kind {
        HttpFaultKind::Refused => {
            Trouble::arguments(format!("fetching this file is not allowed: {}", fault.message))
        }
        HttpFaultKind::NotAllowed => Trouble::arguments(
            "fetching this file is not allowed: check the address; it must be a public one",
        ),
        HttpFaultKind::TooOften => Trouble::new(Condition::RateLimited, fault.message.clone()),
        _ => Trouble::new(Condition::ToolFailed, format!("the file cannot be fetched: {}", fault.message)),
    }
}
