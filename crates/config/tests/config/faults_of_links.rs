//! Faults in URLs, headers and filled-in values, in short form.

use crate::{faults_in_short, same};

const URLS: &[(&str, &[&str])] = &[
    (
        r"mcpServers:
  a: { url: '' }
",
        &[
            r"2:13 mcpServers.a.url [''] a URL cannot be empty or surrounded by spaces => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: docs.example.com/mcp }
",
        &[
            r"2:13 mcpServers.a.url [docs.example.com/mcp] this URL has no scheme => put `https://` or `http://` in front",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'ftp://h/' }
",
        &[
            r"2:13 mcpServers.a.url ['ftp://h/'] a URL must start with `https://` or `http://` => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'wss://h/' }
",
        &[
            r"2:13 mcpServers.a.url ['wss://h/'] MCP has no WebSocket transport => write the server's https:// address",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://' }
",
        &[
            r"2:13 mcpServers.a.url ['https://'] this is not a URL => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://:80/' }
",
        &[
            r"2:13 mcpServers.a.url ['https://:80/'] this URL has no host => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h:0/' }
",
        &[
            r"2:13 mcpServers.a.url ['https://h:0/'] the port in this URL is not between 1 and 65535 => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h:99999/' }
",
        &[
            r"2:13 mcpServers.a.url ['https://h:99999/'] the port in this URL is not between 1 and 65535 => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://[::g]/' }
",
        &[
            r"2:13 mcpServers.a.url ['https://[::g]/'] the text in brackets is not an IPv6 address => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://me:hush@h/?k=hush' }
",
        &[
            r#"2:13 mcpServers.a.url ['https://*******@h/?******'] a URL cannot carry a user name or a password => remove both from the URL and send a header: headers: { Authorization: "Bearer ${TOKEN}" }"#,
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/#x' }
",
        &[
            r"2:13 mcpServers.a.url ['https://h/#x'] a URL cannot have a fragment => remove the `#` and what follows it",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/a b' }
",
        &[
            r"2:13 mcpServers.a.url ['https://h/a b'] this is not a URL => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://bücher.example/' }
",
        &[
            r"2:13 mcpServers.a.url ['https://bücher.example/'] a URL can contain only ASCII characters => write the host in Punycode (xn--…), and encode the path with %XX",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h!/' }
",
        &[
            r"2:13 mcpServers.a.url ['https://h!/'] the host in this URL contains characters that host names cannot contain => write it like https://docs.example.com/mcp",
        ],
    ),
    (
        r"mcpServers:
  a: { url: ' https://h/' }
",
        &[
            r"2:13 mcpServers.a.url [' https://h/'] a URL cannot be empty or surrounded by spaces => write it like https://docs.example.com/mcp",
        ],
    ),
];

#[test]
fn faults_of_urls() {
    for (text, wanted) in URLS {
        same(text, &faults_in_short(text), wanted);
    }
}

const HEADERS: &[(&str, &[&str])] = &[
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { 'X Y': hush } }
",
        &[
            r"2:38 mcpServers.a.headers.X Y ['X Y'] this is not a valid header name => write a name such as Authorization",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { Mcp-Session-Id: hush, CONNECTION: close, Host: x, mcp-param-a: b } }
",
        &[
            r"2:38 mcpServers.a.headers.Mcp-Session-Id [Mcp-Session-Id] the `mcp-session-id` header belongs to the protocol or the connection => remove it; Dragoman sets this header itself if it is needed",
            r"2:60 mcpServers.a.headers.CONNECTION [CONNECTION] the `connection` header belongs to the protocol or the connection => remove it; Dragoman sets this header itself if it is needed",
            r"2:79 mcpServers.a.headers.Host [Host] the `host` header belongs to the protocol or the connection => remove it; Dragoman sets this header itself if it is needed",
            r"2:88 mcpServers.a.headers.mcp-param-a [mcp-param-a] the `mcp-param-a` header belongs to the protocol or the connection => remove it; Dragoman sets this header itself if it is needed",
        ],
    ),
    (
        r#"mcpServers:
  a: { url: 'https://h/', headers: { X: "hush\r\nY: z" } }
"#,
        &[
            r#"2:41 mcpServers.a.headers.X ["********** *"] a header's value cannot contain a line break => remove the line break; a file with a token must contain only one line"#,
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { X: 'hüsh' } }
",
        &[
            r"2:41 mcpServers.a.headers.X ['****'] a header's value can contain only visible ASCII characters => encode other characters in the way that the server requires",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { X: 'Bearer ${EMPTY}' } }
",
        &[
            r"2:41 mcpServers.a.headers.X ['****** ${EMPTY}'] a header's value cannot be surrounded by spaces => remove them; is a variable empty?",
        ],
    ),
    (
        r#"mcpServers:
  a: { url: 'https://h/', headers: { X: "${LINES}" } }
"#,
        &[
            r#"2:41 mcpServers.a.headers.X ["${LINES}"] a header's value cannot contain a line break => remove the line break; a file with a token must contain only one line"#,
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { X: hush, x: hush2 } }
",
        &[r"2:47 mcpServers.a.headers.x [x] `x` occurs twice; case does not matter => keep one of the two"],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { X: [hush] } }
",
        &[
            r#"2:41 mcpServers.a.headers.X [[****]] expected a value as a string, such as "" or "${NAME}", found a list => write a value as a string, such as "" or "${NAME}""#,
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: 'Authorization: hush' }
",
        &[
            r"2:36 mcpServers.a.headers ['************** ****'] expected a mapping of header names and values, found `'************** ****'` => write a mapping of header names and values",
        ],
    ),
];

#[test]
fn faults_of_headers() {
    for (text, wanted) in HEADERS {
        same(text, &faults_in_short(text), wanted);
    }
}

const VARIABLES: &[(&str, &[&str])] = &[
    (
        r"mcpServers:
  a: { url: '${NONE}/mcp' }
",
        &[
            r"2:14 mcpServers.a.url [${NONE}] the environment variable `NONE` is not set => set NONE before Dragoman starts, or give a value: ${NONE:-value}",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', headers: { Authorization: 'Bearer ${NONE} ${NOTHING}' } }
",
        &[
            r"2:61 mcpServers.a.headers.Authorization [${NONE}] the environment variable `NONE` is not set => set NONE before Dragoman starts, or give a value: ${NONE:-value}",
            r"2:69 mcpServers.a.headers.Authorization [${NOTHING}] the environment variable `NOTHING` is not set => set NOTHING before Dragoman starts, or give a value: ${NOTHING:-value}",
        ],
    ),
    (
        r"mcpServers:
  a: { command: '${userHome}/x', cwd: '${workspaceFolder}' }
",
        &[
            r"2:18 mcpServers.a.command [${userHome}] the environment variable `userHome` is not set => write ${HOME}",
            r"2:40 mcpServers.a.cwd [${workspaceFolder}] the environment variable `workspaceFolder` is not set => only an editor knows its workspace: write the path itself, or set a variable and use that",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, args: ['${input:api-key}', '${a b}', '${X', '${file:}', '${file:/gone}'] }
",
        &[
            r"2:28 mcpServers.a.args[0] [${input:api-key}] `${input:api-key}` is not a valid reference => Dragoman cannot ask for `api-key` as an editor does: write ${API_KEY} and set that variable",
            r"2:48 mcpServers.a.args[1] [${a b}] `${a b}` is not a valid reference => write ${NAME}, ${NAME:-value} or ${file:path}, not nested; write $${ for `${` itself",
            r"2:58 mcpServers.a.args[2] [${X] `${` has no `}` => add the `}`, or write $${ for the characters `${` themselves",
            r"2:65 mcpServers.a.args[3] [${file:}] `${file:}` does not name a file => write the path: ${file:/run/secrets/token}",
            r"2:77 mcpServers.a.args[4] [${file:/gone}] the file `/gone` cannot be read: no such file => create `/gone`, make it readable for Dragoman, or correct the path",
        ],
    ),
    (
        r"mcpServers:
  a: { url: '${SECRET}' }
",
        &[
            r"2:13 mcpServers.a.url ['${SECRET}'] this URL has no scheme => put `https://` or `http://` in front",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, type: '${SECRET}', timeout: '${SECRET}', disabled: '${SECRET}' }
limits: { line: '${SECRET}' }
listen: '${SECRET}'
",
        &[
            r"2:26 mcpServers.a.type ['${SECRET}'] `${SECRET}` is not one of `stdio`, `http`, `streamable-http` or `sse` => write `stdio`, `http`, `streamable-http` or `sse`",
            r"2:48 mcpServers.a.timeout ['${SECRET}'] expected a time such as 30s or 2m, or a number of seconds, found `'${SECRET}'` => write a time such as 30s or 2m, or a number of seconds",
            r"2:71 mcpServers.a.disabled ['${SECRET}'] expected true or false, found `'${SECRET}'` => write true or false",
            r"3:17 limits.line ['${SECRET}'] expected a size in bytes such as 65536, 64KiB or 4MiB, found `'${SECRET}'` => write a size in bytes such as 65536, 64KiB or 4MiB",
            r"4:9 listen ['${SECRET}'] this is not an address to listen on => write an IP address and a port: 127.0.0.1:8808",
        ],
    ),
    (
        r"mcpServers:
  a: { native: demo }
profiles: { default: { servers: ['${SECRET}'] } }
",
        &[r"3:34 profiles.default.servers[0] ['${SECRET}'] there is no server `${SECRET}` => available: a"],
    ),
    (
        r"mcpServers:
  '${SECRET}': { native: demo }
",
        &[
            r"2:3 mcpServers.${SECRET} ['${SECRET}'] a server name can contain only `A-Z a-z 0-9 _ . -` => write `SECRET`",
        ],
    ),
];

#[test]
fn faults_of_variables() {
    for (text, wanted) in VARIABLES {
        same(text, &faults_in_short(text), wanted);
    }
}
