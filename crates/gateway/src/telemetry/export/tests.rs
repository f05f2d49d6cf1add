use super::protobuf::{FieldValue, Protobuf, fields};
use super::*;

#[test]
fn messages_of_any_length_are_read_back() {
    for length in [0, 1, 127, 128, 129, 16_383, 16_384, 70_000] {
        let text = vec![b'x'; length];
        let mut written = Vec::new();
        let mut message = Protobuf::new(&mut written);
        message.number(1, u64::MAX);
        message.message(2, |inner| inner.message(3, |inner| inner.bytes(4, &text)));
        message.fixed64(5, 7);
        message.fixed32(16, 8);
        let read: Vec<_> = fields(&written).collect();
        assert_eq!((&read[0], &read[2]), (&(1, FieldValue::Number(u64::MAX)), &(5, FieldValue::Number(7))));
        assert_eq!(read[3], (16, FieldValue::Number(8)));
        let FieldValue::Bytes(outer) = read[1].1 else { panic!("{length}") };
        let Some((3, FieldValue::Bytes(inner))) = fields(outer).next() else { panic!("{length}") };
        assert_eq!(fields(inner).next(), Some((4, FieldValue::Bytes(&text))));
        // A cut message ends the fields, and never panics.
        for end in (0..written.len()).step_by(1 + written.len() / 50) {
            let _ = fields(&written[..end]).count();
        }
    }
}

#[test]
fn attributes_of_any_length_are_read_back() {
    for length in [0, 1, 119, 120, 121, 122, 123, 126, 127, 128, 1024] {
        let text = "x".repeat(length);
        let mut written = Vec::new();
        attribute(&mut Protobuf::new(&mut written), 9, "k", &AttributeValue::Text(&text));
        let Some((9, FieldValue::Bytes(pair))) = fields(&written).next() else { panic!("{length}") };
        let read: Vec<_> = fields(pair).collect();
        let FieldValue::Bytes(value) = read[1].1 else { panic!("{length}") };
        assert_eq!((&read[0], read[1].0, read.len()), (&(1, FieldValue::Bytes(b"k")), 2, 2));
        assert_eq!(fields(value).collect::<Vec<_>>(), [(1, FieldValue::Bytes(text.as_bytes()))]);
    }
}

#[test]
fn a_rejection_is_read() {
    let mut body = Vec::new();
    Protobuf::new(&mut body).message(1, |partial| {
        partial.number(1, 3);
        partial.bytes(2, b"too old");
    });
    assert_eq!(envelope::rejected(&body), Some((3, "too old".to_owned())));
    assert_eq!(envelope::rejected(b""), None);
}
