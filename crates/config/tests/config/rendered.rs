//! Faults as people see them, and unreadable files.

use crate::rendered;

const CASES: &[(&str, &str)] = &[
    (
        r"mcpServers:
  files: { comand: npx }
",
        r"error: unknown key `comand`
 --> dragoman.yaml:2:12 (mcpServers.files.comand)
  |
2 |   files: { comand: npx }
  |            ^^^^^^
  = help: did you mean `command`?

1 error in dragoman.yaml",
    ),
    (
        r"# one
# one
# one
# one
# one
# one
# one
# one
# one
# one
# one
mcpServers:
  docs: { url: 'https://h/', headers: { Authorization: 'Bearer hush ${NONE:-hush}', X-Key: hush, X: 'a ${NONE}' } }
",
        r"error: the environment variable `NONE` is not set
  --> dragoman.yaml:13:104 (mcpServers.docs.headers.X)
   |
13 | … **** ${NONE:-****}', X-Key: ****, X: '* ${NONE}' } }
   |                                           ^^^^^^^
   = help: set NONE before Dragoman starts, or give a value: ${NONE:-value}

1 error in dragoman.yaml",
    ),
    (
        r"mcpServers:
  docs: { url: 'https://h/', headers: { X-0: hush, X-1: hush, X-2: hush, X-3: hush, X-4: hush, X-5: hush, X-6: hush, X-7: hush, X-8: hush, X-9: hush, X-10: hush, X-11: hush, X-12: hush, X-13: hush, X-14: hush, X-15: hush, X-16: hush, X-17: hush, X-18: hush, X-19: hush }, tyype: http, description: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx }
",
        r"error: unknown key `tyype`
 --> dragoman.yaml:2:273 (mcpServers.docs.tyype)
  |
2 | … , X-17: ****, X-18: ****, X-19: **** }, tyype: http, description: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx …
  |                                           ^^^^^
  = help: did you mean `type`?

1 error in dragoman.yaml",
    ),
    (
        "mcpServers:\n\tdocs: {}\n",
        r"error: this is not valid YAML or JSON: tabs disallowed within this context (block indentation)
 --> dragoman.yaml:2:2
  |
2 |  docs: {}
  |  ^
  = help: indent with spaces; YAML does not allow tabs there

1 error in dragoman.yaml",
    ),
    (
        r"mcpServers:
  docs: { url: ${URL} }
",
        r#"error: this is not valid YAML or JSON: while parsing a flow mapping, did not find expected ',' or '}'
 --> dragoman.yaml:2:17
  |
2 |   docs: { url: ${URL} }
  |                 ^
  = help: put quotes around a value with `${…}`: "${NAME}"

1 error in dragoman.yaml"#,
    ),
    (
        r"mcpServers:
  docs: { url: 'https://h/', headers: { Authorization: 'Bearer hush } }
",
        r"error: this is not valid YAML or JSON: unclosed quote
 --> dragoman.yaml:2:56
  |
2 |   docs: { url: 'https://h/', headers: * ************** ******* **** * *
  |                                                        ^
  = help: a `'` is missing on this line, or the text contains one: write it twice there

1 error in dragoman.yaml",
    ),
    (
        r"mcpServers:
  docs:
    headers:
      X-Anything: hush
    url: a: b
",
        r"error: this is not valid YAML or JSON: mapping values are not allowed in this context
 --> dragoman.yaml:5:11
  |
5 |     url: a: b
  |           ^
  = help: look for a missing quote, comma, bracket or colon, or for a line that is indented wrongly, here or just above

1 error in dragoman.yaml",
    ),
    (
        r"listen: @here
",
        r"error: this is not valid YAML or JSON: unexpected character: `@'
 --> dragoman.yaml:1:9
  |
1 | listen: @here
  |         ^
  = help: put quotes around a value that starts with `@`, `%` or a backtick

1 error in dragoman.yaml",
    ),
    (
        r"args: [-y, *x]
",
        r#"error: there is no anchor `&x` above this alias
 --> dragoman.yaml:1:12
  |
1 | args: [-y, *x]
  |            ^^
  = help: write `&x` before the value that you mean, or quote the text: "*x"

1 error in dragoman.yaml"#,
    ),
    (
        r"listen: 1
--- 
listen: 2
",
        r"error: the file contains more than one document
 --> dragoman.yaml:2:1
  |
2 | ---
  | ^^^
  = help: keep one document: remove the `---` before the second one, and everything after it

1 error in dragoman.yaml",
    ),
    (
        r"listen: !include x
",
        r"error: the tag `!include` is not supported
 --> dragoman.yaml:1:18
  |
1 | listen: !include x
  |                  ^
  = help: remove the tag; quote a string that starts with `!`

1 error in dragoman.yaml",
    ),
    (
        r"? [a, b]
: c
",
        r#"error: a key must be a plain name
 --> dragoman.yaml:1:3
  |
1 | ? [a, b]
  |   ^^^^^^
  = help: write a plain name before the `:`; quote a value that starts with `{` or `[`, such as "${NAME}"

1 error in dragoman.yaml"#,
    ),
    (
        r": c
",
        r"error: a key is missing before the `:`
 --> dragoman.yaml:1:1
  |
1 | : c
  | ^
  = help: write the key, or remove the line

1 error in dragoman.yaml",
    ),
    (
        r#"{"mcpServers": {"a": {"command": "x"}
"#,
        r#"error: this is not valid YAML or JSON: unclosed bracket '{'
 --> dragoman.yaml:1:16
  |
1 | {"mcpServers": {"a": {"command": "x"}
  |                ^
  = help: add the bracket that closes this one

1 error in dragoman.yaml"#,
    ),
    (
        r#"{"mcpServers": {
"#,
        r#"error: this is not valid YAML or JSON: unclosed bracket '{'
 --> dragoman.yaml:1:16
  |
1 | {"mcpServers": {
  |                ^
  = help: add the bracket that closes this one

1 error in dragoman.yaml"#,
    ),
    (
        r"a: &a [*a]
",
        r"error: this alias is inside the value that it refers to
 --> dragoman.yaml:1:8
  |
1 | a: &a [*a]
  |        ^^
  = help: write the value out

1 error in dragoman.yaml",
    ),
    (
        r"a: { <<: 7 }
",
        r"error: `<<` takes a mapping, or a list of mappings
 --> dragoman.yaml:1:6
  |
1 | a: { <<: 7 }
  |      ^^
  = help: write `<<: *name`, with `&name` before a mapping

1 error in dragoman.yaml",
    ),
    (
        r"é: 'ü' x
",
        r"error: this is not valid YAML or JSON: invalid trailing content after single-quoted scalar
 --> dragoman.yaml:1:8
  |
1 | é: 'ü' x
  |        ^
  = help: look for a missing quote, comma, bracket or colon, or for a line that is indented wrongly, here or just above

1 error in dragoman.yaml",
    ),
    (
        r"mcpServers:
  日本: { native: demo }
",
        r"error: a server name can contain only `A-Z a-z 0-9 _ . -`
 --> dragoman.yaml:2:3 (mcpServers.日本)
  |
2 |   日本: { native: demo }
  |   ^^
  = help: write a name such as `files`

1 error in dragoman.yaml",
    ),
];

#[test]
fn faults_are_shown_with_their_lines() {
    for (text, wanted) in CASES {
        assert_eq!(rendered(text), *wanted, "{text}");
    }
}
