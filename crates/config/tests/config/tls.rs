//! `tls`: accepted values, and the exact text of every fault.

use std::path::Path;

use crate::{faults_in_short, loaded, notes_in_short, same};

#[test]
fn files_are_named() {
    let text = "tls: { cert: cert.pem, key: '/run/${NONE:-secrets}/key.pem', clientCa: ../ca.pem }\nmcpServers: { a: { command: x } }\n";
    let tls = loaded(text).config.tls.expect("files");
    assert_eq!(tls.cert, Path::new("cert.pem"));
    assert_eq!(tls.key, Path::new("/run/secrets/key.pem"));
    let there = tls.from_folder(Path::new("/etc/dragoman"));
    assert_eq!(there.cert, Path::new("/etc/dragoman/cert.pem"));
    assert_eq!(there.key, tls.key, "an absolute path stays");
    assert_eq!(there.client_ca.as_deref(), Some(Path::new("/etc/dragoman/../ca.pem")));
    assert_eq!(notes_in_short(text), [""; 0]);
    assert_eq!(loaded("mcpServers: { a: { command: x } }\n").config.tls, None);
}

const FAULTS: &[(&str, &[&str])] = &[
    (
        "tls: true\nmcpServers: {}\n",
        &[
            "1:6 tls [true] expected a mapping with `cert` and `key`, found `true` => write a mapping with `cert` and `key`",
        ],
    ),
    (
        "tls: {}\nmcpServers: {}\n",
        &[
            "1:1 tls [tls] there is no `cert` => add it: cert: fullchain.pem",
            "1:1 tls [tls] there is no `key` => add it: key: privkey.pem",
        ],
    ),
    (
        "tls: { cert: c, key: '', clientCA: x }\nmcpServers: {}\n",
        &[
            "1:22 tls.key [''] the path is empty => write a path, or remove the key",
            "1:26 tls.clientCA [clientCA] unknown key `clientCA` => did you mean `clientCa`?",
        ],
    ),
];

#[test]
fn faults_of_tls() {
    for (text, wanted) in FAULTS {
        same(text, &faults_in_short(text), wanted);
    }
}
