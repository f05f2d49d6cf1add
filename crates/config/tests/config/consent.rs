//! `oauth` of a server and `publicUrl`: accepted values, and the exact text of every fault.

use dragoman_config::{Link, Text};

use crate::{faults_in_short, loaded, notes_in_short, same};

#[test]
fn what_is_said_of_consent_is_read() {
    let text = "
mcpServers:
  all: { url: 'https://h/mcp', oauth: { clientId: 'by hand', clientSecret: '${SECRET}', issuer: 'https://id.example.com/', scopes: [read, 'a:b'] } }
  some: { type: sse, url: 'http://localhost/sse', oauth: { scopes: read, shared: true } }
  none: { url: 'https://h/mcp' }
publicUrl: 'https://gate.example.com/dragoman/'
";
    let config = loaded(text).config;
    let oauth = |name: &str| match &config.mcp_servers[name].link {
        Link::Http(http) => http.oauth.clone(),
        _ => panic!("a URL"),
    };
    let all = oauth("all").expect("a client");
    assert_eq!(all.client_id.as_ref().map(Text::expose), Some("by hand"));
    assert!(all.client_secret.as_ref().is_some_and(Text::hides));
    assert_eq!(all.issuer.as_deref(), Some("https://id.example.com"));
    assert_eq!(all.scopes, ["read", "a:b"]);
    let some = oauth("some").expect("scopes");
    assert_eq!((&*some.scopes, some.shared, all.shared), (&["read".to_owned()][..], true, false));
    assert_eq!(oauth("none"), None);
    assert_eq!(config.public_url.as_deref(), Some("https://gate.example.com/dragoman"));
    assert_eq!(notes_in_short(text), [""; 0]);
}

const FAULTS: &[(&str, &[&str])] = &[
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: { grant: clientCredentials, shared: true } } }\n",
        &[
            "1:58 mcpServers.a.oauth.grant [clientCredentials] `clientCredentials` needs clientId and clientSecret => set clientId, \
             clientSecret and issuer to the values of a client that is registered at the authorization server",
            "1:77 mcpServers.a.oauth.shared [shared] `shared` applies to the consent of users, but `clientCredentials` asks for \
             none => remove it",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: { shared: sometimes } } }\n",
        &[
            "1:59 mcpServers.a.oauth.shared [sometimes] expected true or false, found `sometimes` => write true or false",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: [] } }\n",
        &[
            "1:49 mcpServers.a.oauth [[]] expected a mapping with `grant`, `clientId`, `clientSecret`, `issuer`, `issuerCallback`, `scopes`, `shared`, found a list => write a mapping with `grant`, `clientId`, `clientSecret`, `issuer`, `issuerCallback`, `scopes`, `shared`",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', headers: { authorization: x }, oauth: { scopes: 'a b' } } }\n",
        &[
            "1:73 mcpServers.a.oauth [oauth] `oauth` cannot be combined with an `Authorization` header => keep `headers` to send \
             a token of your own, or `oauth` to ask users for their consent",
            "1:90 mcpServers.a.oauth.scopes ['a b'] a scope is one word of visible ASCII characters => write several as a list",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: { clientSecret: x, clientid: y, other: 1 } } }\n",
        &[
            "1:51 mcpServers.a.oauth.clientSecret [clientSecret] `clientSecret` has no `clientId` => add `clientId`, the client \
             that the secret belongs to",
            "1:51 mcpServers.a.oauth.clientSecret [clientSecret] without `issuer`, the secret would be sent to any authorization \
             server that the server names => add `issuer`, the URL of the authorization server that knows the client",
            "1:68 mcpServers.a.oauth.clientid [clientid] unknown key `clientid` => did you mean `clientId`?",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: { clientId: x, clientSecret: y } } }\n",
        &[
            "1:64 mcpServers.a.oauth.clientSecret [clientSecret] without `issuer`, the secret would be sent to any authorization \
             server that the server names => add `issuer`, the URL of the authorization server that knows the client",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: { issuer: 'http://id.example.com' } } }\n",
        &[
            "1:59 mcpServers.a.oauth.issuer ['http://id.example.com'] over http, anyone on the network path could impersonate this server => write https://",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', oauth: { clientId: '' } } }\n",
        &[
            "1:61 mcpServers.a.oauth.clientId [''] this is empty or contains characters that are not printable ASCII => copy it \
             again from the authorization server",
        ],
    ),
    (
        "mcpServers: { a: { command: x, oauth: {} } }\n",
        &["1:32 mcpServers.a.oauth [oauth] `oauth` cannot be combined with `command` => remove \
             it; it has no effect together with `command`"],
    ),
    (
        "mcpServers: {}\npublicUrl: 'http://gate.example.com'\n",
        &[
            "2:12 publicUrl ['http://gate.example.com'] over http, anyone on the network path could impersonate this server => write https://",
        ],
    ),
    (
        "mcpServers: {}\npublicUrl: 'https://gate.example.com/?x'\n",
        &[
            "2:12 publicUrl ['https://gate.example.com/?*'] this address cannot have a query => remove the `?` and what follows it",
        ],
    ),
];

#[test]
fn faults_of_consent() {
    for (text, wanted) in FAULTS {
        same(text, &faults_in_short(text), wanted);
    }
}
