//! The wire format of Protocol Buffers, reduced to what spans need: numbers, texts and nested messages. This module
//! must not know any message.

/// A message that is being written.
pub(in crate::telemetry) struct Protobuf<'a>(&'a mut Vec<u8>);

/// The wire types of fields.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

/// The number of bytes of a padded length.
pub(in crate::telemetry) const LENGTH: usize = 4;

/// The key of a field that contains bytes; the field's number must be below 16.
pub(in crate::telemetry) const fn bytes_key(field: u32) -> u8 {
    (field << 3 | BYTES).to_le_bytes()[0]
}

/// The key of a field that contains an eight-byte number; the field's number must be below 16.
pub(in crate::telemetry) const fn fixed64_key(field: u32) -> u8 {
    (field << 3 | FIXED64).to_le_bytes()[0]
}

/// The keys of the fields 1 and 2, if they are texts or messages.
const KEY_OF_1: u8 = 0x0a;
const KEY_OF_2: u8 = 0x12;

impl<'a> Protobuf<'a> {
    /// Creates a message that is appended to these bytes.
    pub(in crate::telemetry) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self(bytes)
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    /// Writes a number.
    pub(in crate::telemetry) fn number(&mut self, field: u32, number: u64) {
        self.key(field, VARINT);
        self.varint(number);
    }

    /// Writes an eight-byte number.
    pub(in crate::telemetry) fn fixed64(&mut self, field: u32, number: u64) {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a four-byte number.
    pub(in crate::telemetry) fn fixed32(&mut self, field: u32, number: u32) {
        self.key(field, FIXED32);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes bytes that are part of the message as they are.
    pub(in crate::telemetry) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes a pair of short texts as a nested message: field 1 is the key, and field 1 of field 2 is the text.
    /// Returns false, and writes nothing, if the nested message would have 128 bytes or more. Most bytes of a span
    /// belong to such pairs, so this function computes their lengths in advance.
    pub(super) fn short_pair(&mut self, field: u32, key: &str, text: &[u8]) -> bool {
        let length = key.len() + text.len() + 6;
        let (Ok(field), Ok(all @ 0..0x80), Ok(of_key), Ok(of_text)) = (
            u8::try_from(field << 3 | BYTES),
            u8::try_from(length),
            u8::try_from(key.len()),
            u8::try_from(text.len()),
        ) else {
            return false;
        };
        self.0.reserve(length + 2);
        self.0.extend_from_slice(&[field, all, KEY_OF_1, of_key]);
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(&[KEY_OF_2, of_text + 2, KEY_OF_1, of_text]);
        self.0.extend_from_slice(text);
        true
    }

    /// Writes bytes or a text.
    pub(in crate::telemetry) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Writes the start of a nested message whose end [`close`] notes. The field's number must be below 16.
    pub(in crate::telemetry) fn open(&mut self, field: u32) {
        self.0.push(bytes_key(field));
        self.0.extend_from_slice(&[0; LENGTH]);
    }

    /// Writes a nested message. Its length is inserted afterwards. One byte is reserved for the length, because
    /// most messages are shorter than 128 bytes.
    pub(in crate::telemetry) fn message(&mut self, field: u32, write: impl FnOnce(&mut Protobuf<'_>)) {
        self.key(field, BYTES);
        let at = self.0.len();
        self.0.push(0);
        write(&mut Protobuf(self.0));
        let length = self.0.len() - at - 1;
        if let Ok(short @ 0..0x80) = u8::try_from(length) {
            self.0[at] = short;
            return;
        }
        // The length takes more bytes than the reserved one: they are added at the end and rotated to their place.
        let end = self.0.len();
        self.varint(length as u64);
        let mut prefix = [0; 10];
        let count = self.0.len() - end;
        prefix[..count].copy_from_slice(&self.0[end..]);
        self.0.copy_within(at + 1..end, at + count);
        self.0[at..at + count].copy_from_slice(&prefix[..count]);
        self.0.truncate(end + count - 1);
    }
}

/// Notes that the nested message whose start [`Protobuf::open`] wrote at `at` ends with the last byte. Its length is
/// padded, because the bytes behind a length of the usual form would have to be moved; every reader of the format
/// accepts this form.
pub(in crate::telemetry) fn close(bytes: &mut [u8], at: usize) {
    if let Some((length, inside)) = bytes.get_mut(at + 1..).and_then(<[u8]>::split_first_chunk_mut::<LENGTH>)
    {
        *length = padded(inside.len());
    }
}

/// Returns a length below 2^28 as four bytes.
fn padded(length: usize) -> [u8; LENGTH] {
    let seven = |shift: u32| (length >> shift & 0x7f).to_le_bytes()[0];
    [seven(0) | 0x80, seven(7) | 0x80, seven(14) | 0x80, seven(21)]
}

/// The value of a field that has been read.
#[derive(Debug, PartialEq)]
pub(super) enum FieldValue<'a> {
    /// A number of any length.
    Number(u64),
    /// Bytes, a text or a nested message.
    Bytes(&'a [u8]),
}

/// Returns the fields of a message, up to the first invalid byte.
pub(super) fn fields(mut text: &[u8]) -> impl Iterator<Item = (u64, FieldValue<'_>)> {
    std::iter::from_fn(move || {
        let key = read_varint(&mut text)?;
        let value = match u32::try_from(key & 7).ok()? {
            VARINT => FieldValue::Number(read_varint(&mut text)?),
            FIXED64 => FieldValue::Number(u64::from_le_bytes(*text.split_off(..8)?.as_array()?)),
            FIXED32 => FieldValue::Number(u32::from_le_bytes(*text.split_off(..4)?.as_array()?).into()),
            BYTES => {
                let length = usize::try_from(read_varint(&mut text)?).ok()?;
                FieldValue::Bytes(text.split_off(..length)?)
            }
            _ => return None,
        };
        Some((key >> 3, value))
    })
}

fn read_varint(text: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *text.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
