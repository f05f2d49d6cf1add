//! Bodies of several parts (RFC 7578), with names escaped as the HTML standard says.

use std::fmt::Write as _;

use bytes::Bytes;

use super::file::FileData;

/// The parts of a body.
#[derive(Default)]
pub(super) struct Form<'a>(Vec<Part<'a>>);

struct Part<'a> {
    head: String,
    body: Body<'a>,
}

enum Body<'a> {
    Text(String),
    File(&'a [u8]),
}

impl Body<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::File(bytes) => bytes,
        }
    }
}

impl<'a> Form<'a> {
    /// Adds a field.
    pub(super) fn field(&mut self, name: &str, text: &str) {
        let head = format!("Content-Disposition: form-data; name=\"{}\"\r\n\r\n", escaped(name));
        self.0.push(Part { head, body: Body::Text(text.to_owned()) });
    }

    /// Adds a file.
    pub(super) fn file(&mut self, name: &str, file: &'a FileData) {
        let head = format!(
            "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
            escaped(name),
            escaped(&file.name),
            file.mime,
        );
        self.0.push(Part { head, body: Body::File(&file.bytes) });
    }

    /// The content type, and the body.
    pub(super) fn written(&self) -> (String, Bytes) {
        let boundary = self.boundary();
        let size: usize = self.0.iter().map(|part| part.head.len() + part.body.bytes().len() + 64).sum();
        let mut out = Vec::with_capacity(size + 64);
        for part in &self.0 {
            out.extend_from_slice(format!("--{boundary}\r\n{}", part.head).as_bytes());
            out.extend_from_slice(part.body.bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={boundary}"), Bytes::from(out))
    }

    /// A boundary that is in none of the parts.
    fn boundary(&self) -> String {
        let mut number = 0_u64;
        loop {
            let boundary = format!("part-of-a-form-{number:08}");
            let is_in =
                |part: &Part<'_>| memchr::memmem::find(part.body.bytes(), boundary.as_bytes()).is_some();
            if !self.0.iter().any(is_in) {
                return boundary;
            }
            number += 1;
        }
    }
}

fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' | '\r' | '\n' => {
                let _ = write!(out, "%{:02X}", u32::from(c));
            }
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
