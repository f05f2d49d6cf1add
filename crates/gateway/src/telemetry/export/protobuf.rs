//! The wire format of Protocol Buffers, as far as spans need it: numbers, texts and nested messages. This module must not
//! know any message.

/// A message that is being written.
pub(in crate::telemetry) struct Protobuf<'a>(pub(super) &'a mut Vec<u8>);

/// The wire types of fields.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

impl Protobuf<'_> {
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

    /// Writes a number of eight bytes.
    pub(in crate::telemetry) fn fixed64(&mut self, field: u32, number: u64) {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a number of four bytes.
    pub(in crate::telemetry) fn fixed32(&mut self, field: u32, number: u32) {
        self.key(field, FIXED32);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes bytes or a text.
    pub(in crate::telemetry) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Writes a nested message. Its length is inserted once it is known: most messages are shorter than 128 bytes, so that one
    /// byte is reserved.
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
        let mut prefix = Vec::with_capacity(10);
        Protobuf(&mut prefix).varint(length as u64);
        self.0.splice(at..=at, prefix);
    }
}

/// The value of a field that was read.
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
