//! Servers with certificates of a private authority, and servers that accept only clients with a certificate.

use crate::called;
use crate::forward::TlsFront;
use crate::support::*;
use crate::tls::Authority;

async fn front(puppet: &Puppet, authority: &Authority, clients: Option<&Authority>) -> TlsFront {
    let address = puppet.url()["http://".len()..].trim_end_matches("/mcp").parse().expect("an address");
    TlsFront::open(address, authority, clients).await
}

#[tokio::test]
async fn an_own_authority_and_a_client_certificate() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let front = front(&puppet, &authority, Some(&clients)).await;
    let (cert, key) = clients.server(&["dragoman"]);
    let (stranger, strange_key) = Authority::new().server(&["dragoman"]);
    let (ca, other) = (authority.pem(), Authority::new().pem());
    let files = [
        ("ca.pem", &*ca),
        ("other.pem", &other),
        ("cert.pem", &cert),
        ("key.pem", &key),
        ("stranger.pem", &stranger),
        ("strange-key.pem", &strange_key),
    ];
    let url = format!("https://localhost:{}/mcp", front.address.port());
    let server = |tls: &str| format!("{{ url: '{url}'{tls} }}");
    let config = format!(
        "mcpServers:\n  right: {}\n  bare: {}\n  nobody: {}\n  stranger: {}\n  elsewhere: {}\n",
        server(", tls: { ca: ca.pem, cert: cert.pem, key: key.pem }"),
        server(""),
        server(", tls: { ca: ca.pem }"),
        server(", tls: { ca: ca.pem, cert: stranger.pem, key: strange-key.pem }"),
        server(", tls: { ca: other.pem, cert: cert.pem, key: key.pem }"),
    );
    let with = Start { config: &config, files: &files, ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    assert_eq!(called(&gateway, "right__ok").await, "ok");
    let listed = run_to_end("list", &Start { args: &["right"], ..with.clone() }).await;
    assert!(listed.out.contains("ok"), "{} {}", listed.out, listed.err);
    for (name, says) in [
        ("bare", "add that authority's certificate with `tls: { ca: FILE }` for this server"),
        (
            "nobody",
            "the server requires a client certificate: set `tls: { cert: FILE, key: FILE }` for this server",
        ),
        ("stranger", "the server refuses the client certificate: check the server's `tls.cert`"),
        ("elsewhere", "add that authority's certificate with `tls: { ca: FILE }` for this server"),
    ] {
        let listed = run_to_end("list", &Start { args: &[name], ..with.clone() }).await;
        assert!(listed.err.contains(says), "{name}: {}", listed.err);
    }
}

#[tokio::test]
async fn check_names_files_that_do_not_fit() {
    let authority = Authority::new();
    let ((cert, key), (_, other_key)) = (authority.server(&["a"]), authority.server(&["b"]));
    let files = [("cert.pem", &*cert), ("key.pem", &*key), ("other-key.pem", &*other_key), ("empty.pem", "")];
    let config = "mcpServers:\n  \
        fits: { url: 'https://a.example/mcp', tls: { cert: cert.pem, key: key.pem } }\n  \
        missing: { url: 'https://a.example/mcp', tls: { ca: no-such-file.pem } }\n  \
        empty: { url: 'https://a.example/mcp', tls: { ca: empty.pem } }\n  \
        unfit: { url: 'https://a.example/mcp', tls: { cert: cert.pem, key: other-key.pem } }\n  \
        off: { url: 'https://a.example/mcp', disabled: true, tls: { ca: no-such-file.pem } }\n";
    let checked = run_to_end("check", &Start { config, files: &files, ..Start::default() }).await;
    assert_eq!(checked.code, Some(0), "{}", checked.err);
    for (name, key, file, why) in [
        ("missing", "tls.ca", "no-such-file.pem", "cannot read the file"),
        ("empty", "tls.ca", "empty.pem", "the file contains no certificate"),
        ("unfit", "tls.key", "other-key.pem", "the key does not match the certificate"),
    ] {
        let line =
            checked.err.lines().find(|line| line.contains(&format!("server `{name}`")) && line.contains(key));
        let line = line.unwrap_or_else(|| panic!("nothing about {name}: {}", checked.err));
        assert!(line.contains(file) && line.contains(why), "{line}");
    }
    assert!(!checked.err.contains("`fits` cannot") && !checked.err.contains("`off`"), "{}", checked.err);
    // The key is readable by others in this test's folder.
    assert!(checked.err.contains("`tls.key` of the server `fits`: other users can read"), "{}", checked.err);
}

#[tokio::test]
async fn new_files_count_without_a_restart() {
    let (first, second) = (Authority::new(), Authority::new());
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let front = front(&puppet, &second, None).await;
    let config = format!(
        "mcpServers: {{ up: {{ url: 'https://localhost:{}/mcp', tls: {{ ca: ca.pem }} }} }}\n",
        front.address.port()
    );
    let ca = first.pem();
    let with = Start { config: &config, files: &[("ca.pem", &*ca)], ..Start::default() };
    let gateway = Gateway::start_with(&with).await;
    gateway.log().has("is not signed by a trusted authority").await;
    let new = gateway.folder().join("new.pem");
    std::fs::write(&new, second.pem()).expect("a file in the own folder");
    std::fs::rename(new, gateway.folder().join("ca.pem")).expect("a file in the own folder");
    soon("an answer", async { while called(&gateway, "up__ok").await != "ok" {} }).await;
}
