//! Tests of heads and framing on bytes.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::answer::AnswerReader;
use super::error::Http1Error;
use super::framing::{Framing, NextPiece};
use super::head::{self, AnswerContext, AnswerHead, HeadLimits, may_end};
use super::request::{OwnHeaders, Template, TemplatedRequest};

const LIMITS: HeadLimits = HeadLimits { lines: 10, bytes: 8192 };

fn template(method: Method, headers: &[(&'static str, &'static str)]) -> Template {
    let map: HeaderMap = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    Template::new(method, &"http://host:1/path?query".parse().unwrap(), map)
}

fn written(template: &Template, body: &'static str) -> String {
    written_in_trace(template, body, None)
}

fn written_in_trace(template: &Template, body: &'static str, traceparent: Option<&[u8; 55]>) -> String {
    let lines = [(HeaderName::from_static("own"), HeaderValue::from_static("2"))];
    let own = OwnHeaders { lines: &lines, traceparent };
    let mut out = Vec::new();
    TemplatedRequest { template, own: &own, body: Bytes::from_static(body.as_bytes()).into() }
        .write(&mut out);
    String::from_utf8(out).unwrap()
}

fn read(
    bytes: &[u8],
    asked: AnswerContext<'_>,
    limits: HeadLimits,
) -> Result<Option<(AnswerHead, usize)>, Http1Error> {
    let (length, head) = head::read(bytes, 0, asked, limits)?;
    Ok(head.map(|head| (head, length)))
}

fn head_of(text: &str, asked: &Method) -> Result<Option<(AnswerHead, usize)>, Http1Error> {
    read(text.as_bytes(), AnswerContext { method: asked, hears: None }, LIMITS)
}

fn answer(text: &str) -> AnswerHead {
    let (head, length) = head_of(text, &Method::POST).unwrap().expect("complete");
    assert_eq!(length, text.len());
    head
}

#[test]
fn a_request_is_written_from_its_template() {
    let post = template(Method::POST, &[("a", "1")]);
    let head = "POST /path?query HTTP/1.1\r\nhost: host:1\r\na: 1\r\nown: 2\r\n";
    assert_eq!(written(&post, "1234567890"), format!("{head}content-length: 10\r\n\r\n"));
    assert_eq!(written(&post, ""), format!("{head}content-length: 0\r\n\r\n"));
    let get = written(&template(Method::GET, &[("host", "other")]), "");
    assert_eq!(get, "GET /path?query HTTP/1.1\r\nhost: other\r\nown: 2\r\n\r\n");
}

#[test]
fn the_span_of_a_traced_request_is_a_header_line() {
    let own = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let text = written_in_trace(&template(Method::POST, &[]), "1", Some(own));
    let line = format!("traceparent: {}\r\n", std::str::from_utf8(own).unwrap());
    assert!(text.ends_with(&format!("own: 2\r\n{line}content-length: 1\r\n\r\n")), "{text}");
    let headers = OwnHeaders { lines: &[], traceparent: Some(own) };
    let (name, value) = headers.trace_line().unwrap();
    assert_eq!((name.as_str(), value.as_bytes()), ("traceparent", &own[..]));
    assert_eq!(OwnHeaders::NONE.trace_line(), None);
}

#[test]
fn only_the_client_says_how_long_a_body_is() {
    let template = template(Method::POST, &[("content-length", "3"), ("transfer-encoding", "chunked")]);
    let text = written(&template, "1");
    assert!(text.ends_with("\r\nown: 2\r\ncontent-length: 1\r\n\r\n"), "{text}");
    assert!(!text.contains("chunked") && text.matches("content-length").count() == 1, "{text}");
}

#[test]
fn only_what_is_heard_is_kept_of_a_head() {
    static HEARD: [HeaderName; 1] = [http::header::CONTENT_TYPE];
    let text =
        "HTTP/1.1 200 OK\r\nDate: x\r\nCONTENT-type: a/b\r\nCONNECTION: close\r\nContent-Length: 3\r\n\r\n";
    let asked = template(Method::POST, &[]).hearing(&HEARD);
    let (head, _) = read(text.as_bytes(), asked.asked(), LIMITS).unwrap().expect("complete");
    assert_eq!(head.response.headers().len(), 1);
    assert_eq!(head.response.headers()["content-type"], "a/b");
    assert!(!head.keep_alive);
    assert_eq!(head.framing.left(), Some(3));
}

#[test]
fn a_head_is_read_when_it_is_complete() {
    let text = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 404 Nothing\r\nX: y\r\nX: z\r\n\
                Keep-Alive: timeout=5, max=9\r\nContent-Length: 3\r\n\r\n";
    for length in 0..text.len() {
        assert!(head_of(&text[..length], &Method::POST).unwrap().is_none(), "{length}");
    }
    let head = answer(text);
    assert_eq!(head.response.status(), StatusCode::NOT_FOUND);
    let all: Vec<_> = head.response.headers().get_all("x").iter().collect();
    assert_eq!(all, ["y", "z"]);
    assert_eq!(head.response.headers()[CONTENT_LENGTH], "3");
    assert_eq!((head.keep.unwrap().as_secs(), head.keep_alive), (5, true));
    assert!(matches!(head.framing, Framing::Length(3)));
    assert!(may_end(b"x\r\n\r\n") && may_end(b"\n\n") && !may_end(b"a\r\nb\r\n"));
}

#[test]
fn the_framing_follows_the_standard() {
    let of = |head: &str| format!("{:?}", answer(&format!("HTTP/1.1 {head}\r\n\r\n")).framing);
    assert_eq!(of("200 OK\r\ncontent-length: 7"), "Length(7)");
    assert_eq!(of("200 OK\r\ncontent-length: 7, 7\r\ncontent-length: 7"), "Length(7)");
    assert_eq!(of("204 No Content\r\ncontent-length: 7"), "Length(0)");
    assert_eq!(of("304 Not Modified\r\ncontent-length: 7"), "Length(0)");
    assert_eq!(of("200 OK"), "UntilClose");
    assert_eq!(of("200 OK\r\ntransfer-encoding: gzip"), "UntilClose");
    assert!(of("200 OK\r\ntransfer-encoding: gzip, Chunked").starts_with("Chunked"));
    assert!(of("200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5").starts_with("Chunked"));
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n";
    let (head, _) = head_of(head, &Method::HEAD).unwrap().unwrap();
    assert!(matches!(head.framing, Framing::Length(0)));
}

#[test]
fn a_connection_serves_again_only_when_its_end_is_sure() {
    let kept = |head: &str| answer(&format!("HTTP/1.{head}\r\n\r\n")).keep_alive;
    assert!(kept("1 200 OK\r\ncontent-length: 0"));
    assert!(kept("0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive"));
    for head in [
        "0 200 OK\r\ncontent-length: 0",
        "1 200 OK\r\ncontent-length: 0\r\nconnection: close",
        "1 200 OK\r\ncontent-length: 0\r\nconnection: x, Close\r\nconnection: keep-alive",
        "1 200 OK\r\ncontent-length: 0\r\ntransfer-encoding: chunked",
        "1 200 OK",
    ] {
        assert!(!kept(head), "{head}");
    }
}

#[test]
fn what_is_no_head_is_refused() {
    for text in [
        "SSH-2.0-x\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 099 x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
        "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
    ] {
        assert!(head_of(text, &Method::POST).is_err(), "{text}");
    }
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(11));
    assert!(matches!(head_of(&many, &Method::POST), Err(Http1Error::Head(httparse::Error::TooManyHeaders))));
    let wide = HeadLimits { lines: 200, bytes: 8192 };
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(150));
    assert!(
        read(many.as_bytes(), AnswerContext { method: &Method::POST, hears: None }, wide).unwrap().is_some()
    );
    for long in [format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(9000)), "HTTP/1.1 100 x\r\n\r\n".repeat(500)]
    {
        assert!(matches!(head_of(&long, &Method::POST), Err(Http1Error::LongHead)));
    }
}

/// The body and the rest of the input, if it arrives in pieces of `size` bytes.
fn unchunked(text: &str, size: usize) -> Result<(String, usize), Http1Error> {
    let mut framing = answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").framing;
    let (mut body, mut rest) = (Vec::new(), text.as_bytes());
    let mut inbox = Bytes::new();
    loop {
        match framing.take(&mut inbox)? {
            NextPiece::Piece(piece) => body.extend_from_slice(&piece),
            NextPiece::End => break,
            NextPiece::Nothing if rest.is_empty() => framing.close()?,
            NextPiece::Nothing => {
                let (now, later) = rest.split_at(size.min(rest.len()));
                (inbox, rest) = (Bytes::copy_from_slice(now), later);
            }
        }
    }
    assert!(framing.is_over());
    Ok((String::from_utf8(body).unwrap(), inbox.len() + rest.len()))
}

#[test]
fn chunks_are_joined_however_they_come() {
    let text = "5\r\nhello\r\n00A ;x=\"y\"\r\n, world ok\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\nHTTP";
    for size in 1..text.len() {
        assert_eq!(unchunked(text, size).unwrap(), ("hello, world ok".to_owned(), 4), "{size}");
    }
    assert_eq!(unchunked("0\r\n\r\n", 1).unwrap(), (String::new(), 0));
}

#[test]
fn chunks_that_are_none_are_refused() {
    for text in [
        "",
        "5\r\nhell",
        "5\r\nhello\r\n",
        "5\r\nhello\r\n0\r\n",
        "\r\n",
        ";x\r\n",
        "g\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "-1\r\n",
        "0x5\r\nhello\r\n",
        "12345678123456781\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "0\r\nx: y\n\r\n",
    ] {
        assert!(unchunked(text, 3).is_err(), "{text:?}");
    }
    let extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(17_000));
    let trailer = format!("0\r\nx: {}\r\n\r\n", "y".repeat(17_000));
    assert!(unchunked(&extension, 1000).is_err() && unchunked(&trailer, 1000).is_err());
}

#[test]
fn a_body_without_a_length_ends_with_its_connection() {
    let mut framing = answer("HTTP/1.1 200 OK\r\n\r\n").framing;
    assert_eq!(framing.take(&mut Bytes::from_static(b"abc")).unwrap(), NextPiece::Piece("abc".into()));
    assert_eq!(framing.take(&mut Bytes::new()).unwrap(), NextPiece::Nothing);
    framing.close().unwrap();
    assert_eq!(framing.take(&mut Bytes::new()).unwrap(), NextPiece::End);
    let mut known = Framing::Length(4);
    assert_eq!(known.take(&mut Bytes::from_static(b"abc")).unwrap(), NextPiece::Piece("abc".into()));
    assert!(matches!(known.close(), Err(Http1Error::Incomplete)));
    let mut both = Bytes::from_static(b"defg");
    assert_eq!(known.take(&mut both).unwrap(), NextPiece::Piece("d".into()));
    assert_eq!((known.take(&mut both).unwrap(), &both[..]), (NextPiece::End, &b"efg"[..]));
}

#[test]
fn behind_a_proxy_only_a_promised_connection_serves_again() {
    let serves = |head: &str, is_wary: bool| {
        let mut reader = AnswerReader::new(LIMITS);
        reader.begin(false, is_wary);
        let text = format!("HTTP/1.1 204 No Content\r\n{head}\r\n");
        reader.head(text.as_bytes(), AnswerContext { method: &Method::POST, hears: None }).unwrap().unwrap();
        reader.may_serve_again()
    };
    for (head, direct, proxied) in [
        ("", true, false),
        ("connection: keep-alive\r\n", true, true),
        ("keep-alive: timeout=5\r\n", true, true),
        ("connection: close\r\n", false, false),
    ] {
        assert_eq!((serves(head, false), serves(head, true)), (direct, proxied), "{head}");
    }
}
