//! Faults in `auth`, in short form.

use crate::{faults_in_short, same};

const AUTH: &[(&str, &[&str])] = &[
    (
        r"mcpServers: {}
auth: [a]
",
        &[
            r"2:7 auth [[a]] expected a mapping with `bearer`, `keys`, `jwt`, …, found a list => write a mapping with `bearer`, `keys`, `jwt`, …",
        ],
    ),
    (
        r"mcpServers: {}
auth: { bearr: x, users: [a], keys: perhaps, site: s, oauth: o, jwt: j }
",
        &[
            r"2:9 auth.bearr [bearr] unknown key `bearr` => did you mean `bearer`?",
            r"2:26 auth.users [[*]] expected a mapping of password hashes by name, found a list => write a mapping of password hashes by name",
            r"2:37 auth.keys [perhaps] expected true or false, found `perhaps` => write true or false",
            r"2:52 auth.site [s] expected a mapping with `url`, found `s` => write a mapping with `url`",
            r"2:62 auth.oauth [o] expected a mapping with `resource`, found `o` => write a mapping with `resource`",
            r"2:70 auth.jwt [j] expected a mapping with `issuer`, or a list of such mappings, found `j` => write a mapping with `issuer`, or a list of such mappings",
        ],
    ),
    (
        r"mcpServers: {}
auth: { bearer: '' }
",
        &[
            r#"2:17 auth.bearer [''] the token is empty => set the token; or, to require none while the variable is unset, write { token: "${TOKEN:-}", optional: true }"#,
        ],
    ),
    (
        r"mcpServers: {}
auth: { bearer: '${NONE}' }
",
        &[
            r"2:18 auth.bearer [${NONE}] the environment variable `NONE` is not set => set NONE before Dragoman starts, or give a value: ${NONE:-value}",
        ],
    ),
    (
        r"mcpServers: {}
auth: { bearer: { optional: true, tokn: hush } }
",
        &[r"2:35 auth.bearer.tokn [tokn] unknown key `tokn` => did you mean `token`?"],
    ),
    (
        r"mcpServers: {}
auth: { bearer: {} }
",
        &[r#"2:9 auth.bearer [bearer] `token` is missing => add it: token: "${TOKEN}""#],
    ),
    (
        r"mcpServers: {}
auth: { bearer: 'two hushes' }
",
        &[
            r"2:17 auth.bearer ['*** ******'] a bearer token must consist of visible ASCII characters without spaces => generate one, for example with: openssl rand -hex 32",
        ],
    ),
    (
        r"mcpServers: {}
auth:
  users:
    a:b: hush
    ann: hush
    bob: $argon2id$v=19$m=19456,t=2,p=1$hush
    cat: $argon2id$v=19$m=99999999,t=2,p=1$aHVzaGh1c2g$aHVzaGh1c2hodXNoaHVzaA
    dan: $argon2id$v=16$m=19456,t=2,p=1$aHVzaGh1c2g$aHVzaGh1c2hodXNoaHVzaA
    eve: [x]
",
        &[
            r"4:5 auth.users.a:b [a:b] a user's name must have 1 to 128 bytes and no colon => write a name such as ann",
            r#"4:10 auth.users.a:b [****] this is not an argon2id hash; do not write the password itself here => generate one: echo -n PASSWORD | argon2 "$(openssl rand -hex 8)" -id -e"#,
            r#"5:10 auth.users.ann [****] this is not an argon2id hash; do not write the password itself here => generate one: echo -n PASSWORD | argon2 "$(openssl rand -hex 8)" -id -e"#,
            r#"6:10 auth.users.bob [***********************************] this argon2id hash is incomplete => generate one: echo -n PASSWORD | argon2 "$(openssl rand -hex 8)" -id -e"#,
            r#"7:10 auth.users.cat [********************************************************************] the cost of this hash is out of range: at most m=1048576,t=64,p=16, and at least m=8 per lane => generate one: echo -n PASSWORD | argon2 "$(openssl rand -hex 8)" -id -e"#,
            r#"8:10 auth.users.dan [*****************************************************************] this argon2id hash is incomplete => generate one: echo -n PASSWORD | argon2 "$(openssl rand -hex 8)" -id -e"#,
            r"9:10 auth.users.eve [[*]] expected an argon2id hash as a string, found a list => write an argon2id hash as a string",
        ],
    ),
    (
        r"mcpServers: {}
auth: { site: {} }
",
        &[r"2:9 auth.site [site] there is no `url` => add it: url: https://example.com"],
    ),
    (
        r"mcpServers: {}
auth: { site: { url: 'h', capability: 'edit posts', cache: 2h, x: 1 } }
",
        &[
            r"2:22 auth.site.url ['h'] this URL has no scheme => put `https://` or `http://` in front",
            r"2:39 auth.site.capability ['edit posts'] this name must have 1 to 64 characters from `A-Z a-z 0-9 - _` => correct it",
            r"2:60 auth.site.cache [2h] 2h is out of range => write a value from 0ms to 1h",
            r"2:64 auth.site.x [x] unknown key `x` => remove it; known keys: url, capability, cache",
        ],
    ),
    (
        r"mcpServers: {}
auth: { site: { url: 'https://h/?a=hush' } }
",
        &[
            r"2:22 auth.site.url ['https://h/?******'] this address cannot have a query => remove the `?` and what follows it",
        ],
    ),
    (
        r"mcpServers: {}
auth: { jwt: { issuer: 'https://id.example.com?a' }, oauth: { resource: 'https://h/mcp?a' } }
",
        &[
            r"2:24 auth.jwt[0].issuer ['https://id.example.com?*'] this address cannot have a query => remove the `?` and what follows it",
            r"2:73 auth.oauth.resource ['https://h/mcp?*'] this address cannot have a query => remove the `?` and what follows it",
        ],
    ),
    (
        r"mcpServers: {}
auth: { jwt: [] }
",
        &[r"2:14 auth.jwt [[]] this list has 0 issuers => write 1 to 64 issuers, or remove the key"],
    ),
    (
        r"mcpServers: {}
auth: { jwt: { issuer: 'https://id.example.com' } }
",
        &[
            r"2:14 auth.jwt[0] [] tokens issued for other services would be accepted => set `audience` to the value of `aud` in the issuer's tokens, such as https://mcp.example.com/mcp, or set `oauth.resource`",
        ],
    ),
    (
        r"mcpServers: {}
auth: { jwt: [ { issuer: 'http://id.example.com', audience: a }, { audience: '', jwks: 'h', algorithms: [none, HS256, RS25, X], clockSkew: 1h } ] }
",
        &[
            r"2:26 auth.jwt[0].issuer ['http://id.example.com'] over http, anyone on the network path could impersonate this server => write https://",
            r"2:66 auth.jwt[1] [] there is no `issuer` => add it: issuer: https://id.example.com",
            r"2:78 auth.jwt[1].audience [''] an audience cannot be empty => write the value of `aud` in the tokens",
            r"2:88 auth.jwt[1].jwks ['h'] this URL has no scheme => put `https://` or `http://` in front",
            r"2:106 auth.jwt[1].algorithms[0] [none] tokens without a signature can be forged by anybody => available: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA",
            r"2:112 auth.jwt[1].algorithms[1] [HS256] `HS256` needs a shared secret, but an issuer's keys are public => available: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA",
            r"2:119 auth.jwt[1].algorithms[2] [RS25] unknown signature algorithm `RS25` => did you mean `RS256`?",
            r"2:125 auth.jwt[1].algorithms[3] [X] unknown signature algorithm `X` => available: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA",
            r"2:140 auth.jwt[1].clockSkew [1h] 1h is out of range => write a value from 0ms to 5m",
        ],
    ),
    (
        r"mcpServers: {}
auth: { jwt: [ { issuer: 'https://h', audience: a }, { issuer: 'https://h', audience: [] } ] }
",
        &[
            r"2:54 auth.jwt [{ issuer: 'https://h', audience: [] }] this issuer occurs twice => merge the two, with both audiences",
            r"2:87 auth.jwt[1].audience [[]] this is empty => add an entry, or remove the key",
        ],
    ),
    (
        r"mcpServers: {}
auth: { oauth: { scopes: ['a b'], requiredScopes: [''] } }
",
        &[
            r"2:9 auth.oauth [oauth] there is no `resource` => add it: resource: https://mcp.example.com/mcp",
            r"2:9 auth.oauth [oauth] no issuer is configured, so no token would be accepted => add the issuer: jwt: { issuer: https://id.example.com }",
            r"2:27 auth.oauth.scopes[0] ['a b'] a scope is one word of visible ASCII characters => write several as a list",
            r"2:52 auth.oauth.requiredScopes[0] [''] a scope is one word of visible ASCII characters => write several as a list",
        ],
    ),
    (
        r"mcpServers: {}
auth: { oauth: { resource: 'https://h/mcp' } }
",
        &[
            r"2:9 auth.oauth [oauth] no issuer is configured, so no token would be accepted => add the issuer: jwt: { issuer: https://id.example.com }",
        ],
    ),
    (
        r"mcpServers: {}
auth: { oauth: { resource: 'http://h/mcp#x' }, jwt: { issuer: 'https://i' } }
",
        &[
            r"2:28 auth.oauth.resource ['http://h/mcp#x'] a URL cannot have a fragment => remove the `#` and what follows it",
        ],
    ),
    (
        "mcpServers: { docs: { native: demo } }\nauth: { login: facebook }\n",
        &[
            r"2:16 auth.login [facebook] people can sign in only with an account at a WordPress site => write login: wordpress",
        ],
    ),
    (
        "mcpServers: { docs: { native: demo } }\nauth: { login: { site: x, idle: 5m, sites: ['ftp://h', 'https://h?x'] } }\n",
        &[
            "2:18 auth.login.site [site] unknown key `site` => did you mean `sites`?",
            "2:33 auth.login.idle [5m] 5m is out of range => write a value from 1h to 365d",
            "2:45 auth.login.sites[0] ['ftp://h'] a URL must start with `https://` or `http://` => write it like https://docs.example.com/mcp",
            "2:56 auth.login.sites[1] ['https://h?*'] this address cannot have a query => remove the `?` and what follows it",
        ],
    ),
    (
        "mcpServers: { docs: { native: demo } }\nmanagement: true\nauth: { login: wordpress }\n",
        &[
            "2:1 management [management] everybody who can log in through `auth.login` may change servers here, and can therefore start programs on this machine => restrict this: `management: { who: { user: [NAME] } }`",
        ],
    ),
];

#[test]
fn faults_of_auth() {
    for (text, wanted) in AUTH {
        same(text, &faults_in_short(text), wanted);
    }
}

#[test]
fn tokens_and_hashes_are_hidden_even_in_a_broken_file() {
    let text =
        "auth:\n  bearer: hush\n  users:\n    ann: hush\n    bob: [hush\n  jwt: { issuer: 'https://i' }\n";
    let shown = crate::rendered(text);
    assert!(shown.contains("error: this is not valid YAML") && !shown.contains("hush"), "{shown}");
    for line in [
        "bearer: [hush",
        "  bearer: { token: hush, ]",
        "users: { ann: hush",
        "\"users\": { \"ann\": \"hush }",
    ] {
        let shown = crate::rendered(&format!("auth:\n  {line}\n"));
        assert!(!shown.contains("hush"), "{shown}");
    }
}
