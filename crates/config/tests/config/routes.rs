//! `proxy`, `tls` and `passHeaders` of a server: accepted values, and the exact text of every fault.

use std::path::Path;

use dragoman_config::{ClientTls, Link, ProxyRule};

use crate::{faults_in_short, loaded, notes_in_short, same, try_load};

fn route(text: &str) -> (ProxyRule, Option<ClientTls>) {
    let config = loaded(&format!("mcpServers: {{ a: {{ {text} }} }}\n")).config;
    let (proxy, tls) = config.mcp_servers["a"].link.route().expect("requests over HTTP");
    (proxy.clone(), tls.cloned())
}

#[test]
fn the_way_to_a_server_is_read() {
    let url = "url: 'https://h/mcp'";
    assert_eq!(route(url), (ProxyRule::Environment, None));
    assert_eq!(route(&format!("{url}, proxy: environment")).0, ProxyRule::Environment);
    assert_eq!(route(&format!("{url}, proxy: none")).0, ProxyRule::Direct);
    let (ProxyRule::Through(proxy), _) =
        route(&format!("{url}, proxy: 'http://me:${{SECRET}}@p.example:3128'"))
    else {
        panic!("a proxy")
    };
    assert_eq!(proxy.expose(), "http://me:hush@p.example:3128");
    assert!(proxy.hides() && !format!("{proxy:?}").contains("hush"));
    let (_, Some(tls)) = route(&format!("{url}, tls: {{ ca: ca.pem, cert: /c.pem, key: k.pem }}")) else {
        panic!("files")
    };
    let there = tls.from_folder(Path::new("/etc"));
    let files = [&there.ca, &there.cert, &there.key].map(|file| file.as_deref().map(Path::to_path_buf));
    assert_eq!(files, ["/etc/ca.pem", "/c.pem", "/etc/k.pem"].map(|file| Some(file.into())));
    assert_eq!(route(&format!("{url}, tls: {{ ca: ca.pem }}")).1.map(|tls| tls.cert), Some(None));
    let site = "native: wordpress, site: { url: 'https://h' }, proxy: none, tls: { ca: ca.pem }";
    assert_eq!(route(site).0, ProxyRule::Direct);
    assert_eq!(
        notes_in_short(&format!("mcpServers: {{ a: {{ {url}, proxy: none, tls: {{ ca: c }} }} }}\n")),
        [""; 0]
    );
    let mut config = loaded(&format!("mcpServers: {{ a: {{ {url}, tls: {{ ca: ca.pem }} }} }}\n")).config;
    let Some(Link::Http(http)) = config.mcp_servers.get_mut("a").map(|server| {
        server.link.resolve_files(Path::new("/etc"));
        &server.link
    }) else {
        panic!("a URL")
    };
    assert_eq!(http.tls.as_ref().and_then(|tls| tls.ca.as_deref()), Some(Path::new("/etc/ca.pem")));
}

#[test]
fn no_password_of_a_proxy_is_shown() {
    for text in [
        "mcpServers: { a: { url: 'https://h/mcp', proxy: 'socks5://me:my-word@p:1' } }\n",
        "mcpServers: { a: { url: 'https://h/mcp', proxy: 'http://me:my-word@p:1/path' } }\n",
        "mcpServers: { a: { url: 'https://h/mcp', proxy: 'http://me:${SECRET}@p:1/path', x: other-word } }\n",
    ] {
        let faults = try_load(text).unwrap_err();
        let said = format!("{faults} {faults:?}");
        assert!(!said.contains("my-word") && !said.contains("hush"), "{said}");
    }
}

const FAULTS: &[(&str, &[&str])] = &[
    (
        "mcpServers: { a: { url: 'https://h/mcp', proxy: true, tls: {} } }\n",
        &[
            "1:49 mcpServers.a.proxy [true] this is not the URL of a usable proxy: it has no scheme => write it like \
             http://proxy.example.com:3128, or write `none`",
            "1:55 mcpServers.a.tls [tls] `tls` does not name a file => write ca: FILE, or cert: FILE and key: FILE, or remove `tls`",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', proxy: 'socks5://p:1' } }\n",
        &[
            "1:49 mcpServers.a.proxy ['socks5://p:1'] this is not the URL of a usable proxy: only HTTP proxies are supported, so \
             the URL must begin with http:// or https:// => write it like http://proxy.example.com:3128, or write `none`",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', tls: { cert: c } }, b: { url: 'https://h/mcp', tls: { ca: '', key: k } } }\n",
        &[
            "1:49 mcpServers.a.tls.cert [cert] `cert` has no `key` => name both the client's certificate and its private key",
            "1:100 mcpServers.b.tls.ca [''] the path is empty => write a path, or remove the key",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', headers: { X-A: 1 }, passHeaders: [x-a] } }\n",
        &[
            "1:63 mcpServers.a.passHeaders [passHeaders] `headers` already sets the header `x-a` => use only one of \
             `passHeaders` and `headers` for this header",
        ],
    ),
    (
        "mcpServers: { a: { url: 'https://h/mcp', passHeaders: [x-a, { from: x-b, to: x-a }, { from: x-c }, 'a b'] } }\n",
        &[
            "1:61 mcpServers.a.passHeaders[1] [{ from: x-b, to: x-a }] the server gets `x-a` twice => keep one of the two",
            "1:85 mcpServers.a.passHeaders[2] [{ from: x-c }] there is no `to` => write { from: NAME, to: NAME }",
            "1:100 mcpServers.a.passHeaders[3] ['a b'] this is not a valid header name => write a name such as Authorization",
        ],
    ),
    (
        "mcpServers: { a: { command: x, proxy: none }, b: { native: demo, tls: { ca: c } } }\n",
        &[
            "1:32 mcpServers.a.proxy [proxy] `proxy` cannot be combined with `command` => remove it; it has no effect together with \
             `command`",
            "1:66 mcpServers.b.tls [tls] `tls` cannot be combined with `native: demo` => remove it; it has no effect there",
        ],
    ),
];

#[test]
fn headers_to_pass_on_are_read() {
    let text = "mcpServers: { a: { url: 'https://h/mcp', passHeaders: [X-Tenant, { from: x-a, to: Authorization }] } }\n";
    let config = loaded(text).config;
    let Link::Http(http) = &config.mcp_servers["a"].link else { panic!("a URL") };
    let all: Vec<String> = http.pass_headers.iter().map(|one| format!("{} {}", one.from, one.to)).collect();
    assert_eq!(all, ["x-tenant x-tenant", "x-a authorization"]);
    let forbidden = "authorization cookie origin referer sec-fetch-site x-wordpress-password x-imgbb-api-key host connection \
        keep-alive transfer-encoding content-length content-type accept te trailer upgrade proxy-authorization mcp-session-id \
        mcp-anything mcp-param-x forwarded x-forwarded-for x-forwarded-anything x-real-ip via last-event-id";
    for name in forbidden.split_whitespace() {
        let text = format!(
            "mcpServers: {{ a: {{ url: 'https://h/mcp', passHeaders: [{{ from: {name}, to: x-a }}] }} }}\n"
        );
        let faults = faults_in_short(&text);
        assert!(faults.len() == 1 && faults[0].contains(&format!("`{name}`")), "{name}: {faults:?}");
    }
    for name in "host connection content-length mcp-session-id x-forwarded-for proxy-authorization".split(' ')
    {
        let text = format!(
            "mcpServers: {{ a: {{ url: 'https://h/mcp', passHeaders: [{{ from: x-a, to: {name} }}] }} }}\n"
        );
        assert_eq!(faults_in_short(&text).len(), 1, "{name}");
    }
    let many: Vec<String> = (0..17).map(|number| format!("x-{number}")).collect();
    let text =
        format!("mcpServers: {{ a: {{ url: 'https://h/mcp', passHeaders: [{}] }} }}\n", many.join(", "));
    assert!(faults_in_short(&text)[0].contains("this list has 17 headers"), "{:?}", faults_in_short(&text));
}

#[test]
fn faults_on_the_way_to_a_server() {
    for (text, wanted) in FAULTS {
        same(text, &faults_in_short(text), wanted);
    }
}
