//! Properties of HTTP/1.1 as the client writes and reads it. The properties themselves are in the fuzz targets.

extern crate dragoman_transport as transport;

#[path = "../../../fuzz/src/http1/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
mod properties;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use properties::answers::{self, Setting};
use properties::requests;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use transport::net::client::http1::HeadLimits;

fn setting() -> impl Strategy<Value = Setting> {
    let methods = select(vec![Method::GET, Method::POST, Method::HEAD]);
    (methods, any::<[bool; 2]>(), 0..12_usize, 16..2000_usize, vec(any::<u8>(), 0..6)).prop_map(
        |(method, [closes, is_wary], lines, bytes, sizes)| {
            let limits = HeadLimits { lines, bytes };
            Setting { method, closes, is_wary, limits, sizes }
        },
    )
}

/// Pieces of answers, valid and invalid, as an upstream might combine them.
fn piece() -> impl Strategy<Value = String> {
    let known = select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 204 No Content\r\n",
        "HTTP/1.1 304 Not Modified\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n",
        "HTTP/1.1 500 \r\n",
        "content-length: 3\r\n",
        "Content-Length: 3, 3\r\n",
        "content-length: 4\r\n",
        "content-length: 18446744073709551615\r\n",
        "transfer-encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: identity\r\n",
        "connection: close\r\n",
        "connection: keep-alive\r\n",
        "keep-alive: timeout=5\r\n",
        "x: y\r\n",
        "x: y\n",
        " folded\r\n",
        "name : value\r\n",
        "\r\n",
        "\n",
        "\r",
        "0\r\n\r\n",
        "3\r\nabc\r\n",
        "3;x=y\r\nabc\r\n",
        "ffffffffffffffff\r\n",
        "10000000000000000\r\n",
        "abc",
        "trailer: x\r\n",
    ]);
    prop_oneof![12 => known.prop_map(str::to_owned), 1 => "[ -~\r\n]{0,12}"]
}

/// An answer with several lines that state its end, not always correctly, and a body that may match one of them.
fn ambiguous() -> impl Strategy<Value = String> {
    let status = select(vec![
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK",
        "HTTP/1.0 200 OK",
        "HTTP/1.1 204 x",
        "HTTP/1.1 304 x",
    ]);
    let line = select(vec![
        "Content-Length: 14",
        "content-length: 3",
        "content-length: 0",
        "content-length: 14, 14",
        "Transfer-Encoding: chunked",
        "transfer-encoding: gzip",
        "transfer-encoding: chunked, gzip",
        "transfer-encoding: gzip, chunked",
        "transfer-encoding: CHUNKED,chunked",
        "connection: close",
        "connection: x, Keep-Alive",
        "keep-alive: max=9, timeout=5",
        "Keep-Alive: timeout=x, timeout=5",
    ]);
    let body =
        select(vec!["", "abc", "3\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"]);
    (status, vec(line, 0..4), body).prop_map(|(status, lines, body)| {
        let lines: String = lines.iter().flat_map(|line| [*line, "\r\n"]).collect();
        format!("{status}\r\n{lines}\r\n{body}")
    })
}

/// A well-formed answer, with its body.
#[derive(Clone, Debug)]
struct Good {
    interim: usize,
    status: u16,
    lines: Vec<(String, String)>,
    body: Vec<Vec<u8>>,
    is_chunked: bool,
}

impl Good {
    fn stream(&self) -> Vec<u8> {
        let mut out = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(self.interim);
        out.extend_from_slice(format!("HTTP/1.1 {} \r\n", self.status).as_bytes());
        for (name, value) in &self.lines {
            out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if !self.is_chunked {
            let body = self.body.concat();
            out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            out.extend_from_slice(&body);
            return out;
        }
        out.extend_from_slice(b"Transfer-Encoding: Chunked\r\n\r\n");
        for chunk in &self.body {
            out.extend_from_slice(format!("{:X};x=\"y\"\r\n", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"0\r\nx-trailer: y\r\n\r\n");
        out
    }
}

fn good() -> impl Strategy<Value = Good> {
    let lines = vec(("x-[a-z0-9-]{0,6}", "([!-~]([ -~]{0,10}[!-~])?)?"), 0..5);
    let statuses = select(vec![200_u16, 201, 404, 500, 599]);
    (0..3_usize, statuses, lines, vec(vec(any::<u8>(), 1..40), 0..20), any::<bool>()).prop_map(
        |(interim, status, lines, body, is_chunked)| Good { interim, status, lines, body, is_chunked },
    )
}

fn header() -> impl Strategy<Value = (HeaderName, HeaderValue)> {
    let known = select(vec!["host", "connection", "content-length", "transfer-encoding", "te"]);
    let name = prop_oneof!["[a-z][a-z-]{0,8}", known.prop_map(str::to_owned)];
    let value = vec(prop_oneof![6 => 32..127_u8, 1 => any::<u8>()], 0..20);
    (name, value).prop_filter_map("no header", |(name, value)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::from_bytes(&value).ok()?))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bytes_are_read_the_same_however_they_come(setting in setting(), stream in vec(any::<u8>(), 0..200)) {
        answers::check(&stream, &setting);
    }

    #[test]
    fn pieces_of_answers_are_read_the_same_however_they_come(
        setting in setting(),
        pieces in vec(piece(), 0..12),
    ) {
        let stream = pieces.concat();
        answers::check(stream.as_bytes(), &setting);
        answers::check(format!("HTTP/1.1 200 OK\r\n{stream}").as_bytes(), &setting);
    }

    #[test]
    fn ambiguous_answers_are_read_in_one_way(mut setting in setting(), stream in ambiguous()) {
        setting.limits = HeadLimits { lines: 20, bytes: 4096 };
        answers::check(stream.as_bytes(), &setting);
    }

    #[test]
    fn good_answers_are_read_whole(
        good in good(),
        sizes in vec(any::<u8>(), 0..6),
        closes: bool,
        is_wary: bool,
        short: prop::sample::Index,
    ) {
        let limits = HeadLimits { lines: 20, bytes: 4096 };
        let setting = Setting { method: Method::POST, closes, is_wary, limits, sizes };
        let stream = good.stream();
        let answer = answers::check(&stream, &setting).expect("a head");
        prop_assert_eq!(answer.status, good.status);
        prop_assert_eq!(&answer.body, &good.body.concat());
        // Behind a proxy, nothing here promises that the connection stays open.
        prop_assert_eq!(answer.end, Some((0, !closes && !is_wary)));
        for (name, value) in &good.lines {
            let line = (name.clone(), value.clone().into_bytes());
            prop_assert!(answer.headers.contains(&line), "{:?}", line);
        }
        // A truncated stream is an answer without its end.
        let short = answers::read(&stream[..short.index(stream.len())], &setting);
        prop_assert!(short.is_none_or(|answer| answer.end.is_none()));
        // No following byte may be taken for the next answer.
        let behind = answers::check(&[&stream[..], b"HTTP/1.1 200 OK\r\n\r\n"].concat(), &setting);
        prop_assert_eq!(behind.expect("a head").end, Some((19, false)));
    }

    #[test]
    fn requests_hold_what_was_given_and_no_more(
        method in select(vec![Method::GET, Method::POST, Method::DELETE, Method::PUT]),
        path in "/[!-~]{0,20}",
        headers in vec(header(), 0..6),
        more in vec(header(), 0..3),
        body in vec(any::<u8>(), 0..30),
    ) {
        let Ok(uri) = format!("http://host:1{path}").parse() else { return Ok(()) };
        let headers: HeaderMap = headers.into_iter().collect();
        requests::check(&method, &uri, &headers, &more, &body);
    }
}
