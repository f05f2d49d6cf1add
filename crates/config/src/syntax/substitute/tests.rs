use super::*;

fn lookup_and_fill(text: &str, secret: bool) -> Result<Text, Vec<Gap>> {
    let env = |name: &str| match name {
        "TOKEN" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        "TRICKY" => Some("${TOKEN} \", injected: {a: b}\n- x".to_owned()),
        "LONG" => Some("x".repeat(MAX_FILLED_BYTES)),
        _ => None,
    };
    let file = |path: &str| match path {
        "/run/token" => Ok("from file\r\n".to_owned()),
        "two" => Ok("a\n\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    fill(text, &Lookup { env: &env, file: &file }, secret)
}

#[test]
fn values_are_filled_in_and_never_shown() {
    let cases = [
        ("", "", ""),
        ("plain $ text $5", "plain $ text $5", "plain $ text $5"),
        ("${TOKEN}", "s3cret", "${TOKEN}"),
        ("Bearer ${TOKEN}!", "Bearer s3cret!", "Bearer ${TOKEN}!"),
        ("${env:TOKEN}", "s3cret", "${env:TOKEN}"),
        ("${EMPTY}", "", "${EMPTY}"),
        ("${EMPTY:-d}", "d", "${EMPTY:-…}"),
        ("${NONE:-a:-b $}", "a:-b $", "${NONE:-…}"),
        ("${NONE:-}", "", "${NONE:-…}"),
        ("${TOKEN:-d}", "s3cret", "${TOKEN:-…}"),
        ("${file:/run/token}", "from file", "${file:/run/token}"),
        ("${file:two}", "a\n", "${file:two}"),
        ("$${TOKEN}", "${TOKEN}", "$${TOKEN}"),
        ("a$${b}", "a${b}", "a$${b}"),
        ("$$${TOKEN}", "$${TOKEN}", "$$${TOKEN}"),
        ("${TRICKY}", "${TOKEN} \", injected: {a: b}\n- x", "${TRICKY}"),
        ("${TOKEN}${TOKEN}", "s3crets3cret", "${TOKEN}${TOKEN}"),
        ("é${TOKEN}é", "és3creté", "é${TOKEN}é"),
    ];
    for (written, value, shown) in cases {
        let text = lookup_and_fill(written, false).unwrap();
        assert_eq!((text.expose(), text.shown()), (value, shown), "{written}");
    }
    let text = lookup_and_fill("Bearer ${TOKEN}", true).unwrap();
    assert_eq!(format!("{text:?} {text}"), "\"***${TOKEN}\" ***${TOKEN}");
}

#[test]
fn every_gap_is_reported() {
    let gaps = lookup_and_fill(
        "${NONE} ${} ${1x} ${file:} ${file:gone} ${a ${TOKEN} ${input:api-key} ${open",
        false,
    );
    let messages: Vec<String> = gaps.unwrap_err().into_iter().map(|gap| gap.message).collect();
    assert_eq!(
        messages,
        [
            "the environment variable `NONE` is not set",
            "`${}` is not a valid reference",
            "`${1x}` is not a valid reference",
            "`${file:}` does not name a file",
            "the file `gone` cannot be read: no such file",
            "`${a ${TOKEN}` is not a valid reference",
            "`${input:api-key}` is not a valid reference",
            "`${` has no `}`",
        ]
    );
}

#[test]
fn a_text_cannot_grow_without_end() {
    let gaps = lookup_and_fill("${LONG}${LONG}${LONG}", false).unwrap_err();
    assert_eq!(gaps[0].message, "the text is larger than 1 MiB after substitution");
}

#[test]
fn literal_parts_are_found() {
    let raw = "\"Bearer ${TOKEN:-hush} $${x}\"";
    let literal: Vec<&str> = literal_ranges(raw).into_iter().map(|range| &raw[range]).collect();
    assert_eq!(literal, ["\"Bearer ", "hush", " ", "x}\""]);
}

#[test]
fn what_was_filled_in_is_known_by_itself() {
    let filled = |text: &str| {
        let text = lookup_and_fill(text, false).unwrap();
        assert!(!format!("{text:?}{text}").contains("s3cret"));
        text.filled().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(filled("--token=${TOKEN}"), ["s3cret"]);
    assert_eq!(filled("a${TOKEN}b${file:/run/token}c"), ["s3cret", "from file"]);
    // Short pieces would match everywhere.
    assert_eq!(filled("plain ${EMPTY} ${NONE:-abc}"), [""; 0]);
}

#[test]
fn a_bare_variable_of_a_server_is_a_gap_and_can_be_written_as_text() {
    let env = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    let file = |_: &str| Err("none".to_owned());
    let filled = |text: &str, secret| fill_server(text, &Lookup { env: &env, file: &file }, secret);
    for (written, value) in [
        ("$5 $1 $$ $lower $Mixed $_X $", "$5 $1 $$ $lower $Mixed $_X $"),
        ("$A a$Ab", "$A a$Ab"),
        ("$$DB", "$DB"),
        ("$$$DB", "$$DB"),
        ("a$$DB_1-${TOKEN}$$X_Y", "a$DB_1-s3cret$X_Y"),
        ("$${DB}", "${DB}"),
        ("${NONE:-$DB}", "$DB"),
    ] {
        let text = filled(written, false).unwrap();
        assert_eq!(text.expose(), value, "{written}");
        assert!(!format!("{text}").contains("s3cret") && filled(written, true).unwrap().expose() == value);
    }
    for (written, secret, said) in [
        (
            "$DB",
            true,
            "`$DB` is not substituted here; write ${DB} for the variable, or $$DB for the characters `$DB` themselves",
        ),
        ("Bearer $API_KEY", true, "`$API_KEY` is not"),
        ("--home=$HOME/x", false, "`$HOME` is not"),
        ("pa$WORD", false, "`$WORD` is not"),
        ("pa$WORD", true, "`$NAME` is not"),
    ] {
        let gap = filled(written, secret).unwrap_err().remove(0);
        let all = format!("{}; {}", gap.message, gap.help);
        assert!(all.starts_with(said) && !gap.unset, "{written}: {all}");
    }
}
