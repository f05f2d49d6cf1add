//! Commands, encoded as the store reads them: arrays of byte strings.

/// The maximum size of a head, in bytes.
const MOST_HEAD: usize = 1 + 20 + 2;

/// An encoded command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreCommand {
    parts: usize,
    /// The encoded parts, each preceded by its length.
    body: Vec<u8>,
}

impl StoreCommand {
    /// Begins a command with its name.
    pub(crate) fn new(name: &str) -> Self {
        Self { parts: 0, body: Vec::with_capacity(64) }.arg(name)
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<[u8]>) -> Self {
        self.add(argument.as_ref());
        self
    }

    /// Adds an argument to a command with many of them.
    pub(crate) fn add(&mut self, argument: &[u8]) {
        self.body.reserve(argument.len() + MOST_HEAD + 2);
        head(&mut self.body, b'$', argument.len());
        self.body.extend_from_slice(argument);
        self.body.extend_from_slice(b"\r\n");
        self.parts += 1;
    }

    /// Adds a number.
    pub(crate) fn number(self, number: impl std::fmt::Display) -> Self {
        self.arg(number.to_string())
    }

    /// Appends the whole command to a buffer.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        head(out, b'*', self.parts);
        out.extend_from_slice(&self.body);
    }

    /// Returns the size of the command in bytes, without its head.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }
}

/// Appends a sign, a number and a line end. Commands have many of these, and the formatting functions of the standard library would
/// cost as much as all the rest.
fn head(out: &mut Vec<u8>, sign: u8, number: usize) {
    let mut head = [0; MOST_HEAD];
    let (mut at, mut rest) = (MOST_HEAD - 2, number);
    head[at..].copy_from_slice(b"\r\n");
    loop {
        at -= 1;
        head[at] = b"0123456789"[rest % 10];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    at -= 1;
    head[at] = sign;
    out.extend_from_slice(&head[at..]);
}
