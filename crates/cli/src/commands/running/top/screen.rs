//! The whole terminal as one screen: it shows nothing else until this value is dropped, and keys arrive without Enter.

use std::io::{self, IsTerminal as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::layout::{LEAST_WIDTH, USUAL_WIDTH};

/// The height that is used if a terminal does not report its height.
const USUAL_HEIGHT: usize = 24;

/// Switches to the alternate screen, and hides the cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
/// Undoes `ENTER`.
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

/// The terminal while it shows one screen.
pub(super) struct Screen<'c> {
    console: &'c Console,
    /// The previous settings of the terminal, if they were changed.
    before: Option<Termios>,
}

impl<'c> Screen<'c> {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// Fails if stdout cannot be written.
    pub(super) fn open(console: &'c Console) -> Result<Self, Failure> {
        let stdin = io::stdin();
        let before = if stdin.is_terminal() { tcgetattr(&stdin).ok() } else { None };
        if let Some(before) = &before {
            let mut keys = before.clone();
            // Ctrl-C still sends a signal.
            keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            // Without this, `q` needs Enter; the rest works the same.
            let _ = tcsetattr(&stdin, OptionalActions::Now, &keys);
        }
        let screen = Self { console, before };
        screen.console.write(ENTER)?;
        Ok(screen)
    }

    /// Returns the width and the height of the terminal now.
    pub(super) fn size() -> (usize, usize) {
        let size = tcgetwinsize(io::stdout()).ok();
        let or = |value: Option<u16>, usual| value.filter(|value| *value > 0).map_or(usual, usize::from);
        let (columns, rows) = (size.map(|size| size.ws_col), size.map(|size| size.ws_row));
        (or(columns, USUAL_WIDTH).max(LEAST_WIDTH), or(rows, USUAL_HEIGHT).max(4))
    }

    /// Replaces what is shown.
    ///
    /// # Errors
    /// Fails if stdout cannot be written.
    pub(super) fn show(&self, lines: &[String]) -> Result<(), Failure> {
        let mut text = String::from("\x1b[H");
        for line in lines {
            text.extend([line, "\x1b[K\r\n"]);
        }
        text.push_str("\x1b[J");
        self.console.write(text.as_bytes())
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing left to restore.
        let _ = self.console.write(LEAVE);
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
