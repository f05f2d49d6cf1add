//! Multipart bodies (RFC 7578), with names escaped as the HTML standard requires.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;

use super::file::{ArrivingFile, FileContent, FileData};
use crate::passing::{HttpBody, PassedFile};

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
    Arriving(&'a ArrivingFile),
}

impl Body<'_> {
    /// The bytes that are already available.
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::File(bytes) => bytes,
            Self::Arriving(_) => &[],
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
            escaped(&file.head.name),
            file.head.mime,
        );
        let body = match &file.content {
            FileContent::Here(bytes) => Body::File(bytes),
            FileContent::Arriving(file) => Body::Arriving(file),
        };
        self.0.push(FormPart { head, body });
    }

    /// The content type and the body. A file that is still arriving becomes a part of the body as it arrives.
    pub(super) fn written(&self) -> (String, HttpBody) {
        let boundary = self.boundary();
        let size: usize = self.0.iter().map(|part| part.head.len() + part.body.bytes().len() + 64).sum();
        let mut out = Vec::with_capacity(size + 64);
        let mut arriving = None;
        for part in &self.0 {
            out.extend_from_slice(format!("--{boundary}\r\n{}", part.head).as_bytes());
            match part.body {
                Body::Arriving(file) => arriving = Some((Bytes::from(std::mem::take(&mut out)), file)),
                _ => out.extend_from_slice(part.body.bytes()),
            }
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        let out = Bytes::from(out);
        let body = match arriving {
            None => HttpBody::Whole(out),
            // The code that sends the request sets its limits.
            Some((before, file)) => HttpBody::Passing(PassedFile {
                before,
                file: file.stream.clone(),
                after: out,
                stall: Duration::ZERO,
            }),
        };
        (format!("multipart/form-data; boundary={boundary}"), body)
    }

    /// A boundary that occurs in none of the parts. Each part is searched only once, because a caller who knows the form of
    /// boundaries can fill a file with them. A file that is still arriving cannot be searched; for it, the boundary contains a
    /// number that nobody can guess.
    fn boundary(&self) -> String {
        let arriving = self.0.iter().find_map(|part| match part.body {
            Body::Arriving(file) => Some(file.secret),
            _ => None,
        });
        if let Some(secret) = arriving {
            return format!("{BEGINS}{secret:032x}");
        }
        let taken: HashSet<u32> = self.0.iter().flat_map(|part| numbers(part.body.bytes())).collect();
        // A file of the largest size cannot contain all these numbers.
        let free = (0..=u32::MAX).find(|number| !taken.contains(number)).unwrap_or_default();
        format!("{BEGINS}{free:0DIGITS$}")
    }
}

/// The prefix of boundaries. After it comes a number with [`DIGITS`] digits, or a number that nobody can guess.
const BEGINS: &str = "part-of-a-form-";
const DIGITS: usize = 8;

/// The numbers after all occurrences of the prefix of boundaries.
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
    use super::super::file::FileHead;
    use super::*;
    use crate::passing::FileStream;

    /// Tests a file that contains all of the first boundaries: a search of the whole file for each of them would
    /// take hours.
    #[test]
    fn a_file_full_of_boundaries_costs_one_look() {
        const MANY: u32 = 300_000;
        let mut bytes = Vec::new();
        for number in 0..MANY {
            bytes.extend_from_slice(format!("{BEGINS}{number:0DIGITS$}").as_bytes());
        }
        // Characters that no number contains, and a truncated number.
        bytes.extend_from_slice(b"part-of-a-form-+0300000 part-of-a-form-\xff part-of-a-form-003");
        let file = file(FileContent::Here(Bytes::from(bytes)));
        let mut form = Form::default();
        form.file("file", &file);
        form.field("title", &format!("{BEGINS}{MANY:0DIGITS$}"));
        let (kind, body) = form.written();
        let (boundary, body) = (kind.split("boundary=").nth(1).unwrap(), body.whole().unwrap());
        assert_eq!(memchr::memmem::find_iter(body, boundary.as_bytes()).count(), 3, "{boundary}");
    }

    #[test]
    fn an_arriving_file_stands_between_what_is_known() {
        let stream = FileStream::new(Bytes::from_static(b"12345"), None, Some(5), 5);
        let file = file(FileContent::Arriving(ArrivingFile { stream, secret: 7 }));
        let mut form = Form::default();
        form.field("first", "1");
        form.file("file", &file);
        form.field("title", "T");
        let (kind, HttpBody::Passing(passed)) = form.written() else { panic!("the file is not read") };
        let boundary = format!("part-of-a-form-{:032x}", 7);
        assert_eq!(kind, format!("multipart/form-data; boundary={boundary}"));
        let before = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"first\"\r\n\r\n1\r\n--{boundary}\r\nContent-Disposition: \
             form-data; name=\"file\"; filename=\"a.bin\"\r\nContent-Type: image/png\r\n\r\n"
        );
        let after = format!(
            "\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nT\r\n--{boundary}--\r\n"
        );
        assert_eq!((&passed.before[..], &passed.after[..]), (before.as_bytes(), after.as_bytes()));
        assert_eq!(passed.length(), Some((before.len() + 5 + after.len()) as u64));
    }

    fn file(content: FileContent) -> FileData {
        FileData { head: FileHead { name: "a.bin".to_owned(), mime: "image/png".to_owned() }, content }
    }
}
