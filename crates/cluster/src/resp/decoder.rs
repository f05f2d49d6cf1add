//! Decodes replies from bytes that arrive in pieces of any size. Every size is bounded, because an attacker who
//! controls the store could send anything. No byte is examined twice.

use bytes::{Buf as _, Bytes, BytesMut};

use super::StoreReply;

/// The maximum length of a line (a number, an error or a short text), in bytes.
const LONGEST_LINE: usize = 64 << 10;

/// The maximum length of a text, in bytes.
const LONGEST_TEXT: usize = 16 << 20;

/// The maximum size of a whole reply, in bytes.
const LARGEST_REPLY: usize = 64 << 20;

/// The maximum number of values in a list.
const MOST_VALUES: usize = 2_000_000;

/// The maximum nesting of lists.
const DEEPEST: usize = 8;

/// The reason why bytes are not a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RespFault {
    /// The bytes do not follow the protocol.
    #[error("the answer is not RESP: is this address a Redis or Valkey server?")]
    Malformed,
    /// The reply exceeds a bound.
    #[error("the answer is too large")]
    TooLarge,
}

/// A list whose values have not all arrived.
#[derive(Debug)]
struct OpenList {
    missing: usize,
    values: Vec<StoreReply>,
    is_push: bool,
}

/// Reads replies. After a fault, nothing more can be read.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: BytesMut,
    /// The number of buffered bytes that were already searched for a line end, without success.
    searched: usize,
    /// The length of the next text, if its head has been read.
    text: Option<usize>,
    lists: Vec<OpenList>,
    /// The size of the reply so far.
    size: usize,
}

/// The parsed head of a value.
enum Head {
    Done(StoreReply),
    Text(usize),
    List(usize, bool),
}

impl Decoder {
    /// Returns the buffer to which arriving bytes are added.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Returns the next reply; `None` if more bytes must arrive first.
    ///
    /// # Errors
    /// Fails if the bytes do not follow the protocol, or exceed a bound.
    pub(crate) fn next(&mut self) -> Result<Option<StoreReply>, RespFault> {
        loop {
            let Some(value) = self.value()? else { return Ok(None) };
            if let Some(reply) = self.placed(value) {
                self.size = 0;
                return Ok(Some(reply));
            }
        }
    }

    /// Returns the next complete value, and opens the lists that begin before it.
    fn value(&mut self) -> Result<Option<StoreReply>, RespFault> {
        loop {
            if let Some(length) = self.text {
                if self.bytes.len() < length + 2 {
                    return Ok(None);
                }
                let text = self.bytes.split_to(length).freeze();
                if !self.bytes.starts_with(b"\r\n") {
                    return Err(RespFault::Malformed);
                }
                self.bytes.advance(2);
                self.text = None;
                return Ok(Some(StoreReply::Bytes(text)));
            }
            let Some(line) = self.line()? else { return Ok(None) };
            match head(&line)? {
                Head::Done(value) => return Ok(Some(value)),
                Head::Text(length) => {
                    self.count(length)?;
                    self.text = Some(length);
                }
                Head::List(0, is_push) => return Ok(Some(closed(Vec::new(), is_push))),
                Head::List(missing, is_push) => {
                    if self.lists.len() == DEEPEST {
                        return Err(RespFault::TooLarge);
                    }
                    self.lists.push(OpenList {
                        missing,
                        values: Vec::with_capacity(missing.min(1024)),
                        is_push,
                    });
                }
            }
        }
    }

    /// Adds a value to the innermost open list. Returns the complete reply once no list is open.
    fn placed(&mut self, mut value: StoreReply) -> Option<StoreReply> {
        while let Some(mut list) = self.lists.pop() {
            list.values.push(value);
            list.missing -= 1;
            if list.missing > 0 {
                self.lists.push(list);
                return None;
            }
            value = closed(list.values, list.is_push);
        }
        Some(value)
    }

    /// Returns the next line without its end; `None` if the end has not arrived.
    fn line(&mut self) -> Result<Option<Bytes>, RespFault> {
        let found = memchr::memchr(b'\n', &self.bytes[self.searched..]);
        let Some(end) = found.map(|at| self.searched + at) else {
            self.searched = self.bytes.len();
            return if self.searched > LONGEST_LINE { Err(RespFault::TooLarge) } else { Ok(None) };
        };
        self.searched = 0;
        let mut line = self.bytes.split_to(end + 1).freeze();
        self.count(line.len())?;
        line.truncate(end);
        if line.last() != Some(&b'\r') || line.len() > LONGEST_LINE {
            return Err(RespFault::Malformed);
        }
        line.truncate(end - 1);
        Ok(Some(line))
    }

    fn count(&mut self, more: usize) -> Result<(), RespFault> {
        self.size += more;
        if self.size > LARGEST_REPLY { Err(RespFault::TooLarge) } else { Ok(()) }
    }
}

fn closed(values: Vec<StoreReply>, is_push: bool) -> StoreReply {
    if is_push { StoreReply::Push(values) } else { StoreReply::List(values) }
}

fn head(line: &Bytes) -> Result<Head, RespFault> {
    let (kind, rest) = line.split_first().ok_or(RespFault::Malformed)?;
    let text = || std::str::from_utf8(rest).map_err(|_| RespFault::Malformed);
    let number = || text()?.parse::<i64>().map_err(|_| RespFault::Malformed);
    let bounded = |most: usize| match usize::try_from(number()?) {
        Ok(count) if count <= most => Ok(count),
        Ok(_) => Err(RespFault::TooLarge),
        Err(_) => Err(RespFault::Malformed),
    };
    Ok(match kind {
        b'+' | b'(' | b',' => Head::Done(StoreReply::Bytes(line.slice(1..))),
        b'-' => Head::Done(StoreReply::Error(String::from_utf8_lossy(rest).into_owned())),
        b':' => Head::Done(StoreReply::Integer(number()?)),
        b'#' if rest == b"t" || rest == b"f" => Head::Done(StoreReply::Integer((rest == b"t").into())),
        b'_' if rest.is_empty() => Head::Done(StoreReply::Nil),
        b'$' | b'*' if rest == b"-1" => Head::Done(StoreReply::Nil),
        b'$' | b'=' => Head::Text(bounded(LONGEST_TEXT)?),
        b'*' | b'~' => Head::List(bounded(MOST_VALUES)?, false),
        b'>' => Head::List(bounded(MOST_VALUES)?, true),
        b'%' => Head::List(2 * bounded(MOST_VALUES / 2)?, false),
        _ => return Err(RespFault::Malformed),
    })
}
