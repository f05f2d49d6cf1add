//! Multipart bodies (RFC 7578), with names escaped as the HTML standard requires.

use std::collections::HashSet;
use std::fmt::Write as _;

use bytes::Bytes;

use super::file::FileData;

/// The parts of a body.
#[derive(Default)]
pub(super) struct Form<'a>(Vec<FormPart<'a>>);

struct FormPart<'a> {
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
    /// Adds a field with this name and text.
    pub(super) fn field(&mut self, name: &str, text: &str) {
        let head = format!("Content-Disposition: form-data; name=\"{}\"\r\n\r\n", escaped(name));
        self.0.push(FormPart { head, body: Body::Text(text.to_owned()) });
    }

    /// Adds a file under this field name.
    pub(super) fn file(&mut self, name: &str, file: &'a FileData) {
        let head = format!(
            "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
            escaped(name),
            escaped(&file.name),
            file.mime,
        );
        self.0.push(FormPart { head, body: Body::File(&file.bytes) });
    }

    /// The content type and the body.
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

    /// A boundary that occurs in none of the parts. Each part is searched only once, because a caller who knows the form of
    /// boundaries can fill a file with them.
    fn boundary(&self) -> String {
        let taken: HashSet<u32> = self.0.iter().flat_map(|part| numbers(part.body.bytes())).collect();
        // A file of the largest size cannot contain all these numbers.
        let free = (0..=u32::MAX).find(|number| !taken.contains(number)).unwrap_or_default();
        format!("{BEGINS}{free:0DIGITS$}")
    }
}

/// The prefix of boundaries; a number with [`DIGITS`] digits follows it.
const BEGINS: &str = "part-of-a-form-";
const DIGITS: usize = 8;

/// The numbers in all texts that look like a boundary.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    memchr::memmem::find_iter(bytes, BEGINS.as_bytes()).filter_map(|at| {
        let digits = bytes.get(at + BEGINS.len()..)?.get(..DIGITS)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The file contains all of the first boundaries: searching the whole file for each of them would take hours.
    #[test]
    fn a_file_full_of_boundaries_costs_one_look() {
        const MANY: u32 = 300_000;
        let mut bytes = Vec::new();
        for number in 0..MANY {
            bytes.extend_from_slice(format!("{BEGINS}{number:0DIGITS$}").as_bytes());
        }
        // Characters that no number contains, and a truncated number.
        bytes.extend_from_slice(b"part-of-a-form-+0300000 part-of-a-form-\xff part-of-a-form-003");
        let file =
            FileData { name: "a.bin".to_owned(), mime: "image/png".to_owned(), bytes: Bytes::from(bytes) };
        let mut form = Form::default();
        form.file("file", &file);
        form.field("title", &format!("{BEGINS}{MANY:0DIGITS$}"));
        let (kind, body) = form.written();
        let boundary = kind.split("boundary=").nth(1).unwrap();
        assert_eq!(memchr::memmem::find_iter(&body, boundary.as_bytes()).count(), 3, "{boundary}");
    }
}
