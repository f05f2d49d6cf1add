//! The response parser with bytes that arrive at once, one by one, or not at all.

use super::Inbox;

/// Feeds `text` in pieces of `size` bytes; returns the statuses and bodies of all complete responses.
fn read(text: &[u8], size: usize) -> Result<Vec<(u16, Vec<u8>)>, String> {
    let (mut inbox, mut found) = (Inbox::default(), Vec::new());
    for piece in text.chunks(size) {
        inbox.buffer.extend_from_slice(piece);
        while inbox.has_response(false)? {
            found.push((inbox.head().unwrap().status, inbox.body().to_vec()));
            inbox.release();
        }
    }
    Ok(found)
}

#[test]
fn responses_are_found_however_they_arrive() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
        HTTP/1.1 202 Accepted\r\ncontent-length:0\r\n\r\n\
        HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\
        HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n\
        HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\nTrailer: 1\r\n\r\n";
    let wanted: [(u16, &[u8]); 5] =
        [(200, b"hello"), (202, b""), (204, b""), (200, b"abc0123456789"), (404, b"z")];
    for size in [1, 2, 7, 64, text.len()] {
        let found = read(text, size).unwrap();
        assert_eq!(found, wanted.map(|(status, body)| (status, body.to_vec())), "pieces of {size}");
    }
}

#[test]
fn the_head_is_understood() {
    let mut inbox = Inbox::default();
    inbox.buffer.extend_from_slice(
        b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\nMCP-Session-ID:  abc \r\n\
          Connection: Close\r\nContent-Length: 100\r\n\r\nxy",
    );
    assert_eq!(inbox.has_response(false), Ok(false));
    assert_eq!(inbox.missing(), 98);
    let head = inbox.head().unwrap();
    assert!(head.events && head.close);
    assert_eq!(head.session.as_deref(), Some(&b"abc"[..]));
    assert!(inbox.has_response(true).unwrap_err().contains("before the answer was complete"));
}

#[test]
fn without_a_length_the_body_ends_with_the_connection() {
    let mut inbox = Inbox::default();
    inbox.buffer.extend_from_slice(b"HTTP/1.0 500 Oops\r\n\r\nbody");
    assert_eq!(inbox.has_response(false), Ok(false));
    assert_eq!(inbox.has_response(true), Ok(true));
    assert_eq!((inbox.body(), inbox.head().unwrap().close), (&b"body"[..], true));
}

#[test]
fn what_is_no_response_is_refused() {
    for text in [
        "SSH-2.0-x\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nnocolon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
    ] {
        assert!(read(text.as_bytes(), 1000).is_err(), "{text}");
    }
    assert!(read(&vec![b'x'; 70_000], 1000).is_err());
}
