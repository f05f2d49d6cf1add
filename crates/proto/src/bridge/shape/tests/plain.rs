//! Checks the shortcut for results whose bytes alone show that nothing changes: it gives the same result as the full
//! translation.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::bridge::shape::{GatewayIdentity, ResultChanges, result};
use crate::era::{ERAS, Era};
use crate::json::{Span, Splice};

const OWN: GatewayIdentity<'_> = GatewayIdentity { server_info: "{\"name\":\"d\",\"version\":\"1\"}" };

/// Members as servers write them, members that some versions lack, and escapes that hide the name of a member.
const MEMBERS: &[&str] = &[
    r#""content":[]"#,
    r#""content":[{"type":"text","text":"a"}]"#,
    r#""content":[{"type":"text","text":"a\n\"content\" \u0041"}]"#,
    r#""content":[{"type":"resource_link","uri":"a:b","name":"b"},{"type":"audio","data":"AA==","mimeType":"m"}]"#,
    r#""content":[{"type":"text","text":"toolResult"}]"#,
    r#""content":7"#,
    r#""c\u006fntent":[{"type":"text","text":"b"}]"#,
    r#""toolResult":"x""#,
    r#""tool\u0052esult":"x""#,
    r#""structuredContent":{"a":1}"#,
    r#""structuredContent":[1]"#,
    r#""structured\u0043ontent":[1]"#,
    r#""isError":false"#,
    r#""_meta":{"a":1}"#,
    r#""other":{"content":[]}"#,
];

fn eras() -> impl Strategy<Value = &'static Era> {
    select(&ERAS[..])
}

proptest! {
    // Only a few pairs of versions use the shortcut, so many cases are needed.
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_result_that_looks_plain_is(
        first in select(&MEMBERS[..4]),
        more in vec(select(MEMBERS), 0..4),
        from in eras(),
        to in eras(),
    ) {
        let text = format!("{{{}}}", [&[first][..], &more].concat().join(","));
        let text = Bytes::from(text);
        let changes = ResultChanges::of("tools/call", (&text, Span::new(0, text.len())), from, to, &OWN);
        let expected = result("tools/call", &text, from, to, &OWN);
        prop_assert_eq!(changes.is_err(), expected.is_err());
        if let (Ok(changes), Ok(expected)) = (changes, expected)
            && from != to
        {
            let mut splice = Splice::new(&text);
            changes.apply(&mut splice);
            prop_assert_eq!(splice.finish(), expected);
        }
    }
}
