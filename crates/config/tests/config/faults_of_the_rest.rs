//! Faults outside of servers, in short form.

use crate::{faults_in_short, same};

const TOP: &[(&str, &[&str])] = &[
    (
        r"- a
",
        &[
            r"1:1  [- a] expected a mapping with `mcpServers`, `listen`, …, found a list => write a mapping with `mcpServers`, `listen`, …",
        ],
    ),
    (
        r"just text
",
        &[
            r"1:1  [just text] expected a mapping with `mcpServers`, `listen`, …, found `just text` => write a mapping with `mcpServers`, `listen`, …",
        ],
    ),
    (
        r"mcp_servers: {}
listen_on: 1
foo: bar
",
        &[
            r"1:1 mcp_servers [mcp_servers] unknown key `mcp_servers` => did you mean `mcpServers`?",
            r"2:1 listen_on [listen_on] unknown key `listen_on` => did you mean `listen`?",
            r"3:1 foo [foo] unknown key `foo` => remove it; known keys: listen, listenSocket, tls, mcpServers, profiles, endpoints, limits, allowedHosts, allowedOrigins, auth, access, rateLimits, audit, ready, management, admin, metrics, logFormat, definitions, dialect, dialects, stateFolder, keyRing, cluster, publicUrl, trustForwardedFor, $schema",
        ],
    ),
    (
        r"files: { command: npx }
",
        &[r"1:1 files [files] unknown key `files`, which looks like a server => put it under `mcpServers:`"],
    ),
    (
        r"mcpServers: [a]
",
        &[
            r"1:13 mcpServers [[a]] expected a mapping of servers by name, found a list => write a mapping of servers by name",
        ],
    ),
    (
        r"mcpServers: {}
servers: {}
",
        &[
            r"2:1 servers [servers] `mcpServers` and `servers` mean the same thing => move the servers of `servers` to `mcpServers`",
        ],
    ),
    (
        r"mcpServers: {}
listen: nowhere
",
        &[
            r"2:9 listen [nowhere] this is not an address to listen on => write an IP address and a port: 127.0.0.1:8808",
        ],
    ),
    (
        r"mcpServers: {}
listen: [':8808', 'example.com:80', '127.0.0.1', '[::1]', '127.0.0.1:99999', 70000]
",
        &[
            r"2:10 listen [':8808'] an address to listen on must be an IP address and a port => write 127.0.0.1:8808 for this machine only, or 0.0.0.0:8808 for other machines, too",
            r"2:19 listen ['example.com:80'] an address to listen on must be an IP address and a port => write 127.0.0.1:80 for this machine only, or 0.0.0.0:80 for other machines, too",
            r"2:37 listen ['127.0.0.1'] the port is missing => write 127.0.0.1:8808",
            r"2:50 listen ['[::1]'] the port is missing => write [::1]:8808",
            r"2:59 listen ['127.0.0.1:99999'] this is not an address to listen on => write an IP address and a port: 127.0.0.1:8808",
            r"2:78 listen [70000] this is not an address to listen on => write an IP address and a port: 127.0.0.1:8808",
        ],
    ),
    (
        r"mcpServers: {}
listen: [8808, 'localhost:8808', '${SECRET}:80', '${ADDRESS}']
",
        &[
            r"2:16 listen ['localhost:8808'] `localhost:8808` occurs twice => keep one of the two",
            r"2:34 listen ['${SECRET}:80'] an address to listen on must be an IP address and a port => change the value that is substituted",
            r"2:50 listen ['${ADDRESS}'] the port is missing => change the value that is substituted",
        ],
    ),
    (
        r"mcpServers: {}
listen: []
",
        &[
            r"2:9 listen [[]] this list has 0 addresses => write 127.0.0.1:8808, or a list of 1 to 64 addresses",
        ],
    ),
    (
        r"mcpServers: {}
listen: { port: 1 }
",
        &[
            r"2:9 listen [{ port: 1 }] expected an address such as 127.0.0.1:8808, or a list of them, found a mapping => write an address such as 127.0.0.1:8808, or a list of them",
        ],
    ),
    (
        r"mcpServers: {}
allowedHosts: ['https://h', 'a b', '', 'h:0', 'u@h']
",
        &[
            r"2:16 allowedHosts[0] ['https://h'] a host cannot have a scheme => write it like mcp.example.com or mcp.example.com:8443",
            r"2:29 allowedHosts[1] ['a b'] this is not a valid host, with or without a port => write it like mcp.example.com or mcp.example.com:8443",
            r"2:36 allowedHosts[2] [''] this is not a valid host, with or without a port => write it like mcp.example.com or mcp.example.com:8443",
            r"2:40 allowedHosts[3] ['h:0'] this is not a valid host, with or without a port => write it like mcp.example.com or mcp.example.com:8443",
            r"2:47 allowedHosts[4] ['u@h'] this is not a valid host, with or without a port => write it like mcp.example.com or mcp.example.com:8443",
        ],
    ),
    (
        r"mcpServers: {}
allowedOrigins: ['*', 'null', 'h', 'https://h/path', '1:/\//']
",
        &[
            r"2:18 allowedOrigins[0] ['*'] this would admit every web page => list the origins one by one",
            r"2:23 allowedOrigins[1] ['null'] this would admit every web page => list the origins one by one",
            r"2:31 allowedOrigins[2] ['h'] an origin must have a scheme and a host => write it like https://app.example.com, without a path",
            r"2:36 allowedOrigins[3] ['https://h/path'] an origin must have a scheme, a host and no path; a port is optional => write it like https://app.example.com, without a path",
            r"2:54 allowedOrigins[4] ['1:/\//'] an origin must have a scheme and a host => write it like https://app.example.com, without a path",
        ],
    ),
    (
        r"mcpServers: {}
listen: 1
listen: 2
",
        &[r"3:1 listen [listen] the key `listen` occurs twice => keep one of the two"],
    ),
];

#[test]
fn faults_of_top() {
    for (text, wanted) in TOP {
        same(text, &faults_in_short(text), wanted);
    }
}

const LIMITS: &[(&str, &[&str])] = &[
    (
        r"mcpServers: {}
limits: 7
",
        &[r"2:9 limits [7] expected a mapping of limits, found `7` => write a mapping of limits"],
    ),
    (
        r"mcpServers: {}
limits: { lines: 1, request_body: 1, wat: 1 }
",
        &[
            r"2:11 limits.lines [lines] unknown key `lines` => did you mean `line`?",
            r"2:21 limits.request_body [request_body] unknown key `request_body` => did you mean `requestBody`?",
            r"2:38 limits.wat [wat] unknown key `wat` => remove it; known keys: requestBody, requestHeaders, headerReadTimeout, line, result, memory, jsonDepth, batch, sessions, sessionIdle, sessionLifetime, streamsPerSession, replayEvents, replayBytes, callsPerSession, callsPerCaller, callIdleTimeout, callTimeout, resendWait, connectTimeout, startTimeout, listWait, listPages, catalogueEntries, listenStreams, subscriptionsPerSession, formerNames, schemaBytes, requestStateLifetime, parkedCalls, keptResults, keptResultBytes, restLifetime, drainTimeout, connections, children, childStopTimeout, stderrRing",
        ],
    ),
    (
        r"mcpServers: {}
limits: { requestBody: 1, line: 1TiB, result: -1, jsonDepth: 1.5, batch: 0, sessions: many }
",
        &[
            r"2:24 limits.requestBody [1] 1B is out of range => write a value from 1KiB to 256MiB",
            r"2:33 limits.line [1TiB] expected a size in bytes such as 65536, 64KiB or 4MiB, found `1TiB` => write a size in bytes such as 65536, 64KiB or 4MiB",
            r"2:47 limits.result [-1] expected a size in bytes such as 65536, 64KiB or 4MiB, found `-1` => write a size in bytes such as 65536, 64KiB or 4MiB",
            r"2:62 limits.jsonDepth [1.5] expected a whole number, found `1.5` => write a whole number",
            r"2:74 limits.batch [0] 0 is out of range => write a value from 1 to 1000",
            r"2:87 limits.sessions [many] expected a whole number, found `many` => write a whole number",
        ],
    ),
    (
        r"mcpServers: {}
limits: { connectTimeout: 3m, drainTimeout: 1 day, sessionIdle: [1] }
",
        &[
            r"2:27 limits.connectTimeout [3m] 3m is out of range => write a value from 100ms to 2m",
            r"2:45 limits.drainTimeout [1 day] expected a time such as 500ms, 30s, 10m or 1h, or a number of seconds, found `1 day` => write a time such as 500ms, 30s, 10m or 1h, or a number of seconds",
            r"2:65 limits.sessionIdle [[1]] expected a time such as 500ms, 30s, 10m or 1h, or a number of seconds, found a list => write a time such as 500ms, 30s, 10m or 1h, or a number of seconds",
        ],
    ),
    (
        r"mcpServers: {}
limits: { callTimeout: 10s, callIdleTimeout: 20s }
",
        &[
            r"2:46 limits.callIdleTimeout [20s] the idle timeout of a call (20s) is longer than its total timeout (10s) => set callIdleTimeout to at most callTimeout",
        ],
    ),
];

#[test]
fn faults_of_limits() {
    for (text, wanted) in LIMITS {
        same(text, &faults_in_short(text), wanted);
    }
}

const PROFILES: &[(&str, &[&str])] = &[
    (
        r"mcpServers:
  docs: { native: demo }
profiles: [a]
",
        &[
            r"3:11 profiles [[a]] expected a mapping of profiles by name, found a list => write a mapping of profiles by name",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { Editors!: {}, '': {}, _x: {} }
",
        &[
            r"3:13 profiles.Editors! [Editors!] a profile's name is part of a URL: it must have 1 to 64 characters of `a-z 0-9 - _`, starting with a letter or digit => write `editors`",
            r#"3:27 profiles."" [''] a profile's name is part of a URL: it must have 1 to 64 characters of `a-z 0-9 - _`, starting with a letter or digit => write a name such as `editors`"#,
            r"3:35 profiles._x [_x] a profile's name is part of a URL: it must have 1 to 64 characters of `a-z 0-9 - _`, starting with a letter or digit => write `x`",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { servers: [dcos, nope, docs, docs, [x]] } }
",
        &[
            r"3:28 profiles.a.servers[0] [dcos] there is no server `dcos` => did you mean `docs`?",
            r"3:34 profiles.a.servers[1] [nope] there is no server `nope` => available: docs",
            r"3:46 profiles.a.servers[3] [docs] the server `docs` occurs twice => keep one of the two",
            r"3:52 profiles.a.servers[4] [[x]] expected a server's name, found a list => write a server's name",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
  docs_: { native: demo }
  _docs: { native: demo }
  docs__: { native: demo }
",
        &[
            r"3:3 mcpServers.docs_ [docs_] `docs_` and `docs` could give different tools the same name => rename one of them; the names must not differ only in trailing underscores",
            r"5:3 mcpServers.docs__ [docs__] a server name cannot contain `__`, which separates it from the tool's name => write `docs_`",
            r"5:3 mcpServers.docs__ [docs__] `docs__` and `docs` could give different tools the same name => rename one of them; the names must not differ only in trailing underscores",
        ],
    ),
    (
        r"mcpServers: {}
profiles: { a: { servers: [x] } }
",
        &[
            r"2:28 profiles.a.servers[0] [x] there is no server `x` => there is no server yet: add one, or remove this",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { server: docs, names: prefx, tool: {} } }
",
        &[
            r"3:18 profiles.a.server [server] unknown key `server` => did you mean `servers`?",
            r"3:39 profiles.a.names [prefx] `prefx` is not one of `prefix`, `plain`, `plain-first` or `first` => did you mean `prefix`?",
            r"3:46 profiles.a.tool [tool] unknown key `tool` => did you mean `tools`?",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { tools: { allow: ['', '!x'], deny: { a: b }, renames: {} }, prompts: [x], resources: { rename: {} } } }
",
        &[
            r"3:35 profiles.a.tools.allow[0] [''] a pattern cannot be empty => write a name with `*` for any characters and `?` for one; put the names to hide under `deny`",
            r"3:39 profiles.a.tools.allow[1] ['!x'] a pattern cannot be negated with `!` => write a name with `*` for any characters and `?` for one; put the names to hide under `deny`",
            r"3:52 profiles.a.tools.deny [{ a: b }] expected a list of patterns, found a mapping => write a list of patterns",
            r"3:62 profiles.a.tools.renames [renames] unknown key `renames` => did you mean `rename`?",
            r"3:86 profiles.a.prompts [[x]] expected a mapping with `allow`, `deny`, `rename` or `overrides`, found a list => write a mapping with `allow`, `deny`, `rename` or `overrides`",
            r"3:104 profiles.a.resources.rename [rename] unknown key `rename` => remove it; known keys: allow, deny",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { tools: { rename: { x: 'a b', y: '', z: ok, w: ok } } } }
",
        &[
            r"3:40 profiles.a.tools.rename.x ['a b'] a name that clients see must have 1 to 64 characters of `A-Z a-z 0-9 _ - . /` => write `a_b`",
            r"3:50 profiles.a.tools.rename.y [''] a name that clients see must have 1 to 64 characters of `A-Z a-z 0-9 _ - . /` => write the new name",
            r"3:64 profiles.a.tools.rename.w [ok] `z` already has this new name => choose another name",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { tools: { mode: lazy } }, b: { tools: { mode: search, direct: x } }, c: { tools: { direct: [x, '!y'] } }, d: { prompts: { mode: search } } }
",
        &[
            r"3:33 profiles.a.tools.mode [lazy] `lazy` is not one of `direct`, `search` or `hybrid` => write `direct`, `search` or `hybrid`",
            r"3:71 profiles.b.tools.direct [direct] `direct` has no effect with `mode: search` => write `mode: hybrid`, or remove `direct`",
            r"3:100 profiles.c.tools.direct [direct] `direct` has no effect with `mode: direct` => write `mode: hybrid`, or remove `direct`",
            r"3:112 profiles.c.tools.direct[1] ['!y'] a pattern cannot be negated with `!` => write a name with `*` for any characters and `?` for one; put the names to hide under `deny`",
            r"3:139 profiles.d.prompts.mode [mode] unknown key `mode` => remove it; known keys: allow, deny, rename, overrides",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { tools: { schemas: claude } } }
",
        &[
            r"3:36 profiles.a.tools.schemas [claude] `claude` is not one of `as-received`, `gemini`, `openai`, `anthropic`, `vscode`, `cursor` or `portable` => write `as-received`, `gemini`, `openai`, `anthropic`, `vscode`, `cursor` or `portable`",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { tools: { rename: { x: '${SECRET} ' } } } }
",
        &[
            r"3:40 profiles.a.tools.rename.x ['${SECRET} '] a name that clients see must have 1 to 64 characters of `A-Z a-z 0-9 _ - . /` => change the value that is substituted",
        ],
    ),
    (
        r"mcpServers:
  docs: { native: demo }
profiles: { a: { title: [x], instructions: { a: b } } }
",
        &[
            r"3:25 profiles.a.title [[x]] expected a string, found a list => write a string",
            r"3:44 profiles.a.instructions [{ a: b }] expected a string, found a mapping => write a string",
        ],
    ),
];

#[test]
fn faults_of_profiles() {
    for (text, wanted) in PROFILES {
        same(text, &faults_in_short(text), wanted);
    }
}

const ENDPOINTS: &[(&str, &[&str])] = &[
    (
        r"mcpServers: {}
endpoints: { path: /x }
",
        &[
            r"2:12 endpoints [{ path: /x }] expected a list of endpoints, found a mapping => write a list of endpoints",
        ],
    ),
    (
        r"mcpServers: {}
endpoints: [{ profile: default }, { path: /a, profile: defualt }, { path: /b, profil: default }]
",
        &[
            r"2:13 endpoints[0] [] there is no `path` => add it: path: /tools/mcp",
            r"2:56 endpoints[1].profile [defualt] there is no profile `defualt` => did you mean `default`?",
            r"2:79 endpoints[2].profil [profil] unknown key `profil` => did you mean `profile`?",
        ],
    ),
    (
        r"mcpServers: {}
endpoints: [{ path: x }, { path: /a?b }, { path: /a/../b }, { path: /mcp }, { path: /mcp/x }, { path: /admin/ }]
",
        &[
            r"2:21 endpoints[0].path [x] a path must start with `/` => write /x",
            r"2:34 endpoints[1].path [/a?b] a path can have at most 256 characters of `A-Z a-z 0-9 / - _ . ~` and no query => write an absolute path such as /tools/mcp",
            r"2:50 endpoints[2].path [/a/../b] a path cannot contain `//`, `/./` or `/../` => write an absolute path such as /tools/mcp",
            r"2:69 endpoints[3].path [/mcp] Dragoman already serves something at this path => write an absolute path such as /tools/mcp, or set the dialect at this path: dialect: standard",
            r"2:85 endpoints[4].path [/mcp/x] Dragoman already serves something at this path => write an absolute path such as /tools/mcp, or set the dialect at this path: dialect: standard",
            r"2:103 endpoints[5].path [/admin/] Dragoman already serves something at this path => write an absolute path such as /tools/mcp",
        ],
    ),
    (
        r"mcpServers: {}
endpoints: [{ path: /a }, { path: /a }, { path: '${SECRET}' }]
",
        &[
            r"2:35 endpoints[1].path [/a] another endpoint already has the path `/a` => choose another path, or remove one of the two",
            r"2:49 endpoints[2].path ['${SECRET}'] a path must start with `/` => change the value that is substituted",
        ],
    ),
];

#[test]
fn faults_of_endpoints() {
    for (text, wanted) in ENDPOINTS {
        same(text, &faults_in_short(text), wanted);
    }
}
