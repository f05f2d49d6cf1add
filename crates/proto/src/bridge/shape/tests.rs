//! What each era makes of another's data, case by case.

use bytes::Bytes;

use super::*;
use crate::era::{ERAS, V1, V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[test]
fn a_result_is_the_same_bytes_where_nothing_changes() {
    let own = Own { server_info: "{}" };
    let text = bytes(r#"{ "content" : [ {"type":"text","text":"a","x":1e2} ], "y":0.10 }"#);
    for era in ERAS {
        let same = result("tools/call", &text, era, era, &own).unwrap();
        assert_eq!(same.as_ptr(), text.as_ptr(), "{era}");
    }
    let same = result("tools/call", &text, &V2024_11_05, &V2025_11_25, &own).unwrap();
    assert_eq!(same.as_ptr(), text.as_ptr());
    assert_eq!(
        result("tools/call", &text, &V2025_06_18, &V2026_07_28, &Own { server_info: r#"{"name":"g"}"# })
            .unwrap(),
        bytes(
            r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"g"}}, "content" : [ {"type":"text","text":"a","x":1e2} ], "y":0.10 }"#
        )
    );
    assert_eq!(
        result("tools/call", &text, &V2026_07_28, &V1, &own).unwrap(),
        bytes(r#"{"toolResult":"a", "content" : [ {"type":"text","text":"a","x":1e2} ], "y":0.10 }"#)
    );
}
