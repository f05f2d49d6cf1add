use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn proxies(variables: &[(&str, &str)]) -> EnvironmentProxies {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    EnvironmentProxies::read(&|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn chosen(proxies: &EnvironmentProxies, secure: bool, host: &str) -> String {
    match proxies.choose(secure, host, if secure { 443 } else { 80 }) {
        Ok(proxy) => proxy.map_or("none".to_owned(), |proxy| proxy.to_string()),
        Err(why) => why.variable.to_owned(),
    }
}

#[test]
fn urls_of_proxies() {
    let read = |url: &str| ForwardProxy::parse(url).map(|proxy| (proxy.to_string(), proxy.is_secure()));
    for (url, shown, secure) in [
        ("http://proxy.corp:3128", "proxy.corp:3128", false),
        ("http://Proxy.Corp:3128/", "proxy.corp:3128", false),
        ("proxy:8080", "proxy:8080", false),
        ("proxy", "proxy:80", false),
        ("HTTPS://proxy", "proxy:443", true),
        ("http://[::1]:3128", "[::1]:3128", false),
        ("http://user:pass@10.0.0.1:1", "10.0.0.1:1", false),
        ("http://user:p@ss@10.0.0.1:1", "10.0.0.1:1", false),
    ] {
        assert_eq!(read(url), Ok((shown.to_owned(), secure)), "{url}");
    }
    for (url, fault) in [
        ("socks5://proxy:1080", ProxyUrlFault::Scheme),
        ("ftp://proxy", ProxyUrlFault::Scheme),
        ("http://", ProxyUrlFault::Host),
        ("http://:80", ProxyUrlFault::Host),
        ("http://proxy:0", ProxyUrlFault::Host),
        ("http://proxy:99999", ProxyUrlFault::Host),
        ("http://proxy:", ProxyUrlFault::Host),
        ("http://pro xy:1", ProxyUrlFault::Host),
        ("http://proxy:1/path", ProxyUrlFault::Path),
        ("http://proxy:1?x", ProxyUrlFault::Path),
        ("http://a%3Ab:c@proxy:1", ProxyUrlFault::Credentials),
        ("http://a%0d%0ax:c@proxy:1", ProxyUrlFault::Credentials),
        ("http://a%zz:c@proxy:1", ProxyUrlFault::Credentials),
        ("http://a%ff:c@proxy:1", ProxyUrlFault::Credentials),
    ] {
        assert_eq!(read(url), Err(fault), "{url}");
    }
}

#[test]
fn credentials_are_sent_but_never_shown() {
    let proxy = ForwardProxy::parse("http://us%65r:p%3Ass%20word@proxy:1").unwrap();
    let value = proxy.authorization().unwrap();
    assert!(value.is_sensitive());
    assert_eq!(value, "Basic dXNlcjpwOnNzIHdvcmQ=");
    assert_eq!(proxy.secrets().collect::<Vec<_>>(), ["dXNlcjpwOnNzIHdvcmQ=", "p:ss word"]);
    assert_eq!(format!("{proxy} {proxy:?}"), "proxy:1 ForwardProxy(proxy:1)");
    assert!(ForwardProxy::parse("http://proxy:1").unwrap().authorization().is_none());
    assert_ne!(
        proxy,
        ForwardProxy::parse("http://proxy:1").unwrap(),
        "credentials are part of the key of connections"
    );
}

#[test]
fn variables_are_read_as_curl_reads_them() {
    let both = proxies(&[
        ("HTTP_PROXY", "http://a:1"),
        ("https_proxy", "http://b:2"),
        ("HTTPS_PROXY", "http://c:3"),
    ]);
    assert_eq!(
        (chosen(&both, false, "x.example"), chosen(&both, true, "x.example")),
        ("a:1".into(), "b:2".into())
    );
    let all = proxies(&[("ALL_PROXY", "http://d:4"), ("http_proxy", "")]);
    assert_eq!(
        (chosen(&all, false, "x.example"), chosen(&all, true, "x.example")),
        ("d:4".into(), "d:4".into())
    );
    let none = proxies(&[]);
    assert_eq!(
        (chosen(&none, false, "x.example"), chosen(&none, true, "x.example")),
        ("none".into(), "none".into())
    );
    let cgi =
        proxies(&[("REQUEST_METHOD", "POST"), ("HTTP_PROXY", "http://evil:1"), ("http_proxy", "http://a:1")]);
    assert_eq!(chosen(&cgi, false, "x.example"), "a:1");
    assert_eq!(
        chosen(&proxies(&[("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "http://evil:1")]), false, "x"),
        "none"
    );
}

#[test]
fn an_unusable_proxy_is_an_error_and_not_a_direct_connection() {
    let odd = proxies(&[("HTTPS_PROXY", "socks5://me:secret@proxy:1080"), ("NO_PROXY", "near.example")]);
    assert_eq!(chosen(&odd, true, "far.example"), "HTTPS_PROXY");
    assert_eq!(chosen(&odd, true, "near.example"), "none");
    assert_eq!(chosen(&odd, false, "far.example"), "none");
    let told: Vec<String> = odd.unusable().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("HTTPS_PROXY") && !told[0].contains("secret"), "{told:?}");
}

#[test]
fn this_machine_is_reached_without_a_proxy() {
    let all = proxies(&[("ALL_PROXY", "http://proxy:1")]);
    for host in [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.0.0.1",
        "127.8.9.1",
        "[::1]",
        "::1",
        "0.0.0.0",
        "::ffff:127.0.0.1",
    ] {
        assert_eq!(chosen(&all, false, host), "none", "{host}");
    }
    for host in ["localhost.example", "mylocalhost", "10.0.0.1", "128.0.0.1"] {
        assert_eq!(chosen(&all, false, host), "proxy:1", "{host}");
    }
}

#[test]
fn exempt_hosts() {
    let exempt = ProxyExemptions::parse(
        " a.example,.b.example *.c.example,10.0.0.0/8,192.0.2.7,[2001:db8::1],2001:db8:1::/48 d.example:8080,\
         192.0.2.9:99,[2001:db8::9]:99,E.Example.,/,:,x:y,10.0.0.0/99,::/0x",
    );
    for (host, port) in [
        ("a.example", 1),
        ("x.y.a.example", 1),
        ("A.EXAMPLE.", 1),
        ("b.example", 1),
        ("x.b.example", 1),
        ("c.example", 1),
        ("x.c.example", 1),
        ("10.1.2.3", 1),
        ("::ffff:10.1.2.3", 1),
        ("192.0.2.7", 1),
        ("[2001:db8::1]", 1),
        ("2001:db8:1:2::3", 1),
        ("x.d.example", 8080),
        ("192.0.2.9", 99),
        ("2001:db8::9", 99),
        ("e.example", 1),
    ] {
        assert!(exempt.covers(host, port), "{host}:{port}");
    }
    for (host, port) in [
        ("xa.example", 1),
        ("a.example.evil", 1),
        ("example", 1),
        ("11.0.0.1", 1),
        ("10.0.0.1.evil.example", 1),
        ("192.0.2.77", 1),
        ("d.example", 80),
        ("192.0.2.9", 98),
        ("x", 1),
        ("", 1),
    ] {
        assert!(!exempt.covers(host, port), "{host}:{port}");
    }
    assert!(ProxyExemptions::parse("x, *").covers("any.example", 1));
    assert!(!ProxyExemptions::parse("").covers("any.example", 1));
}

proptest! {
    #[test]
    fn a_name_is_exempt_with_all_names_below_it_and_no_other(
        name in "[a-z]{1,8}(\\.[a-z]{1,8}){0,2}", label in "[a-z0-9]{1,6}", port in 1..=u16::MAX,
    ) {
        let exempt = ProxyExemptions::parse(&name);
        prop_assert!(exempt.covers(&name, port));
        let below = format!("{label}.{name}");
        prop_assert!(exempt.covers(&below, port));
        let beside = format!("{label}{name}");
        prop_assert!(!exempt.covers(&beside, port));
    }

    #[test]
    fn any_text_is_read(url in ".{0,60}", host in ".{0,30}") {
        let _ = ForwardProxy::parse(&url);
        ProxyExemptions::parse(&url).covers(&host, 1);
        is_loopback_host(&host);
    }

    #[test]
    fn what_a_url_says_is_what_is_sent(user in "[a-z ]{1,8}", password in "[ -~]{0,12}") {
        use base64::Engine as _;
        let encoded: Vec<String> = password.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let encoded = encoded.concat();
        let proxy = ForwardProxy::parse(&format!("http://{}:{encoded}@proxy:1", user.replace(' ', "%20"))).unwrap();
        let pair = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{password}"));
        let value = proxy.authorization().unwrap();
        prop_assert_eq!(value.to_str().unwrap(), format!("Basic {pair}"));
    }
}
