//! The upstream over stdin and stdout: one thread, large reads, and one write for all lines that arrived
//! together.

use super::answer::{Answer, Answers};
use super::options::LONGEST_MESSAGE;
use std::io::{self, Read, Write};

/// The size of one read, in bytes.
const READ: usize = 64 << 10;

/// Answers line by line until the input ends.
pub(super) fn serve(answers: &Answers, input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    let mut pending: Vec<u8> = Vec::with_capacity(READ);
    let mut out = Vec::with_capacity(READ);
    let mut space = vec![0; READ];
    loop {
        let read = match input.read(&mut space) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // Only the new bytes can contain an unseen line end.
        let seen = pending.len();
        pending.extend_from_slice(&space[..read]);
        if let Some(last) = memchr::memrchr(b'\n', &pending[seen..]) {
            let complete = seen + last + 1;
            for line in pending[..complete].split(|byte| *byte == b'\n') {
                answer(answers, line, &mut out);
            }
            pending.drain(..complete);
        }
        if pending.len() > LONGEST_MESSAGE {
            return Err(io::Error::other("a line is longer than 16 MiB"));
        }
        // The output is large only for large answers, which the reader waits for anyway.
        output.write_all(&out)?;
        output.flush()?;
        out.clear();
    }
}

fn answer(answers: &Answers, line: &[u8], out: &mut Vec<u8>) {
    if line.trim_ascii().is_empty() {
        return;
    }
    let answer = match answers.read(line) {
        Some(request) => answers.to(&request),
        None => Some(Answer::error(b"null", -32700, "no JSON-RPC message")),
    };
    if let Some(Answer { head, tail, .. }) = answer {
        out.extend_from_slice(&head);
        out.extend_from_slice(&tail);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::Era;
    use super::{Answers, serve};
    use std::io::Read;

    /// A reader that returns one of its pieces per read.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            space[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn lines_are_answered_however_they_arrive() {
        let mut input = Pieces(vec![
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,",
            b"\"method\":\"pi",
            b"ng\"}\r\n\nx\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        ]);
        let mut output = Vec::new();
        serve(&Answers::new(2, Era::Both), &mut input, &mut output).unwrap();
        let lines: Vec<_> = std::str::from_utf8(&output).unwrap().lines().collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        assert!(lines[2].contains("-32700"));
    }
}
