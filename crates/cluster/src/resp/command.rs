//! Commands, encoded as the store reads them: arrays of byte strings.

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
        let argument = argument.as_ref();
        self.body.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        self.body.extend_from_slice(argument);
        self.body.extend_from_slice(b"\r\n");
        self.parts += 1;
        self
    }

    /// Adds a number.
    pub(crate) fn number(self, number: impl std::fmt::Display) -> Self {
        self.arg(number.to_string())
    }

    /// Appends the whole command to a buffer.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("*{}\r\n", self.parts).as_bytes());
        out.extend_from_slice(&self.body);
    }

    /// Returns the size of the command in bytes, without its head.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }
}
