//! Properties of the codecs over arbitrary streams and chunkings. The properties themselves are in the fuzz targets.

extern crate dragoman_proto as proto;

#[path = "../../../fuzz/src/wire/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
mod properties;

use properties::{Cut, headers, lines, sse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn cut() -> impl Strategy<Value = Cut> {
    (0_usize..64, vec(1_u8..40, 0..6)).prop_map(|(limit, sizes)| Cut { limit, sizes })
}

/// Bytes in which the separators that matter are frequent.
fn bytes_of(alphabet: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![4 => select(alphabet), 1 => any::<u8>()], 0..200)
}

fn event_stream() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: [&str; 24] = [
        "data",
        "data:",
        "data: ",
        "event:",
        "event: ",
        "id:",
        "id: 7",
        "retry:",
        "retry: 15",
        ":",
        ": x",
        "\u{feff}",
        "\n",
        "\n",
        "\r",
        "\r\n",
        "\r\n",
        "\n\n",
        "\r\r",
        " ",
        "{\"a\":1}",
        "\0",
        "0123456789",
        "é",
    ];
    vec(select(&PARTS[..]), 0..40).prop_map(|parts| parts.concat().into_bytes())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,4})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?",
        "-?[0-9.eE+]{0,6}",
    ]
}

/// The same number in another spelling: its point moved, zeros added.
fn respelled(number: i64, places: u32, zeros: usize) -> String {
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    let whole = Some(whole.trim_start_matches('0')).filter(|whole| !whole.is_empty()).unwrap_or("0");
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{whole}.{fraction}{}e+0{places}", "0".repeat(zeros + 1))
}

proptest! {
    #[test]
    fn lines_do_not_depend_on_chunks(stream in bytes_of(b"\n\n\r\r{a"), cut in cut()) {
        lines::check(&stream, &cut);
    }

    #[test]
    fn events_do_not_depend_on_chunks(stream in event_stream(), cut in cut()) {
        sse::check(&stream, &cut);
    }

    #[test]
    fn any_bytes_are_some_event_stream(stream in bytes_of(b"\n\r:dataid \xEF\xBB\xBF"), cut in cut()) {
        sse::check(&stream, &cut);
    }

    #[test]
    fn events_come_back(
        event in proptest::option::of("[a-z\r\n:]{0,6}"),
        id in proptest::option::of("[ 0-9\r\n\0é]{0,6}"),
        retry in any::<Option<u64>>(),
        data in bytes_of(b"\n\r:data{} "),
        cut in cut(),
    ) {
        sse::round_trip(event.as_deref(), id.as_deref(), retry, &data, &cut);
    }

    #[test]
    fn header_values_come_back(text in any::<String>(), odd in "[ -~\t]{0,12}", inner in "[A-Za-z=?]{0,8}") {
        headers::round_trip(&text);
        headers::round_trip(&odd);
        headers::round_trip(&format!("=?base64?{inner}?="));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..60), inner in "[A-Za-z0-9+/=]{0,9}") {
        headers::value(&bytes);
        headers::value(format!("=?base64?{inner}?=").as_bytes());
        headers::name(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn numbers_are_compared_by_value(one in number(), other in number()) {
        headers::numbers(&one, &other);
        headers::numbers(&one, &one);
        headers::json(one.as_bytes());
    }

    #[test]
    fn spellings_of_one_number_are_equal(number in any::<i64>(), places in 0_u32..30, zeros in 0_usize..4) {
        let other = respelled(number, places, zeros);
        let mirrors = proto::codec::headers::mirrors;
        prop_assert!(mirrors(&other, number.to_string().as_bytes()), "{} {}", number, other);
        let neighbour = number.wrapping_add(1).to_string();
        prop_assert!(!mirrors(&other, neighbour.as_bytes()), "{} {}", neighbour, other);
    }

    #[test]
    fn strings_are_compared_by_meaning(
        text in "[ab\"\\\\é]{0,4}",
        json in "\"([ab]|\\\\u00(61|62|e9)|\\\\\"|\\\\\\\\|é){0,4}\"",
    ) {
        headers::strings(&text, &json);
    }
}
