//! Tests of the files for TLS to an upstream: custom authorities, a client certificate, and files that change.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use bytes::Bytes;
use http::Request;
use tokio::time::{Instant, timeout};

use super::{LONG, Served, ServerLimits, collect, echo};
use crate::budget::Part;
use crate::net::tls::ServerPem;
use crate::net::{Client, ClientError, ClientLimits, Protocol, Route, ServerTls, TlsFiles, Trust};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate and its key.
    fn signed(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// Starts a server for `localhost`. If `clients` is given, each client needs a certificate that this authority
    /// issued.
    fn serve(&self, clients: Option<&Self>) -> Served {
        let (cert, key) = self.signed("localhost");
        let client_ca = clients.map(|clients| clients.0.pem());
        let client_ca = client_ca.as_ref().map(String::as_bytes);
        let pem = ServerPem { cert: cert.as_bytes(), key: key.as_bytes(), client_ca };
        let limits = ServerLimits { tls: Some(ServerTls::new(&pem).unwrap()), ..ServerLimits::default() };
        Served::start(limits, 10, echo)
    }
}

/// A folder for one test, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dragoman-identified-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let (new, file) = (self.0.join("new"), self.0.join(name));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &file).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn asked(served: &Served, client: &Client, trust: &Trust) -> Result<(), ClientError> {
    let route = Route { trust: Some(trust.clone()), ..Route::default() };
    let url = format!("https://localhost:{}/", served.addr.port()).parse().unwrap();
    let origin = client.origin_by(&route, &url, Protocol::Auto).unwrap();
    let request = Request::post("/mcp").body(Bytes::from("body")).unwrap();
    let answer = timeout(LONG, origin.request(request)).await.expect("in time")?;
    let body = collect(answer.into_body(), Part::Answers, 100, Instant::now() + LONG).await.unwrap();
    assert_eq!(body, "POST /mcp body");
    Ok(())
}

fn client() -> Client {
    Client::new(ClientLimits::default(), Trust::default())
}

#[tokio::test]
async fn only_the_named_authorities_count() {
    let (own, other) = (Authority::new(), Authority::new());
    let (served, folder, client) = (own.serve(None), Folder::new("ca"), client());
    let ca = |name: &str, authority: &Authority| Some(folder.write(name, &authority.0.pem()));
    let right = Trust::from_files(TlsFiles { ca: ca("own.pem", &own), ..TlsFiles::default() });
    asked(&served, &client, &right).await.unwrap();
    for system_too in [false, true] {
        let wrong = TlsFiles { ca: ca("other.pem", &other), system_too, ..TlsFiles::default() };
        let error = asked(&served, &client, &Trust::from_files(wrong)).await.unwrap_err();
        assert!(matches!(error, ClientError::Tls { .. }), "{error}");
        assert!(error.to_string().contains("`tls: { ca: FILE }` for this server"), "{error}");
    }
    let system = TlsFiles { ca: ca("own.pem", &own), system_too: true, ..TlsFiles::default() };
    asked(&served, &client, &Trust::from_files(system)).await.unwrap();
    let error = asked(&served, &client, &Trust::default()).await.unwrap_err();
    assert!(error.to_string().contains("tls: { ca: FILE }"), "{error}");
    served.finish().await;
}

#[tokio::test]
async fn a_client_shows_its_certificate_to_whom_it_is_meant_for() {
    let (own, clients, other) = (Authority::new(), Authority::new(), Authority::new());
    let (served, folder, client) = (own.serve(Some(&clients)), Folder::new("cert"), client());
    let ca = Some(folder.write("ca.pem", &own.0.pem()));
    let identity = |name: &str, (cert, key): &(String, String)| {
        Some((folder.write(&format!("{name}.pem"), cert), folder.write(&format!("{name}-key.pem"), key)))
    };
    let with = |identity| Trust::from_files(TlsFiles { ca: ca.clone(), system_too: false, identity });
    asked(&served, &client, &with(identity("right", &clients.signed("me")))).await.unwrap();
    for (identity, help) in [
        (None, "the server requires a client certificate: set `tls: { cert: FILE, key: FILE }`"),
        (identity("wrong", &other.signed("me")), "the server refuses the client certificate"),
    ] {
        let error = asked(&served, &client, &with(identity)).await.unwrap_err();
        assert!(error.to_string().contains(help), "{error:?}");
        assert!(error.is_unsent() && !error.is_passing());
    }
    served.finish().await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named() {
    let (own, folder, client) = (Authority::new(), Folder::new("unfit"), client());
    let served = own.serve(None);
    let (one, other) = (own.signed("a"), own.signed("b"));
    let (cert, key) = (folder.write("cert.pem", &one.0), folder.write("key.pem", &other.1));
    let empty = folder.write("empty.pem", "");
    let missing = folder.0.join("missing.pem");
    let identity = |cert: &PathBuf, key: &PathBuf| TlsFiles {
        identity: Some((cert.clone(), key.clone())),
        ..TlsFiles::default()
    };
    for (files, file, why) in [
        (TlsFiles { ca: Some(missing.clone()), ..TlsFiles::default() }, &missing, "`tls.ca`"),
        (
            TlsFiles { ca: Some(empty.clone()), ..TlsFiles::default() },
            &empty,
            "the file contains no certificate",
        ),
        (TlsFiles { ca: Some(key.clone()), ..TlsFiles::default() }, &key, "the file contains no certificate"),
        (identity(&missing, &key), &missing, "`tls.cert`"),
        (identity(&cert, &cert), &cert, "the file contains no private key"),
        (identity(&cert, &key), &key, "the key does not match the certificate"),
        (identity(&cert, &folder.0), &folder.0, "the path does not lead to a file"),
    ] {
        let said = files.check().unwrap_err().to_string();
        assert!(said.contains(why) && said.contains(&file.display().to_string()), "{said}");
        let error = asked(&served, &client, &Trust::from_files(files)).await.unwrap_err();
        assert!(matches!(error, ClientError::TlsFile { .. }) && error.is_unsent(), "{error}");
        assert!(error.to_string().contains(&said), "{error}");
    }
    served.finish().await;
}

#[tokio::test]
async fn changed_files_count_for_the_next_connection_and_bad_ones_do_not() {
    let (own, next) = (Authority::new(), Authority::new());
    let (first, second) = (own.serve(None), next.serve(None));
    let (folder, client) = (Folder::new("changed"), client());
    let ca = folder.write("ca.pem", &own.0.pem());
    let trust = Trust::from_files(TlsFiles { ca: Some(ca), ..TlsFiles::default() });
    asked(&first, &client, &trust).await.unwrap();
    assert!(asked(&second, &client, &trust).await.is_err());
    assert_eq!(trust.generation(), 0);
    folder.write("ca.pem", "half a file");
    // The bad file is noticed by a new connection; the kept one is still used.
    assert!(asked(&second, &client, &trust).await.is_err());
    asked(&first, &client, &trust).await.unwrap();
    assert_eq!((trust.generation(), first.cap.open()), (0, 1));
    folder.write("ca.pem", &next.0.pem());
    asked(&second, &client, &trust).await.unwrap();
    assert_eq!(trust.generation(), 1);
    // The connection to the first server was made with the old file, so it is not used again.
    let error = asked(&first, &client, &trust).await.unwrap_err();
    assert!(matches!(error, ClientError::Tls { .. }), "{error}");
    first.finish().await;
    second.finish().await;
}

#[tokio::test]
async fn an_idle_connection_ends_when_the_files_change() {
    let own = Authority::new();
    let (served, folder) = (own.serve(None), Folder::new("idle"));
    let limits = ClientLimits { idle_timeout: std::time::Duration::from_secs(1), ..ClientLimits::default() };
    let client = Client::new(limits, Trust::default());
    let ca = folder.write("ca.pem", &own.0.pem());
    let trust = Trust::from_files(TlsFiles { ca: Some(ca), ..TlsFiles::default() });
    asked(&served, &client, &trust).await.unwrap();
    folder.write("ca.pem", &Authority::new().0.pem());
    let refused = timeout(LONG, async { while asked(&served, &client, &trust).await.is_ok() {} });
    refused.await.expect("the sweep reads the files again, although connections are kept");
    served.finish().await;
}

/// Two settings are different routes even if they have the same files; each setting is equal to itself.
#[test]
fn settings_are_compared_by_identity() {
    let trust = || Trust::from_files(TlsFiles::default());
    let one = trust();
    assert_eq!(one, one.clone());
    assert_ne!(one, trust());
}
