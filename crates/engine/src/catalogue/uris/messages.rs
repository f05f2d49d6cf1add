//! The URIs in a server's messages to clients: in the contents of resources, in links and embedded resources in results, and in
//! links to the pages of tools. This module must not know what a message is for.

use std::collections::HashMap;

use bytes::Bytes;
use proto::json::{Elements, Members, Span, Splice, quote};
use proto::mcp::Notice;
use proto::rpc::{Frame, FrameKind, FrameLimits, RpcError};

use super::links::{links_in, written};

/// The maximum depth of nested results that are searched: the result of a task contains the result of its call.
const NESTED: u32 = 2;

/// The URIs to replace in a message.
struct Replacing<'u> {
    /// The public form of a URI; `None` if the URI stays unchanged.
    public: &'u mut dyn FnMut(&str) -> Option<String>,
    /// The decisions so far, as JSON: a message may contain the same URI many times.
    decided: HashMap<String, Option<String>>,
    replaced: Vec<(Span, String)>,
}

/// The same message with public URIs. `public` returns the public form of a URI, or `None` if the URI stays
/// unchanged.
pub(in crate::catalogue) fn published(frame: Frame, public: &mut dyn FnMut(&str) -> Option<String>) -> Frame {
    let mut all = Replacing { public, decided: HashMap::new(), replaced: Vec::new() };
    all.message(&frame);
    if all.replaced.is_empty() {
        return frame;
    }
    let mut splice = Splice::new(frame.text());
    for (span, public) in &all.replaced {
        splice.replace(*span, public.as_bytes());
    }
    Frame::parse(splice.finish(), FrameLimits::default()).unwrap_or(frame)
}

impl Replacing<'_> {
    fn message(&mut self, frame: &Frame) {
        let text = frame.text();
        match frame.kind() {
            FrameKind::Response => {
                if let Some(result) = frame.payload() {
                    self.result(text, result, NESTED);
                }
            }
            FrameKind::Error => {
                let error = frame.payload().and_then(|span| RpcError::of_value(text, span));
                self.uri_of(text, error.and_then(|error| error.data));
            }
            FrameKind::Notification
                if Notice::from_name(&frame.method()) == Some(Notice::ResourceUpdated) =>
            {
                self.uri(text, frame.param("uri").ok().flatten());
            }
            // The notification of a task contains its result.
            FrameKind::Notification => {
                if let Some(params) = frame.params() {
                    self.result(text, params.members.span(), NESTED);
                }
            }
            FrameKind::Request => {}
        }
    }

    /// The result of a request, or an object that contains one.
    fn result(&mut self, text: &Bytes, result: Span, depth: u32) {
        let Some(members) = Members::of_value(text, result) else { return };
        for link in links_in(text, &members) {
            self.replace(link);
        }
        for member in members.iter() {
            match member.key.of(text) {
                b"content" => self.contents(text, member.value),
                b"contents" => self.each(text, member.value, |all, item| all.uri_of(text, Some(item))),
                b"messages" => self.each(text, member.value, |all, message| {
                    let content = Members::of_value(text, message).and_then(|own| own.get(text, "content"));
                    if let Some(content) = content {
                        all.contents(text, content);
                    }
                }),
                b"result" if depth > 0 => self.result(text, member.value, depth - 1),
                _ => {}
            }
        }
    }

    fn each(&mut self, text: &Bytes, list: Span, mut one: impl FnMut(&mut Self, Span)) {
        if let Some(items) = Elements::of_value(text, list) {
            items.iter().for_each(|item| one(self, item));
        }
    }

    /// One item of content, or a list of such items.
    fn contents(&mut self, text: &Bytes, content: Span) {
        if content.of(text).first() == Some(&b'[') {
            return self.each(text, content, Self::content_in(text));
        }
        Self::content_in(text)(self, content);
    }

    fn content_in(text: &Bytes) -> impl FnMut(&mut Self, Span) + '_ {
        move |all, item| {
            let Some(members) = Members::of_value(text, item) else { return };
            match members.get(text, "type").map(|kind| kind.of(text)) {
                Some(b"\"resource_link\"") => all.uri(text, members.get(text, "uri")),
                Some(b"\"resource\"") => all.uri_of(text, members.get(text, "resource")),
                _ => {}
            }
            links_in(text, &members).into_iter().for_each(|link| all.replace(link));
        }
    }

    /// The member `uri` of an object.
    fn uri_of(&mut self, text: &Bytes, object: Option<Span>) {
        let members = object.and_then(|span| Members::of_value(text, span));
        self.uri(text, members.and_then(|members| members.get(text, "uri")));
    }

    fn uri(&mut self, text: &Bytes, value: Option<Span>) {
        if let Some(uri) = value.and_then(|span| written(text, span)) {
            self.replace(uri);
        }
    }

    fn replace(&mut self, (span, own): (Span, String)) {
        let (public, decided) = (&mut self.public, &mut self.decided);
        let decision = decided.entry(own).or_insert_with_key(|own| public(own).map(|public| quote(&public)));
        if let Some(public) = decision {
            self.replaced.push((span, public.clone()));
        }
    }
}
