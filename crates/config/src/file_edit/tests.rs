//! Tests of edits to files in every notation. Each edit parses its result, and is refused if
//! anything else has changed.

use serde_json::{Value, json};

use super::{add_server, add_to_profile, changed_lines, masked, remove_server};

fn time() -> Value {
    json!({"command": "uvx", "args": ["mcp-server-time", "--local-timezone=UTC"]})
}

fn added(text: &str) -> String {
    add_server(text, "time", &time()).unwrap_or_else(|fault| panic!("{fault:?} in {text}"))
}

/// Adds the server, compares the result, and checks that it can be removed and added again.
fn case(before: &str, after: &str) {
    let edited = added(before);
    assert!(edited == after, "from:\n{before}\nto:\n{edited}\nnot:\n{after}");
    let removed = remove_server(&edited, "time").unwrap_or_else(|fault| panic!("{fault:?} in {edited}"));
    let again = added(&removed.text);
    assert_eq!(remove_server(&again, "time").unwrap().text, removed.text, "{again}");
}

#[test]
fn a_server_is_added_to_yaml() {
    let entry = "command: uvx\n    args: [mcp-server-time, --local-timezone=UTC]\n";
    let flow = "time: { command: uvx, args: [mcp-server-time, --local-timezone=UTC] }";
    case(
        "# top\nmcpServers: # ours\n  a: { url: 'http://h/' } # first\n  # b: { command: x }\n\nlisten: 9000 # port\n",
        &format!(
            "# top\nmcpServers: # ours\n  a: {{ url: 'http://h/' }} # first\n  # b: {{ command: x }}\n  \
             time:\n    {entry}\nlisten: 9000 # port\n"
        ),
    );
    let deep = "mcpServers:\n    a:\n        command: x\n        env:\n            A: |\n              text\n              more\n";
    let wide = entry.replace("\n    ", "\n      ");
    case(&format!("{deep}\n# end"), &format!("{deep}    time:\n      {wide}\n# end"));
    case(
        "mcpServers:\n  a: { command: x }",
        &format!("mcpServers:\n  a: {{ command: x }}\n  time:\n    {entry}"),
    );
    case("mcpServers:\nlisten: 1\n", &format!("mcpServers:\n  time:\n    {entry}listen: 1\n"));
    case("mcpServers: {} # none yet\n", &format!("mcpServers: {{ {flow} }} # none yet\n"));
    case("mcpServers: { a: { command: x } }\n", &format!("mcpServers: {{ a: {{ command: x }}, {flow} }}\n"));
    case("listen: 9000\n", &format!("listen: 9000\n\nmcpServers:\n  time:\n    {entry}"));
    case("", &format!("mcpServers:\n  time:\n    {entry}"));
    case("# my servers\n", &format!("# my servers\n\nmcpServers:\n  time:\n    {entry}"));
    case(
        "mcpServers:\r\n  a: { command: x }\r\n",
        &format!("mcpServers:\r\n  a: {{ command: x }}\r\n  time:\r\n    {}", entry.replace('\n', "\r\n")),
    );
}

#[test]
fn a_server_is_added_to_json() {
    let entry = |indent: usize, step: usize| {
        let (pad, deep) = (" ".repeat(indent), " ".repeat(indent + step));
        let args = "[\"mcp-server-time\", \"--local-timezone=UTC\"]";
        format!("\"time\": {{\n{deep}\"command\": \"uvx\",\n{deep}\"args\": {args}\n{pad}}}")
    };
    case(
        "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}",
        &format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\"}}, {}}}}}", entry(0, 2)),
    );
    case(
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" } // first\n  }\n}\n",
        &format!(
            "{{\n  \"mcpServers\": {{\n    \"a\": {{ \"command\": \"x\" }}, // first\n    {}\n  }}\n}}\n",
            entry(4, 2)
        ),
    );
    case(
        "{\n    // all of them\n    \"servers\": {\n        \"a\": { \"command\": \"x\" }, /* c */\n    },\n    \"inputs\": []\n}\n",
        &format!(
            "{{\n    // all of them\n    \"servers\": {{\n        \"a\": {{ \"command\": \"x\" }}, /* c */\n        {},\n    }},\n    \"inputs\": []\n}}\n",
            entry(8, 4)
        ),
    );
    case(
        "{\n  \"mcpServers\": {}\n}\n",
        &format!("{{\n  \"mcpServers\": {{\n    {}\n  }}\n}}\n", entry(4, 2)),
    );
    added("{}");
    let tabbed = "\t\t\"time\": {\n\t\t\t\"command\": \"uvx\",\n\t\t\t\"args\": [\"mcp-server-time\", \"--local-timezone=UTC\"]\n\t\t}";
    case(
        "{\n\t\"servers\": {\n\t\t\"a\": { \"command\": \"x\" }, // one\n\t}\n}\n",
        &format!("{{\n\t\"servers\": {{\n\t\t\"a\": {{ \"command\": \"x\" }}, // one\n{tabbed},\n\t}}\n}}\n"),
    );
    case("{\n\t\"servers\": {}\n}\n", &format!("{{\n\t\"servers\": {{\n{tabbed}\n\t}}\n}}\n"));
}

#[test]
fn what_was_added_and_removed_again_leaves_no_trace() {
    for text in [
        "mcpServers:\n  a: { command: x } # one\n  # two\n",
        "mcpServers: { a: { command: x } }\n",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }, // first\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" } // first\n  }\n}\n",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}",
    ] {
        assert_eq!(remove_server(&added(text), "time").unwrap().text, text);
    }
}

#[test]
fn a_server_is_removed_with_its_own_comments_alone() {
    let text = "mcpServers:\n  # about a\n  a:\n    command: x # why\n    # more about a\n  # about b\n  b: { command: y }\n# end\n";
    let without_a = "mcpServers:\n  # about a\n  # about b\n  b: { command: y }\n# end\n";
    assert_eq!(remove_server(text, "a").unwrap().text, without_a);
    let without_b =
        "mcpServers:\n  # about a\n  a:\n    command: x # why\n    # more about a\n  # about b\n# end\n";
    assert_eq!(remove_server(text, "b").unwrap().text, without_b);
    let last = remove_server(without_a, "b").unwrap().text;
    assert_eq!(last, "mcpServers: {}\n  # about a\n  # about b\n# end\n");
    let json = "{\n  \"mcpServers\": {\n    // about a\n    \"a\": { \"command\": \"x\" }, // one\n    // about b\n    \"b\": { \"command\": \"y\" } // two\n  }\n}\n";
    assert_eq!(
        remove_server(json, "b").unwrap().text,
        "{\n  \"mcpServers\": {\n    // about a\n    \"a\": { \"command\": \"x\" } // one\n    // about b\n  }\n}\n"
    );
    assert_eq!(
        remove_server(json, "a").unwrap().text,
        "{\n  \"mcpServers\": {\n    // about a\n    // about b\n    \"b\": { \"command\": \"y\" } // two\n  }\n}\n"
    );
    let flow = "mcpServers: { a: { command: x }, b: { command: y }, c: { command: z } }\n";
    assert_eq!(
        remove_server(flow, "a").unwrap().text,
        "mcpServers: { b: { command: y }, c: { command: z } }\n"
    );
    assert_eq!(
        remove_server(flow, "c").unwrap().text,
        "mcpServers: { a: { command: x }, b: { command: y } }\n"
    );
}

#[test]
fn comments_of_other_servers_stay() {
    let entry = |name: &str| format!("\"{name}\": {{ \"command\": \"x\" }}");
    let (a, b, c) = (entry("a"), entry("b"), entry("c"));
    for (before, name, after) in [
        // Indented by tabs.
        (
            format!(
                "{{\n\t\"servers\": {{\n\t\t// about a\n\t\t{a}, // one\n\t\t// about b\n\t\t{b} // two\n\t}}\n}}\n"
            ),
            "a",
            format!("{{\n\t\"servers\": {{\n\t\t// about a\n\t\t// about b\n\t\t{b} // two\n\t}}\n}}\n"),
        ),
        (
            format!("{{\n\t\"servers\": {{\n\t\t{a}, // one\n\t\t// about b\n\t\t{b}\n\t}}\n}}\n"),
            "b",
            format!("{{\n\t\"servers\": {{\n\t\t{a} // one\n\t\t// about b\n\t}}\n}}\n"),
        ),
        // The container ends in the line of the element.
        (
            format!("{{ \"servers\": {{\n  {a}, // one\n  /* about b */ {b} }} }}\n"),
            "b",
            format!("{{ \"servers\": {{\n  {a} // one\n  /* about b */ }} }}\n"),
        ),
        (
            format!("{{ \"servers\": {{\n  {a}, // one\n  {b} }} }}\n"),
            "b",
            format!("{{ \"servers\": {{\n  {a} // one\n  }} }}\n"),
        ),
        // The container begins in the line of the element.
        (
            format!("{{ \"servers\": {{ {a}, // one\n  // about b\n  {b}, {c} }} }}\n"),
            "a",
            format!("{{ \"servers\": {{ // one\n  // about b\n  {b}, {c} }} }}\n"),
        ),
        (
            format!("{{ \"servers\": {{ {a}, /* about b */ {b}, {c} }} }}\n"),
            "a",
            format!("{{ \"servers\": {{ /* about b */ {b}, {c} }} }}\n"),
        ),
        (
            format!("{{ \"servers\": {{ {a}, /* about b */ {b} /* and c */, {c} }} }}\n"),
            "b",
            format!("{{ \"servers\": {{ {a}, /* about b */  /* and c */ {c} }} }}\n"),
        ),
        // A comment that begins in the line of one element and ends in that of the next.
        (
            format!("{{ \"servers\": {{\n  {a}, /* about\n  b */ {b}\n}} }}\n"),
            "a",
            format!("{{ \"servers\": {{\n  /* about\n  b */ {b}\n}} }}\n"),
        ),
        (
            "mcpServers: { a: { command: x }, # one\n  b: { command: y } } # all\n".to_owned(),
            "b",
            "mcpServers: { a: { command: x } # one\n  } # all\n".to_owned(),
        ),
    ] {
        assert_eq!(remove_server(&before, name).unwrap().text, after, "{before}");
    }
}

#[test]
fn a_comment_beside_the_only_server_stays() {
    let only = "{ \"servers\": { /* mine */ \"a\": { \"command\": \"x\" } } }\n";
    assert_eq!(remove_server(only, "a").unwrap().text, "{ \"servers\": { /* mine */ } }\n");
}

#[test]
fn profiles_lose_the_server_and_may_gain_one() {
    let text = "mcpServers: { a: { command: x }, b: { command: y } }\nprofiles:\n  default: { servers: [a, b] } # both\n  one:\n    servers:\n      - a # only\n      - b\n  two: { servers: [b] }\n";
    let removed = remove_server(text, "a").unwrap();
    assert_eq!(removed.profiles, ["default", "one"]);
    let want = "mcpServers: { b: { command: y } }\nprofiles:\n  default: { servers: [b] } # both\n  one:\n    servers:\n      - b\n  two: { servers: [b] }\n";
    assert_eq!(removed.text, want);
    let wider = add_to_profile(want, "default", "c").unwrap();
    assert!(wider.contains("default: { servers: [b, c] } # both"), "{wider}");
    let wider = add_to_profile(want, "one", "c").unwrap();
    assert!(wider.contains("      - b\n      - c\n  two:"), "{wider}");
    assert!(add_to_profile(want, "three", "c").unwrap_err().message.contains("no profile \"three\""));
}

#[test]
fn values_are_read_back_as_they_were_meant() {
    let entry = json!({
        "command": "/opt/my server/run",
        "args": ["-y", "-1", "--", "true", "1.5", "", "a,b", "a: b", "#x", "${HOME}/x", "*", "it's", "\"q\"", "null", "- x", "ü", "a\nb", "~"],
        "env": {"TOKEN": "${TOKEN}", "1": "yes", "A B": "x #y", "E": ""},
        "timeout": 5,
        "disabled": false,
    });
    for text in [
        "",
        "mcpServers: { a: { command: x } }",
        "mcpServers:\n  a: { command: x }\n",
        "{\"mcpServers\": {}}",
    ] {
        add_server(text, "a.b", &entry).unwrap_or_else(|fault| panic!("{fault:?} in {text}"));
    }
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let message = |text: &str| add_server(text, "time", &time()).unwrap_err().message;
    assert_eq!(message("mcpServers: { time: { command: x } }"), "the file already has a server \"time\"");
    assert!(message("mcpServers: [").contains("not valid YAML or JSON"));
    assert_eq!(message("[1]"), "the file is not a mapping with `mcpServers`");
    let by_hand = "the file is written in a form that cannot be edited safely";
    assert_eq!(message("x-all: &all { a: { command: x } }\nmcpServers: *all\n"), by_hand);
    assert_eq!(message("mcpServers: 5\n"), by_hand);
    let fault = remove_server("mcpServers: { files: { command: x } }", "file").unwrap_err();
    assert_eq!(
        (&*fault.message, &*fault.help),
        ("the file has no server \"file\"", "did you mean \"files\"?")
    );
    assert_eq!(remove_server("", "a").unwrap_err().help, "the file has no servers");
}

#[test]
fn changed_lines_show_no_secret() {
    let old = "mcpServers:\n  a: { command: x }\n";
    let new =
        add_server(old, "b", &json!({"command": "run", "env": {"TOKEN": "s3cret", "OTHER": "${OTHER}"}}))
            .unwrap();
    let lines = changed_lines(old, &new);
    let shown: Vec<String> = lines.iter().map(|line| format!("{} {}", line.number, line.text)).collect();
    assert_eq!(
        shown,
        ["3   b:", "4     command: run", "5     env:", "6       TOKEN: ***", "7       OTHER: ${OTHER}"]
    );
    assert!(lines.iter().all(|line| line.is_added));
    assert_eq!(masked("token: [broken s3cret\n"), "token:***\n");
    let back = changed_lines(&new, old);
    assert!(back.len() == 5 && back.iter().all(|line| !line.is_added));
}

#[test]
fn random_files_keep_everything_else() {
    let parts = ["a", "b", "c"];
    let value = [
        "{ command: x }",
        "\n    command: x\n    args:\n      - one # c\n      - two",
        " # none\n    url: 'http://h/'",
    ];
    for first in value {
        for second in value {
            for comment in ["", "  # note\n", "\n", "# far\n", "    # deep\n"] {
                let text = format!(
                    "listen: 1\nmcpServers:\n  a: {first}\n{comment}  b: {second}\n{comment}x-c: 1\n"
                );
                let edited = added(&text);
                let kept = text.lines().all(|line| edited.lines().any(|other| other == line));
                assert!(kept, "{text}\n{edited}");
                let removed = remove_server(&edited, "time").unwrap().text;
                assert_eq!(removed, text);
                for name in &parts[..2] {
                    let removed = remove_server(&text, name).unwrap().text;
                    assert!(removed.contains("x-c: 1") && removed.contains("listen: 1"));
                }
            }
        }
    }
}
