//! The files of `tls`: refusals of and notes about files, and changes to files.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::is_served;
use crate::rig::{Authority, Bridge, Client, gateway, gateway_with};
use crate::support::*;

fn put(gateway: &Gateway, name: &str, text: &str) {
    let new = gateway.folder().join("new");
    std::fs::write(&new, text).expect("a file");
    std::fs::rename(new, gateway.folder().join(name)).expect("a file");
}

const READ: &str = "reloaded the TLS certificate";
const KEPT: &str = "the old certificate stays in use";

#[tokio::test]
async fn new_files_count_and_bad_ones_do_not() {
    let (first, second) = (Authority::new(), Authority::new());
    let gateway = gateway(&first, "").await;
    let (old, new) = (Client::trusting(&first), Client::trusting(&second));
    assert!(is_served(&gateway, &old).await && !is_served(&gateway, &new).await);
    let bridge = Bridge::open(gateway.http().address, old.clone()).await;
    let session = Legacy::open(bridge.http()).await;
    let open = session.listen().await;
    // A key that does not belong to the certificate.
    let (cert, key) = second.server(&["localhost"]);
    put(&gateway, "cert.pem", &cert);
    gateway.log().has(KEPT).await;
    assert!(gateway.log().text().contains("the key does not match the certificate; use the key"));
    assert!(is_served(&gateway, &old).await && !is_served(&gateway, &new).await);
    put(&gateway, "key.pem", &key);
    gateway.log().has(READ).await;
    assert!(is_served(&gateway, &new).await && !is_served(&gateway, &old).await);
    // Open connections continue.
    assert!(open.is_stream());
    drop(bridge);
    let bridge = Bridge::open(gateway.http().address, new.clone()).await;
    let headers = session.headers();
    let body =
        request(9, "tools/call", &json!({"name": "demo__echo", "arguments": {"text": "x"}})).to_string();
    assert_eq!(bridge.http().post("/mcp", &headers, &body).await.status, 200);
    // First no file at all, then half a file.
    std::fs::remove_file(gateway.folder().join("cert.pem")).expect("it is there");
    gateway.log().has_times(KEPT, 2).await;
    put(&gateway, "cert.pem", &cert[..cert.len() / 2]);
    gateway.log().has_times(KEPT, 3).await;
    assert!(is_served(&gateway, &new).await);
    // Each fault is reported once, although the files are checked every second.
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    assert_eq!(gateway.log().text().matches(KEPT).count(), 3, "{}", gateway.log().text());
    put(&gateway, "cert.pem", &cert);
    gateway.log().has_times(READ, 2).await;
    gateway.signal(rustix::process::Signal::HUP);
    gateway.log().has_times(READ, 3).await;
    assert!(is_served(&gateway, &new).await);
    assert!(!gateway.log().text().contains("PRIVATE KEY"), "{}", gateway.log().text());
}

#[tokio::test]
async fn authorities_of_clients_are_exchanged_too() {
    let authority = Authority::new();
    let (first, second) = (Authority::new(), Authority::new());
    let (cert, key) = authority.server(&["localhost"]);
    let files = [("clients.pem", &*first.pem())];
    let gateway = gateway_with(&cert, &key, &files, ", clientCa: clients.pem", "").await;
    let known = |of: &Authority| Client::showing(&authority, &of.server(&["someone"]));
    let (one, two) = (known(&first), known(&second));
    assert!(is_served(&gateway, &one).await && !is_served(&gateway, &two).await);
    put(&gateway, "clients.pem", &(first.pem() + &second.pem()));
    gateway.log().has(READ).await;
    assert!(is_served(&gateway, &one).await && is_served(&gateway, &two).await);
    put(&gateway, "clients.pem", &second.pem());
    gateway.log().has_times(READ, 2).await;
    assert!(!is_served(&gateway, &one).await && is_served(&gateway, &two).await);
}

/// Changes to the paths in `tls` apply after a restart; changes in the files apply at once.
#[tokio::test]
async fn other_files_count_from_a_restart_on() {
    let authority = Authority::new();
    let gateway = gateway(&authority, "").await;
    assert!(is_served(&gateway, &Client::trusting(&authority)).await);
    gateway.write("mcpServers: { demo: { native: demo } }\n");
    gateway.log().has("changes to tls take effect after a restart").await;
    assert!(is_served(&gateway, &Client::trusting(&authority)).await);
}

#[tokio::test]
async fn check_notes_what_is_wrong_with_the_files() {
    let authority = Authority::new();
    let (cert, key) = authority.server(&["localhost"]);
    let (_, other) = authority.server(&["localhost"]);
    let (old, old_key) = authority.signed(&["localhost"], |params| {
        params.not_after = rcgen::date_time_ymd(2021, 2, 3);
    });
    let (early, early_key) = authority.signed(&["localhost"], |params| {
        params.not_before = rcgen::date_time_ymd(3021, 2, 3);
        params.not_after = rcgen::date_time_ymd(3022, 2, 3);
    });
    let locked = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let ca = authority.pem();
    for (cert, key, client_ca, says) in [
        (&cert, &key, &ca, ""),
        (&cert, &other, &ca, "tls.key: ./key.pem: the key does not match the certificate"),
        (&key, &key, &ca, "tls.cert: ./cert.pem: the file contains no certificate"),
        (&cert, &cert, &ca, "tls.key: ./key.pem: the file contains no private key"),
        (&cert, &locked, &ca, "the key has a passphrase; remove the passphrase (`openssl pkey"),
        (&cert, &key, &key, "tls.clientCa: ./clients.pem: the file contains no certificate"),
        (&old, &old_key, &ca, "expired at 2021-02-03 00:00 UTC, so clients refuse it"),
        (&early, &early_key, &ca, "is not valid before 3021-02-03 00:00 UTC"),
    ] {
        let config = "tls: { cert: cert.pem, key: key.pem, clientCa: clients.pem }\nlisten: 0.0.0.0:0\nauth: { keys: true }\n\
                      mcpServers: { a: { native: demo } }\n";
        let files = [("cert.pem", cert.as_str()), ("key.pem", key), ("clients.pem", client_ca)];
        // The configuration's folder is also the process's; the files have the modes of the test's umask.
        let with = Start { config, files: &files, ..Start::default() };
        let ended = run_to_end("check", &with).await;
        assert_eq!(ended.code, Some(0), "{says}: {}", ended.err);
        let err = ended.err.replace(&*folder_of(&ended.out), ".");
        assert!(err.contains(says), "{says}: {err}");
        assert_eq!(
            err.lines().filter(|line| !line.contains("other users can read")).count() > 0,
            !says.is_empty(),
            "{says}: {err}"
        );
        // There is no longer a note about an address without TLS that others can reach.
        assert!(!err.contains("unencrypted"), "{err}");
        let has_bad_time = says.contains("expired") || says.contains("not valid before");
        if !says.is_empty() && !has_bad_time {
            assert!(err.contains("`dragoman serve` would not start"), "{err}");
            let ended = run_to_end("serve", &with).await;
            assert!(
                ended.code == Some(1) && ended.err.contains("tls."),
                "{says}: {:?} {}",
                ended.code,
                ended.err
            );
        }
    }
}

/// The folder of the configuration that `check` names.
fn folder_of(summary: &str) -> String {
    let file = summary.split(" is valid").next().unwrap_or_default();
    file.trim_end_matches("/dragoman.yaml").to_owned()
}

#[tokio::test]
async fn check_notes_who_can_read_the_key_and_what_is_missing() {
    let authority = Authority::new();
    let (cert, key) = authority.server(&["localhost"]);
    let folder =
        std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (cert_file, key_file) = (folder.join("c.pem"), folder.join("k.pem"));
    std::fs::write(&cert_file, cert).expect("a file");
    std::fs::write(&key_file, key).expect("a file");
    let config = format!(
        "tls: {{ cert: {:?}, key: {:?} }}\nmcpServers: {{ a: {{ native: demo }} }}\n",
        cert_file.display().to_string(),
        key_file.display().to_string()
    );
    let with = Start { config: &config, ..Start::default() };
    for (mode, is_noted) in [(0o604, true), (0o644, true), (0o640, false), (0o600, false)] {
        std::fs::set_permissions(&key_file, std::fs::Permissions::from_mode(mode)).expect("its own");
        let err = run_to_end("check", &with).await.err;
        assert_eq!(err.contains("tls.key: other users can read"), is_noted, "{mode:o}: {err}");
    }
    std::fs::remove_file(&key_file).expect("it is there");
    let err = run_to_end("check", &with).await.err;
    assert!(err.contains("tls.key") && err.contains("cannot read the file (No such file"), "{err}");
    std::fs::remove_dir_all(folder).expect("its own");
    // Without TLS, an address that others can reach leads to a note, unless a proxy is in front of it.
    let open = "listen: 0.0.0.0:0\nauth: { keys: true }\nmcpServers: { a: { native: demo } }\n";
    for (more, is_noted) in [("", true), ("publicUrl: https://mcp.example.com\n", false)] {
        let config = format!("{open}{more}");
        let err = run_to_end("check", &Start { config: &config, ..Start::default() }).await.err;
        assert_eq!(err.contains("crosses the network unencrypted; write `tls:"), is_noted, "{err}");
    }
}
