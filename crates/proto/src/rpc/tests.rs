//! Cases of valid and invalid messages.

use bytes::Bytes;

use super::*;
use crate::json::Duplicate;

fn parse(text: &str) -> Result<Frame, FrameError> {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default())
}

#[test]
fn finds_what_the_gateway_acts_on() {
    let frame = parse(
        r#" {"id": "a\u0062","jsonrpc":"2.0","x":[1e2],"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}} "#,
    )
    .unwrap();
    assert_eq!(frame.kind(), FrameKind::Request);
    assert_eq!(frame.id().unwrap().json().as_ref(), br#""a\u0062""#);
    assert_eq!(frame.method(), "tools/call");
    let name = frame.param("name").unwrap().unwrap();
    assert_eq!(frame.string(name).unwrap(), "t");
    assert_eq!(frame.meta("progressToken").unwrap().unwrap().of(frame.text()), b"7");
}

#[test]
fn keys_written_with_escapes_mean_the_same() {
    let frame =
        parse(r#"{"jsonrpc":"2.0","\u0069d":1,"m\u0065thod":"x","par\u0061ms":{"_m\u0065ta":{"a":1}}}"#)
            .unwrap();
    assert_eq!(frame.kind(), FrameKind::Request);
    assert_eq!(frame.method(), "x");
    assert_eq!(frame.meta("a").unwrap().unwrap().of(frame.text()), b"1");
}

#[test]
fn refuses_with_a_reason_and_the_id() {
    let id = |n: u64| Some(Id::number(n));
    for (text, fault, with) in [
        (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, FrameFault::Version, id(1)),
        (r#"{"id":1,"method":"x"}"#, FrameFault::Version, id(1)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, FrameFault::Id(IdError::Null), None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, FrameFault::Id(IdError::Fraction), None),
        (r#"{"jsonrpc":"2.0","id":1e2,"method":"x"}"#, FrameFault::Id(IdError::Fraction), None),
        (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, FrameFault::Id(IdError::Kind), None),
        (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, FrameFault::Id(IdError::Kind), None),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, FrameFault::Duplicate(Duplicate("id")), None),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"x","method":"y"}"#,
            FrameFault::Duplicate(Duplicate("method")),
            id(3),
        ),
        (r#"{"jsonrpc":"2.0","id":3,"method":4}"#, FrameFault::Method, id(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"x","params":[1]}"#, FrameFault::Params, id(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"x","params":{"_meta":1}}"#, FrameFault::Meta, id(3)),
        (r#"{"jsonrpc":"2.0","id":3}"#, FrameFault::Shape, id(3)),
        (r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{}}"#, FrameFault::Shape, id(3)),
        (r#"{"jsonrpc":"2.0","result":{}}"#, FrameFault::NoId, None),
        (r#""text""#, FrameFault::NotObject, None),
    ] {
        assert_eq!(parse(text).unwrap_err(), FrameError { fault, id: with }, "{text}");
    }
    assert_eq!(parse("{").unwrap_err().code(), code::PARSE_ERROR);
    assert_eq!(parse("[]").unwrap_err().code(), code::INVALID_REQUEST);
}

#[test]
fn huge_integers_are_ids_byte_for_byte() {
    let digits = "9".repeat(300);
    let frame = parse(&format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"x"}}"#)).unwrap();
    assert_eq!(frame.id().unwrap().json().as_ref(), digits.as_bytes());
    let long = "9".repeat(2000);
    let error = parse(&format!(r#"{{"jsonrpc":"2.0","id":{long},"method":"x"}}"#)).unwrap_err();
    assert_eq!(error.fault, FrameFault::Id(IdError::Long));
}

#[test]
fn batches_are_split_and_capped() {
    let limits = FrameLimits { batch: 2, ..FrameLimits::default() };
    let batch = |text: &str| Message::parse(Bytes::copy_from_slice(text.as_bytes()), limits);
    let Ok(Message::Batch(two)) = batch(r#" [{"jsonrpc":"2.0","id":1,"method":"x"}, 5] "#) else {
        panic!("no batch");
    };
    assert_eq!(two.messages[0].as_ref().unwrap().method(), "x");
    assert_eq!(two.messages[1].as_ref().unwrap_err().fault, FrameFault::NotObject);
    assert_eq!(batch("[]").unwrap_err().fault, FrameFault::BatchSize(2));
    assert_eq!(batch("[1,2,3]").unwrap_err().fault, FrameFault::BatchSize(2));
    assert_eq!(batch("[1").unwrap_err().code(), code::PARSE_ERROR);
}

#[test]
fn errors_are_readable_back() {
    let text = error_response(None, -32602, "no \"such\" tool", Some(b"{\"a\":1e2}"));
    assert_eq!(
        text.as_ref(),
        br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no \"such\" tool","data":{"a":1e2}}}"#
    );
    let frame = Frame::parse(text.clone(), FrameLimits::default()).unwrap();
    let error = RpcError::of_value(&text, frame.payload().unwrap()).unwrap();
    assert_eq!((error.code, error.data.unwrap().of(&text)), (-32602, b"{\"a\":1e2}".as_slice()));
}
