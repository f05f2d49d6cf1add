use proptest::prelude::*;

use super::*;

/// Reads all replies from bytes that arrive in pieces of this size.
fn read(bytes: &[u8], piece: usize) -> Result<Vec<StoreReply>, RespFault> {
    let (mut decoder, mut replies) = (Decoder::default(), Vec::new());
    for piece in bytes.chunks(piece.max(1)) {
        decoder.buffer().extend_from_slice(piece);
        while let Some(reply) = decoder.next()? {
            replies.push(reply);
        }
    }
    Ok(replies)
}

fn text(text: &str) -> StoreReply {
    StoreReply::Bytes(text.as_bytes().to_vec().into())
}

#[test]
fn each_form_of_a_value_is_read() {
    let bytes = b"+OK\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n_\r\n#t\r\n-ERR no\r\n*2\r\n:1\r\n*0\r\n%1\r\n+a\r\n:1\r\n,1.5\r\n=5\r\ntxt:a\r\n~1\r\n:1\r\n>2\r\n+message\r\n+x\r\n";
    let expected = vec![
        text("OK"),
        StoreReply::Integer(-7),
        text("a\r\n"),
        StoreReply::Nil,
        StoreReply::Nil,
        StoreReply::Integer(1),
        StoreReply::Error("ERR no".to_owned()),
        StoreReply::List(vec![StoreReply::Integer(1), StoreReply::List(vec![])]),
        StoreReply::List(vec![text("a"), StoreReply::Integer(1)]),
        text("1.5"),
        text("txt:a"),
        StoreReply::List(vec![StoreReply::Integer(1)]),
        StoreReply::Push(vec![text("message"), text("x")]),
    ];
    for piece in [1, 2, 3, 7, 1000] {
        // `$3` announces three bytes: "a", CR and LF.
        assert_eq!(read(bytes, piece).as_ref(), Ok(&expected), "in pieces of {piece}");
    }
}

#[test]
fn bytes_that_are_no_reply_are_faults() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        b"\r\n",
        b":x\r\n",
        b"$2\r\nabc\r\n",
        b"+no end\n",
        b"$-2\r\n",
        b"#x\r\n",
    ] {
        assert_eq!(read(bytes, 1000), Err(RespFault::Malformed), "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn replies_without_measure_are_refused_early() {
    assert_eq!(read(b"$17000000\r\n", 99), Err(RespFault::TooLarge));
    assert_eq!(read(b"*9000000\r\n", 99), Err(RespFault::TooLarge));
    assert_eq!(read(&b"*1\r\n".repeat(9), 99), Err(RespFault::TooLarge));
    assert_eq!(read(&b"+".repeat(70_000), 1000), Err(RespFault::TooLarge));
    let many = [
        b"*5\r\n".to_vec(),
        [b"$16000000\r\n".to_vec(), vec![b'x'; 16_000_000], b"\r\n".to_vec()].concat().repeat(5),
    ];
    assert_eq!(read(&many.concat(), 1 << 20), Err(RespFault::TooLarge));
}

fn any_reply() -> impl Strategy<Value = StoreReply> {
    let leaf = prop_oneof![
        Just(StoreReply::Nil),
        any::<i64>().prop_map(StoreReply::Integer),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| StoreReply::Bytes(bytes.into())),
        "[A-Z]{3,8} [a-z ]{0,20}".prop_map(StoreReply::Error),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| prop::collection::vec(inner, 0..6).prop_map(StoreReply::List))
}

fn written(reply: &StoreReply, out: &mut Vec<u8>) {
    match reply {
        StoreReply::Nil => out.extend_from_slice(b"_\r\n"),
        StoreReply::Integer(number) => out.extend_from_slice(format!(":{number}\r\n").as_bytes()),
        StoreReply::Bytes(bytes) => {
            out.extend_from_slice(format!("${}\r\n", bytes.len()).as_bytes());
            out.extend_from_slice(bytes);
            out.extend_from_slice(b"\r\n");
        }
        StoreReply::Error(why) => out.extend_from_slice(format!("-{why}\r\n").as_bytes()),
        StoreReply::List(values) | StoreReply::Push(values) => {
            out.extend_from_slice(format!("*{}\r\n", values.len()).as_bytes());
            for value in values {
                written(value, out);
            }
        }
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_in_pieces_of_any_size(replies in prop::collection::vec(any_reply(), 1..6), piece in 1_usize..64) {
        let mut bytes = Vec::new();
        for reply in &replies {
            written(reply, &mut bytes);
        }
        prop_assert_eq!(read(&bytes, piece), Ok(replies));
    }

    #[test]
    fn any_bytes_are_replies_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1_usize..64) {
        let whole = read(&bytes, bytes.len());
        prop_assert_eq!(read(&bytes, piece).is_ok(), whole.is_ok());
    }

    #[test]
    fn commands_are_arrays_of_texts(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..5)) {
        let command = parts.iter().fold(StoreCommand::new("SET"), StoreCommand::arg);
        let mut bytes = Vec::new();
        command.write(&mut bytes);
        let expected = std::iter::once(b"SET".to_vec()).chain(parts).map(|part| StoreReply::Bytes(part.into())).collect();
        prop_assert_eq!(read(&bytes, 5), Ok(vec![StoreReply::List(expected)]));
    }
}
