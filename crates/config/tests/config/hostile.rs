//! Hostile or huge files: rejected quickly, with a reason, and never with a panic.

use std::fmt::Write as _;

use dragoman_config::{MAX_FILE_BYTES, MAX_REPORTED};
use proptest::prelude::*;

use crate::{loaded, rendered, try_load};

const TOO_MANY: &str = "the file has too many values, counting those that aliases repeat";

#[test]
fn aliases_cannot_multiply_without_end() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        let _ = writeln!(bomb, "a{level}: &a{level} [{}]", [below.as_str(); 10].join(", "));
    }
    assert!(rendered(&bomb).contains(TOO_MANY));
}

#[test]
fn long_texts_and_merges_count_as_often_as_they_are_repeated() {
    let texts = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(1000));
    assert!(rendered(&texts).contains(TOO_MANY));
    let keys: Vec<String> = (0..5000).map(|key| format!("k{key}: 1")).collect();
    let merges = format!("a: &a {{ {} }}\nb:\n{}", keys.join(", "), "  - { <<: *a }\n".repeat(5000));
    assert!(rendered(&merges).contains(TOO_MANY));
    let same_merge = format!("a: &a {{ {} }}\nb: {{ <<: [{}] }}\n", keys.join(", "), "*a,".repeat(5000));
    assert!(rendered(&same_merge).contains(TOO_MANY));
}

#[test]
fn nesting_is_bounded() {
    for text in [
        "[".repeat(1 << 20),
        "{a: ".repeat(1 << 18),
        "- ".repeat(1 << 19),
        (0..500).fold(String::new(), |text, level| text + &" ".repeat(level) + "a:\n"),
    ] {
        let shown = rendered(&text);
        assert!(shown.contains("more than 64 levels of nesting"), "{shown}");
        assert!(shown.len() < 1000, "{shown}");
    }
}

#[test]
fn a_huge_file_is_refused_unread() {
    let text = "#".repeat(MAX_FILE_BYTES + 1);
    assert!(rendered(&text).contains("the file is larger than 4 MiB"));
    assert!(try_load(&text[1..]).is_ok());
}

#[test]
fn a_file_full_of_faults_is_reported_in_part() {
    let faults: String = (0..30_000).fold(String::new(), |mut text, index| {
        let _ = writeln!(text, "key{index}: 1");
        text
    });
    let refused = try_load(&faults).expect_err("unknown keys");
    assert_eq!((refused.faults.len(), refused.total), (MAX_REPORTED, 30_000));
    assert!(refused.to_string().ends_with("30000 errors in dragoman.yaml, 29900 of them not shown"));
}

#[test]
fn many_servers_and_profiles_are_no_trouble() {
    let mut text = String::from("mcpServers:\n");
    for index in 0..20_000 {
        let _ = writeln!(text, "  s{index}: {{ native: demo }}");
    }
    text.push_str("profiles:\n  one:\n    servers:\n");
    for index in 0..20_000 {
        let _ = writeln!(text, "      - s{index}");
    }
    let config = loaded(&text).config;
    assert_eq!((config.mcp_servers.len(), config.profiles["one"].servers.len()), (20_000, 20_000));
}

#[test]
fn odd_texts_are_refused_or_taken_but_never_panic() {
    for text in [
        "\0",
        "\u{feff}\u{feff}",
        "&",
        "*",
        "!",
        "%",
        "%YAML 9.9\n---\na",
        "? ",
        ": ",
        "- ",
        "\"",
        "'",
        "|",
        ">\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        "#",
        "---",
        "...",
        "--- ---",
        "&a &b c",
        "<<: <<",
        "? ? ?",
        "!!str",
        "!<tag:x> y",
        "\u{85}",
        "\r",
        "a: \"\\ud800\"",
        "a: \"\\x\"",
        "a: |9\n x",
        "\t\t{",
        "{a",
        "{\"a\" b}",
        "/*",
        "{ //",
        "{ \"a\": 1 /* ",
        "{ \"\\",
        "mcpServers: {? : }",
        "mcpServers: &a { a: *a }",
        "mcpServers: { a: { url: \"\u{202e}x\" } }",
        "é: [",
        "a: 'é",
    ] {
        if let Err(faults) = try_load(text) {
            assert!(faults.total > 0, "{text:?}");
            assert!(!faults.to_string().contains('\u{202e}'), "{text:?}");
        }
    }
}

/// Pieces that are likely to combine in surprising ways.
const WORDS: &[&str] = &[
    "mcpServers",
    "profiles",
    "endpoints",
    "limits",
    "listen",
    "default",
    "servers",
    "tools",
    "rename",
    "allow",
    "url",
    "command",
    "headers",
    "env",
    "args",
    "type",
    "native",
    "demo",
    "<<",
    "&a",
    "*a",
    "!!str",
    "!x",
    "null",
    "7",
    "30s",
    "https://u:p@h:1/?q",
    "${SECRET}",
    "${NONE:-é}",
    "$${",
    "${",
    "}",
    ": ",
    ":",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "? ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "\"",
    "'",
    "|\n",
    "#",
    " ",
    "\t",
    "é",
    "日",
    "\u{1f600}",
    "\u{feff}",
    "\\",
    "\r\n",
    "\u{85}",
    "//",
    "/*",
    "*/",
    "---\n",
    "...\n",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::sample::select(WORDS).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn loading_never_panics(pieces in proptest::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        if let Err(faults) = try_load(&text) {
            prop_assert!(!faults.faults.is_empty());
            let shown = faults.to_string();
            prop_assert!(!shown.contains("hush"), "{}", shown);
            let lines = text.split('\n').count();
            prop_assert!(faults.faults.iter().all(|fault| fault.line >= 1 && fault.line <= lines && fault.column >= 1));
            prop_assert!(faults.faults.is_sorted_by_key(|fault| (fault.line, fault.column)));
        }
    }
}
