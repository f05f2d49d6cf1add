//! The odd upstream over stdin and stdout.

use std::{
    io::{self, BufRead, Read, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    act::{self, Act},
    message,
    server::Server,
};

/// The longest line that is read, in bytes.
const LINE: u64 = 256 << 20;

/// The maximum number of calls that may wait at the same time; additional calls are executed one after the other.
const WAITING: usize = 1000;

/// Answers each line until the input ends (exit code 0) or a call ends the server (its exit code).
pub(super) fn run(
    server: &Server,
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
) -> io::Result<u8> {
    let output = Arc::new(Mutex::new(output));
    let waiting = Arc::new(AtomicUsize::new(0));
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(0);
        }
        // The received bytes are returned exactly, so only the line ending is removed.
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let acts = match std::str::from_utf8(text) {
            Ok("") => continue,
            Ok(text) => server.answer(text),
            Err(_) => vec![Act::Send(message::error("null", -32700, "this is not UTF-8"))],
        };
        let waits = acts.iter().any(|act| matches!(act, Act::Wait(_)));
        if waits && waiting.fetch_add(1, Ordering::Relaxed) < WAITING {
            let (output, waiting) = (output.clone(), waiting.clone());
            std::thread::spawn(move || {
                // If stdout is closed, nobody waits for this answer.
                let _ = perform(&acts, &output);
                waiting.fetch_sub(1, Ordering::Relaxed);
            });
        } else if let Some(code) = perform(&acts, &output)? {
            return Ok(code);
        }
    }
}

/// Performs the acts; returns an exit code if the server must end.
fn perform(acts: &[Act], output: &Mutex<impl Write>) -> io::Result<Option<u8>> {
    for act in acts {
        let out = || output.lock().unwrap_or_else(PoisonError::into_inner);
        match act {
            Act::Send(message) => {
                let mut out = out();
                out.write_all(message.as_bytes())?;
                out.write_all(b"\n")?;
                out.flush()?;
            }
            Act::Garbage(text) => {
                let mut out = out();
                writeln!(out, "{text}")?;
                out.flush()?;
            }
            Act::Huge { head, bytes, tail } => {
                let mut out = out();
                out.write_all(head.as_bytes())?;
                act::filler(&mut *out, *bytes)?;
                writeln!(out, "{tail}")?;
                out.flush()?;
            }
            Act::Half(message) => {
                let mut out = out();
                out.write_all(act::half(message))?;
                out.flush()?;
            }
            Act::Noise(bytes) => act::filler(&mut io::stderr().lock(), *bytes)?,
            Act::Wait(time) | Act::Deafness(time) => act::pause(*time),
            Act::Die(code) => {
                // A final message; if it cannot be written, the process must still end.
                let _ = writeln!(io::stderr(), "odd: dying with code {code}, as told");
                return Ok(Some(*code));
            }
            Act::Silence => {}
        }
    }
    Ok(None)
}
