//! Faults in dialects, and in the endpoints that use them.

use crate::{faults_in_short, same};

const DIALECTS: &[(&str, &[&str])] = &[
    (
        r"mcpServers: {}
dialects: { gateway: { base: standard }, 'a b': { base: standard }, mine: {}, yours: { base: gatewy }, theirs: x }
dialect: kulturav
",
        &[
            r"2:13 dialects.gateway [gateway] `gateway` is a built-in dialect => choose another name, and use the built-in dialect as the `base`",
            r"2:42 dialects.a b ['a b'] this name must have 1 to 64 characters from `A-Z a-z 0-9 - _` => correct it",
            r"2:69 dialects.mine [mine] this dialect has no `base` => add it: base: standard",
            r"2:94 dialects.yours.base [gatewy] there is no dialect `gatewy` => did you mean `gateway`?",
            r"2:112 dialects.theirs [x] expected a mapping with `base` and the differences from it, found `x` => write a mapping with `base` and the differences from it",
            r"3:10 dialect [kulturav] there is no dialect `kulturav` => did you mean `kulturarv`?",
        ],
    ),
    (
        r"mcpServers: {}
profiles: { default: { dialect: stndard } }
endpoints: [ { path: /a, dialect: bdyboss }, { path: /b, transport: stdio, auth: off, message: /c }, { path: /d, transport: sse, message: /admin }, { path: /health, dialect: bb }, { path: /.well-known/x, dialect: bb } ]
",
        &[
            r"2:33 profiles.default.dialect [stndard] there is no dialect `stndard` => did you mean `standard`?",
            r"3:35 endpoints[0].dialect [bdyboss] there is no dialect `bdyboss` => did you mean `buddyboss`?",
            r"3:69 endpoints[1].transport [stdio] `stdio` is not one of `http`, `sse` or `both` => write `http`, `sse` or `both`",
            r"3:82 endpoints[1].auth [off] `off` is not one of `inherit` or `none` => write `inherit` or `none`",
            r"3:87 endpoints[1].message [message] `message` applies only to event streams => remove it, or write transport: sse",
            r"3:139 endpoints[2].message [/admin] Dragoman already serves something at this path => write an absolute path such as /tools/mcp",
            r"3:157 endpoints[3].path [/health] Dragoman already serves something at this path => write an absolute path such as /tools/mcp",
            r"3:189 endpoints[4].path [/.well-known/x] Dragoman already serves something at this path => write an absolute path such as /tools/mcp",
        ],
    ),
    (
        r"mcpServers: {}
endpoints: [ { path: /mcp, dialect: bb }, { path: /mcp, dialect: bb }, { path: /x, profil: a } ]
",
        &[
            r"2:51 endpoints[1].path [/mcp] another endpoint already has the path `/mcp` => choose another path, or remove one of the two",
            r"2:84 endpoints[2].profil [profil] unknown key `profil` => did you mean `profile`?",
        ],
    ),
    (
        r"mcpServers: {}
profiles: { one: {} }
endpoints:
  - { path: /a, dialect: kulturarv, message: /mcp/one }
  - { path: /b, transport: sse, message: /c }
  - { path: /d, transport: sse, message: /c }
  - { path: /c/, transport: both }
  - { path: /e, transport: sse, message: /mcp/one }
  - { path: /f, transport: sse, message: /f }
  - { path: /g, transport: sse, message: /mcp/two }
  - { path: /message, dialect: bb }
",
        &[
            r"4:5 endpoints[0] [] this endpoint's clients would send their messages to a path that is already in use => set another path: transport: sse, message: /team/message",
            r"5:5 endpoints[1] [] this endpoint's clients would send their messages to a path that is already in use => set another path: transport: sse, message: /team/message",
            r"6:5 endpoints[2] [] this endpoint's clients would send their messages to a path that is already in use => set another path: transport: sse, message: /team/message",
            r"8:5 endpoints[4] [] this endpoint's clients would send their messages to a path that is already in use => set another path: transport: sse, message: /team/message",
            r"11:5 endpoints[7] [] the clients of `/sse` send their messages to this path => choose another path, or add an endpoint for `/sse`",
        ],
    ),
    (
        r"mcpServers: {}
limits: { batch: 0 }
endpoints: [ { path: /message, dialect: bb } ]
",
        &[
            r"2:18 limits.batch [0] 0 is out of range => write a value from 1 to 1000",
            r"3:14 endpoints[0] [] the clients of `/sse` send their messages to this path => choose another path, or add an endpoint for `/sse`",
        ],
    ),
    (
        r"mcpServers: {}
endpoints: [ { path: /a/message, dialect: bb }, { path: /a, dialect: kulturarv }, { path: /b, dialect: kulturarv }, { path: /sse, transport: both, dialect: standard } ]
",
        &[
            r"2:49 endpoints[1] [] this endpoint's clients would send their messages to a path that is already in use => set another path: transport: sse, message: /team/message",
        ],
    ),
    (
        r"mcpServers: {}
endpoints: [ { path: /a, dialect: kulturarv, transport: http, message: /b }, { path: /c, dialect: bb, message: /d } ]
",
        &[
            r"2:63 endpoints[0].message [message] `message` applies only to event streams => remove it, or write transport: sse",
            r"2:103 endpoints[1].message [message] `message` applies only to event streams => remove it, or write transport: sse",
        ],
    ),
    (
        r"mcpServers: {}
dialects: { mine: { base: buddyboss, mendArguments: [coerce] } }
",
        &[
            r"2:38 dialects.mine.mendArguments [mendArguments] `mendArguments` is now called `repairArguments` => rename the key to `repairArguments`",
        ],
    ),
    (
        r"mcpServers: {}
dialects: { mine: { base: kulturarv, pingSecond: 7, pingSeconds: soon, nonsense: 1, unknownTool: { cod: 1 }, unknownTool.code: x } }
",
        &[
            r"2:38 dialects.mine.pingSecond [pingSecond] a dialect has no column `pingSecond` => did you mean `pingSeconds`?",
            r"2:66 dialects.mine.pingSeconds [soon] pingSeconds must be a whole number from 1 to 604800 => write a whole number from 1 to 604800",
            r"2:72 dialects.mine.nonsense [nonsense] a dialect has no column `nonsense` => the closest names are corsExposed, internal, noId, pages, sessions; `dragoman schema` lists all columns",
            r"2:98 dialects.mine.unknownTool [{ cod: 1 }] unknownTool has no member cod; it must be a mapping with any of code, message, status, channel, data, body => write a mapping with any of code, message, status, channel, data, body",
            r"2:128 dialects.mine.unknownTool.code [x] unknownTool code must be a whole number from -2147483648 to 2147483647 => correct it, or remove it",
        ],
    ),
];

/// Values of the right form that make no sense.
const SENSELESS: (&str, &[&str]) = (
    r#"mcpServers: {}
dialects:
  mine:
    base: kulturarv
    codes: { unknownTool: 1 }
    toolErrors: 1
    versions: []
    methods: []
    pingSeconds: 0
    pingEvent: "a\nb"
    unknownTool: { message: "no {nam}" }
    forbidden.data: { who: "{user}" }
    variant: lenient
"#,
    &[
        r"5:5 dialects.mine.codes [codes] a dialect has no column `codes` => set it for one kind of failure: unknownTool: { code: … }; `dragoman schema` lists all columns",
        r"6:5 dialects.mine.toolErrors [toolErrors] a dialect has no column `toolErrors` => the closest names are toolMembers, toolOrder, parseError, toolFailed, errorData; `dragoman schema` lists all columns",
        r"7:15 dialects.mine.versions [[]] versions must be a list of at least one string, none of them empty => write a list of at least one string, none of them empty",
        r"8:14 dialects.mine.methods [[]] methods must be a list of at least one string, none of them empty => write a list of at least one string, none of them empty",
        r"9:18 dialects.mine.pingSeconds [0] pingSeconds must be a whole number from 1 to 604800 => write a whole number from 1 to 604800",
        r#"10:16 dialects.mine.pingEvent ["a\nb"] pingEvent must be a string of one line, or null => write a string of one line, or null"#,
        r#"11:18 dialects.mine.unknownTool [{ message: "no {nam}" }] unknownTool has an unknown placeholder => write one of {name}, {message}, {detail}, {tool}, {method}, {server}, {hint}, {original}, {originalData}, {body}, {stack}, {url}, {code}, {status}, {seconds}"#,
        r#"12:21 dialects.mine.forbidden.data [{ who: "{user}" }] forbidden has an unknown placeholder => write one of {name}, {message}, {detail}, {tool}, {method}, {server}, {hint}, {original}, {originalData}, {body}, {stack}, {url}, {code}, {status}, {seconds}, {text}"#,
        r"13:14 dialects.mine.variant [lenient] dialect kulturarv has no such variant; its variants: code => correct it, or remove it",
    ],
);

#[test]
fn senseless_dialects() {
    let (text, wanted) = SENSELESS;
    same(text, &faults_in_short(text), wanted);
}

#[test]
fn faults_of_dialects() {
    for (text, wanted) in DIALECTS {
        same(text, &faults_in_short(text), wanted);
    }
}
