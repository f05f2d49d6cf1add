//! Files that calls contain as text, or name by URL.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

use super::encode::{decoded, encode_into};
use super::url::{canonical, has_port};
use crate::passing::FileStream;
use crate::tools::{CallFailure, Values};

/// The source of a file, as names of arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileFrom {
    /// The argument with a URL.
    Url(&'static str),
    /// Base64, with a name and a media type.
    Base64 {
        /// The argument with the content.
        data: &'static str,
        /// The argument with the file's name.
        name: &'static str,
        /// The argument with the file's media type.
        mime: &'static str,
    },
    /// The argument with a URL or base64; the form of its value decides which.
    Either(&'static str),
}

/// A file that a call contains or names.
#[derive(Debug, Clone)]
pub(super) struct FileData {
    /// The file's name and media type.
    pub(super) head: FileHead,
    /// The file's content.
    pub(super) content: FileContent,
}

/// The description of a file.
#[derive(Debug, Clone)]
pub(super) struct FileHead {
    /// The file's name, without a path.
    pub(super) name: String,
    /// The file's media type.
    pub(super) mime: String,
}

/// The content of a file.
#[derive(Debug, Clone)]
pub(super) enum FileContent {
    /// The whole content.
    Here(Bytes),
    /// The content is still arriving.
    Arriving(ArrivingFile),
}

/// A file that is still arriving from another server.
#[derive(Debug, Clone)]
pub(super) struct ArrivingFile {
    /// The content.
    pub(super) stream: FileStream,
    /// A number that the other server cannot predict.
    pub(super) secret: u128,
}

/// The next step to get a file.
pub(super) enum FileAsk {
    /// Nothing: the file is available.
    Here(FileData),
    /// The file must be fetched from this URL.
    Fetch(String),
}

/// Base64 as people paste it, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The file that a call contains or names.
///
/// # Errors
/// Fails if the file is not base64, is empty or larger than `most` bytes, or if the URL is invalid.
pub(super) fn wanted(from: FileFrom, values: &Values, most: usize) -> Result<FileAsk, CallFailure> {
    match from {
        FileFrom::Url(argument) => fetchable(values.text(argument).trim())
            .map(FileAsk::Fetch)
            .map_err(|why| CallFailure::arguments(format!("the argument {argument:?}: {why}"))),
        FileFrom::Base64 { data, name, mime } => {
            let (bytes, _) = content(values.text(data), data, most)?;
            let mime = media_type(values.text(mime)).ok_or_else(|| {
                CallFailure::arguments(format!(
                    "the argument {mime:?} must be a media type such as image/png"
                ))
            })?;
            let head = FileHead { name: file_name(values.text(name), &mime), mime };
            Ok(FileAsk::Here(FileData { head, content: FileContent::Here(bytes) }))
        }
        FileFrom::Either(argument) => {
            let text = values.text(argument).trim();
            if text.starts_with("http://") || text.starts_with("https://") {
                return wanted(FileFrom::Url(argument), values, most);
            }
            let (bytes, said) = content(text, argument, most)?;
            let mime = said.unwrap_or_else(|| guessed(&bytes).to_owned());
            let head = FileHead { name: file_name("", &mime), mime };
            Ok(FileAsk::Here(FileData { head, content: FileContent::Here(bytes) }))
        }
    }
}

/// The description of the file in the answer to a fetch; `first` is at least [`GUESSED`] bytes of the file, or the whole file.
///
/// # Errors
/// Fails if the answer is of a kind that is not fetched: a web page, data or a program.
pub(super) fn fetched(url: &str, content_type: Option<&str>, first: &[u8]) -> Result<FileHead, String> {
    let mime = content_type.and_then(media_type).filter(|mime| mime != "application/octet-stream");
    let mime = mime.unwrap_or_else(|| guessed(first).to_owned());
    if !is_fetched(&mime) {
        return Err(format!(
            "the URL does not lead to an image, audio, video, font, document or archive: its media type is {mime}"
        ));
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let last = path.split("://").nth(1).and_then(|path| path.split_once('/')).map_or("", |(_, path)| path);
    let last = decoded(last.rsplit('/').next().unwrap_or_default());
    Ok(FileHead { name: file_name(&last, &mime), mime })
}

/// Families of media types that are always fetched.
const KINDS: &[&str] = &["image/", "audio/", "video/", "font/"];
/// Text and application types that are fetched: documents and archives that people add to a site's media. Web pages,
/// programs, and data for programs are excluded, because an answer of such a type is not a file to pass on.
const DOCUMENTS: &[&str] = &[
    "application/epub+zip",
    "application/gzip",
    "application/msword",
    "application/octet-stream",
    "application/ogg",
    "application/pdf",
    "application/rtf",
    "application/vnd.",
    "application/x-7z-compressed",
    "application/x-gzip",
    "application/x-rar-compressed",
    "application/x-tar",
    "application/x-zip-compressed",
    "application/zip",
    "text/calendar",
    "text/csv",
    "text/markdown",
    "text/plain",
    "text/rtf",
    "text/vcard",
    "text/vtt",
];

/// Returns true if files of this media type may be fetched. Vendor types for structured data are recognized by their
/// suffix (RFC 6839).
fn is_fetched(mime: &str) -> bool {
    let is_data = mime.ends_with("+json") || (mime.ends_with("+xml") && mime != "image/svg+xml");
    let vendors = |known: &str| known.ends_with('.') && mime.starts_with(known);
    KINDS.iter().any(|kind| mime.starts_with(kind))
        || (!is_data && DOCUMENTS.iter().any(|known| mime == *known || vendors(known)))
}

/// The content of base64 text, with the media type of a `data:` URL (RFC 2397).
fn content(text: &str, argument: &str, most: usize) -> Result<(Bytes, Option<String>), CallFailure> {
    let (head, data) = match text.trim().strip_prefix("data:") {
        Some(url) => url.split_once(',').unwrap_or(("", url)),
        None => ("", text),
    };
    let large = || {
        CallFailure::arguments(format!(
            "the argument {argument:?} contains more than {most} bytes: pass the file's URL instead, with wp_upload_media_from_url for the \
             media library"
        ))
    };
    if data.len() / 4 > most / 3 + most / 30 + 1 {
        return Err(large());
    }
    let data: Cow<'_, str> = if data.contains(|c: char| c.is_ascii_whitespace()) {
        data.split_ascii_whitespace().collect::<String>().into()
    } else {
        data.into()
    };
    let no = |_| CallFailure::arguments(format!("the argument {argument:?} is not valid base64"));
    let bytes = BASE64.decode(data.as_bytes()).map_err(no)?;
    match bytes.len() {
        0 => Err(CallFailure::arguments(format!("the argument {argument:?} is empty"))),
        size if size > most => Err(large()),
        _ => Ok((Bytes::from(bytes), media_type(head.split(';').next().unwrap_or_default()))),
    }
}

/// A media type without its parameters (RFC 9110, 8.3.1).
fn media_type(text: &str) -> Option<String> {
    let bare = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let token = |part: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !part.is_empty() && part.len() <= 127 && part.bytes().all(fits)
    };
    let (kind, sub) = bare.split_once('/')?;
    (token(kind) && token(sub)).then_some(bare)
}

/// The number of bytes from which the media type of a file is guessed.
pub(super) const GUESSED: usize = 16;

/// The media type of a file, guessed from its first bytes.
fn guessed(bytes: &[u8]) -> &'static str {
    let signs: &[(&[u8], usize, &str)] = &[
        (b"\x89PNG\r\n", 0, "image/png"),
        (b"\xFF\xD8\xFF", 0, "image/jpeg"),
        (b"GIF8", 0, "image/gif"),
        (b"WEBP", 8, "image/webp"),
        (b"%PDF-", 0, "application/pdf"),
        (b"ftypqt", 4, "video/quicktime"),
        (b"ftyp", 4, "video/mp4"),
        (b"\x1A\x45\xDF\xA3", 0, "video/webm"),
        (b"ID3", 0, "audio/mpeg"),
        (b"PK\x03\x04", 0, "application/zip"),
        (b"wOF2", 0, "font/woff2"),
        (b"wOFF", 0, "font/woff"),
        (b"OTTO", 0, "font/otf"),
        (b"\x00\x01\x00\x00\x00", 0, "font/ttf"),
    ];
    let begins = |sign: &[u8], at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(sign));
    let found = signs.iter().find(|(sign, at, _)| begins(sign, *at));
    found.map_or("application/octet-stream", |(_, _, mime)| mime)
}

/// File extensions by media type.
const ENDINGS: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("application/pdf", "pdf"),
    ("video/mp4", "mp4"),
    ("video/quicktime", "mov"),
    ("video/webm", "webm"),
    ("audio/mpeg", "mp3"),
    ("application/zip", "zip"),
    ("text/plain", "txt"),
    ("text/csv", "csv"),
    ("font/woff2", "woff2"),
    ("font/woff", "woff"),
    ("font/otf", "otf"),
    ("font/ttf", "ttf"),
];

/// The maximum length of a file name, in characters.
const LONGEST_NAME: usize = 120;

/// A file name without a path and without awkward characters; an extension is added if the name has none.
pub(super) fn file_name(text: &str, mime: &str) -> String {
    let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let awkward = |c: char| c.is_control() || matches!(c, '"' | '*' | ':' | '<' | '>' | '?' | '|');
    let name: String = last.chars().filter(|c| !awkward(*c)).take(LONGEST_NAME).collect();
    let name = name.trim().trim_start_matches('.').to_owned();
    let name = if name.is_empty() { "upload".to_owned() } else { name };
    let ending = ENDINGS.iter().find(|(kind, _)| *kind == mime).map(|(_, ending)| *ending);
    match ending {
        Some(ending) if !name.contains('.') => format!("{name}.{ending}"),
        _ => name,
    }
}

/// An `http` or `https` URL that can be requested: characters that a URL must not contain are encoded, and a fragment is
/// removed.
///
/// # Errors
/// Returns the fault of the URL.
pub(super) fn fetchable(text: &str) -> Result<String, &'static str> {
    let (scheme, behind) = text.split_once("://").ok_or("only http and https URLs can be fetched")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err("only http and https URLs can be fetched");
    }
    let behind = behind.split('#').next().unwrap_or_default();
    let (authority, path) = behind.find(['/', '?']).map_or((behind, ""), |at| behind.split_at(at));
    let host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    if authority.is_empty() || !authority.chars().all(host) || !has_port(authority) {
        return Err(
            "before its path, the URL may contain only a valid host and a port (no user name or password)",
        );
    }
    if text.len() > 8000 {
        return Err("the URL is too long");
    }
    let scheme = scheme.to_ascii_lowercase();
    let mut url = format!("{scheme}://{}", canonical(&scheme, authority));
    if !path.starts_with('/') {
        url.push('/');
    }
    for c in path.chars() {
        match c {
            c if c.is_ascii_graphic()
                && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}') =>
            {
                url.push(c);
            }
            c => encode_into(&mut url, c.encode_utf8(&mut [0; 4])),
        }
    }
    Ok(url)
}

/// The absolute target of a redirect from `url` (RFC 9110, 10.2.2).
///
/// # Errors
/// Fails if the target is not an HTTP URL.
pub(super) fn redirected(url: &str, location: &str) -> Result<String, &'static str> {
    let scheme = url.split(':').next().unwrap_or("https");
    let origin_end = url.find("://").map_or(0, |at| at + 3);
    let origin_end = url[origin_end..].find(['/', '?']).map_or(url.len(), |at| origin_end + at);
    let target = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{}{location}", &url[..origin_end])
    } else {
        let path = url.split('?').next().unwrap_or(url);
        let folder = path.rfind('/').filter(|at| *at >= origin_end).unwrap_or(origin_end);
        format!("{}/{location}", &path[..folder])
    };
    fetchable(&target)
}
