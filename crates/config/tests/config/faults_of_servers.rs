//! Faults in servers, in short form.

use crate::{faults_in_short, same};

const SERVERS: &[(&str, &[&str])] = &[
    (
        r"mcpServers:
  a: { native: demo, maxResult: 1KiB }
profiles: { x: { tools: { overrides: { a__b: { cache: {}, atOnce: 0, timeout: 2d }, a__c: { cache: { for: 0s, public: true } } } } } }
",
        &[
            r"2:33 mcpServers.a.maxResult [1KiB] 1KiB is out of range => write a value from 4KiB to 1GiB",
            r"3:48 profiles.x.tools.overrides.a__b.cache [cache] there is no `for` => add it: for: 5m",
            r"3:67 profiles.x.tools.overrides.a__b.atOnce [0] 0 is out of range => write a value from 1 to 1000000",
            r"3:79 profiles.x.tools.overrides.a__b.timeout [2d] a timeout of 2d is out of range => write a time from 1ms to 24h",
            r"3:107 profiles.x.tools.overrides.a__c.cache.for [0s] 0ms is out of range => write a value from 1s to 24h",
            r"3:111 profiles.x.tools.overrides.a__c.cache.public [public] unknown key `public` => remove it; known keys: for",
        ],
    ),
    (
        r"mcpServers:
  '': { native: demo }
",
        &[r#"2:3 mcpServers."" [''] a server needs a name => write a name such as `files`"#],
    ),
    (
        r"mcpServers:
  a: { commnad: npx, headrs: {} }
",
        &[
            r"2:8 mcpServers.a.commnad [commnad] unknown key `commnad` => did you mean `command`?",
            r"2:22 mcpServers.a.headrs [headrs] unknown key `headrs` => did you mean `headers`?",
        ],
    ),
    (
        r"mcpServers:
  _OTHER: { native: demo }
",
        &[
            r"2:3 mcpServers._OTHER [_OTHER] `/metrics` uses `_OTHER` for all servers above the cap => write another name",
        ],
    ),
    (
        r"mcpServers:
  a__b: { native: demo }
",
        &[
            r"2:3 mcpServers.a__b [a__b] a server name cannot contain `__`, which separates it from the tool's name => write `a_b`",
        ],
    ),
    (
        r"mcpServers:
  a/b: { native: demo }
",
        &[r"2:3 mcpServers.a/b [a/b] a server name can contain only `A-Z a-z 0-9 _ . -` => write `a-b`"],
    ),
    (
        r"mcpServers:
  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: { native: demo }
",
        &[
            r"2:3 mcpServers.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa] a server name can have at most 32 characters => write `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`",
        ],
    ),
    (
        r"mcpServers:
  a: npx
",
        &[
            r"2:6 mcpServers.a [npx] expected a mapping with `command`, `url` or `native`, found `npx` => write a mapping with `command`, `url` or `native`",
        ],
    ),
    (
        r"mcpServers:
  a:
",
        &[
            r"2:4 mcpServers.a [] expected a mapping with `command`, `url` or `native`, found nothing => write a mapping with `command`, `url` or `native`",
        ],
    ),
    (
        r"mcpServers:
  a: {}
",
        &[
            r"2:3 mcpServers.a [a] this server has no address and no command => write `command` (a program), `url` (a server on the network) or `native: demo`",
        ],
    ),
    (
        r"mcpServers:
  a: { args: [x] }
",
        &[
            r"2:3 mcpServers.a [a] this server has no address and no command => write `command` (a program), `url` (a server on the network) or `native: demo`",
        ],
    ),
    (
        r"mcpServers:
  a: { comand: npx, arg: [x] }
",
        &[
            r"2:8 mcpServers.a.comand [comand] unknown key `comand` => did you mean `command`?",
            r"2:21 mcpServers.a.arg [arg] unknown key `arg` => did you mean `args`?",
        ],
    ),
    (
        r"mcpServers:
  a: { command: '' }
",
        &[r"2:17 mcpServers.a.command [''] the command is empty => write the program to start: command: npx"],
    ),
    (
        r"mcpServers:
  a: { command: [npx, -y] }
",
        &[
            r"2:17 mcpServers.a.command [[npx, -y]] expected the program's name as a string, found a list => write the program's name as a string",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, url: 'https://h/' }
",
        &[
            r"2:20 mcpServers.a [url] a server has `command` or `url`, not both => keep one of the two, or define two servers",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', native: demo, args: [] }
",
        &[
            r"2:27 mcpServers.a [native] a server has `url` or `native`, not both => keep one of the two, or define two servers",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, headers: {} }
",
        &[
            r"2:20 mcpServers.a.headers [headers] `headers` cannot be combined with `command` => remove it; it has no effect together with `command`",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', env: { A: b }, cwd: / }
",
        &[
            r"2:27 mcpServers.a.env [env] `env` cannot be combined with `url` => remove it; it has no effect together with `url`",
            r"2:42 mcpServers.a.cwd [cwd] `cwd` cannot be combined with `url` => remove it; it has no effect together with `url`",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, type: http }
",
        &[
            r"2:26 mcpServers.a.type [http] this `type` cannot be combined with `command` => write `type: stdio`, or remove the line",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', type: stdio }
",
        &[
            r"2:33 mcpServers.a.type [stdio] this `type` cannot be combined with `url` => write `type: http` or `type: sse`, or remove the line",
        ],
    ),
    (
        r"mcpServers:
  a: { native: demo, type: http }
",
        &[r"2:28 mcpServers.a.type [http] this `type` cannot be combined with `native` => remove `type`"],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', type: websocket }
",
        &[
            r"2:33 mcpServers.a.type [websocket] `websocket` is not one of `stdio`, `http`, `streamable-http` or `sse` => write `stdio`, `http`, `streamable-http` or `sse`",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', type: streamable_htp }
",
        &[
            r"2:33 mcpServers.a.type [streamable_htp] `streamable_htp` is not one of `stdio`, `http`, `streamable-http` or `sse` => did you mean `streamable-http`?",
        ],
    ),
    (
        r"mcpServers:
  a: { native: wordpres }
",
        &[
            r"2:16 mcpServers.a.native [wordpres] `wordpres` is not one of `demo`, `plain`, `wordpress`, `buddyboss`, `buddypress`, `woocommerce` or `heritage` => did you mean `wordpress`?",
        ],
    ),
    (
        r"mcpServers:
  a: { url: 'https://h/', serverUrl: 'https://h/' }
",
        &[r"2:27 mcpServers.a.serverUrl [serverUrl] `serverUrl` and `url` mean the same thing => keep `url`"],
    ),
    (
        r"mcpServers:
  a: { command: x, args: -y }
",
        &[
            r"2:26 mcpServers.a.args [-y] expected a list of arguments, found `-y` => write a list of arguments",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, args: [a, [b], {c: d}, null] }
",
        &[
            r"2:30 mcpServers.a.args[1] [[b]] expected an argument as a string, found a list => write an argument as a string",
            r"2:35 mcpServers.a.args[2] [{c: d}] expected an argument as a string, found a mapping => write an argument as a string",
            r"2:43 mcpServers.a.args[3] [null] expected an argument as a string, found nothing => write an argument as a string",
        ],
    ),
    (
        r#"mcpServers:
  a: { command: "x\0", args: ["\0"], cwd: "\0", env: { A: "\0" } }
"#,
        &[
            r#"2:17 mcpServers.a.command ["x\0"] a NUL character cannot be passed to a program => remove it"#,
            r#"2:31 mcpServers.a.args[0] ["\0"] a NUL character cannot be passed to a program => remove it"#,
            r#"2:43 mcpServers.a.cwd ["\0"] a NUL character cannot be passed to a program => remove it"#,
            r#"2:59 mcpServers.a.env.A ["**"] a NUL character cannot be passed to a program => remove it"#,
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, env: { 'A=B': x, 'C D': x, E: null, F: [x] } }
",
        &[
            r"2:27 mcpServers.a.env.A=B ['A=B'] an environment variable's name cannot be empty or contain `=` or spaces => write NAME: value, not NAME=value",
            r"2:37 mcpServers.a.env.C D ['C D'] an environment variable's name cannot be empty or contain `=` or spaces => write NAME: value, not NAME=value",
            r#"2:50 mcpServers.a.env.E [null] expected a value as a string, such as "" or "${NAME}", found nothing => write a value as a string, such as "" or "${NAME}""#,
            r#"2:59 mcpServers.a.env.F [[*]] expected a value as a string, such as "" or "${NAME}", found a list => write a value as a string, such as "" or "${NAME}""#,
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, env: [A=hush] }
",
        &[
            r"2:25 mcpServers.a.env [[******]] expected a mapping of variables and values, found a list => write a mapping of variables and values",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, env: 'A=hush' }
",
        &[
            r"2:25 mcpServers.a.env ['******'] expected a mapping of variables and values, found `'******'` => write a mapping of variables and values",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, disabled: nope }
",
        &[r"2:30 mcpServers.a.disabled [nope] expected true or false, found `nope` => write true or false"],
    ),
    (
        r"mcpServers:
  a: { command: x, affinity: session, dedicatedConnections: 0 }
",
        &[
            r"2:61 mcpServers.a.dedicatedConnections [0] a single connection for all clients contradicts `affinity` => remove `affinity`, or allow dedicated connections",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, affinity: sesion }
",
        &[
            r"2:30 mcpServers.a.affinity [sesion] `sesion` is not one of `shared`, `session` or `caller` => did you mean `session`?",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, definitions: holdd }
",
        &[
            r"2:33 mcpServers.a.definitions [holdd] `holdd` is not one of `warn`, `hold` or `allow` => did you mean `hold`?",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, timeout: 0 }
",
        &[r"2:29 mcpServers.a.timeout [0] a timeout of 0ms is out of range => write a time from 1ms to 1h"],
    ),
    (
        r"mcpServers:
  a: { command: x, timeout: 2h }
",
        &[r"2:29 mcpServers.a.timeout [2h] a timeout of 2h is out of range => write a time from 1ms to 1h"],
    ),
    (
        r"mcpServers:
  a: { command: x, timeout: 7200000 }
",
        &[
            r"2:29 mcpServers.a.timeout [7200000] a timeout of 2h is out of range => write a time from 1ms to 1h",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, timeout: soon }
",
        &[
            r"2:29 mcpServers.a.timeout [soon] expected a time such as 30s or 2m, or a number of seconds, found `soon` => write a time such as 30s or 2m, or a number of seconds",
        ],
    ),
    (
        r"mcpServers:
  a: { command: x, command: y }
  a: { native: demo }
",
        &[
            r"2:20 mcpServers.a.command [command] the key `command` occurs twice => keep one of the two",
            r"3:3 mcpServers.a [a] the key `a` occurs twice => keep one of the two",
        ],
    ),
];

#[test]
fn faults_of_servers() {
    for (text, wanted) in SERVERS {
        same(text, &faults_in_short(text), wanted);
    }
}
