//! TLS in both directions, with an authority created by the test.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Version};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio::time::{Duration, Instant};

use super::{LONG, Served, ServerLimits, closed, collect, echo};
use crate::net::{Client, ClientError, ClientLimits, Origin, Protocol, ServerTls, Trust};

/// An authority, and a server configuration with a certificate that it issued for `name`.
pub(super) fn certified(name: &str, alpn: &[&str]) -> (Trust, Arc<ServerConfig>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &authority).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    (Trust::with_pem(authority.pem().as_bytes()).unwrap(), Arc::new(config))
}

pub(super) fn serve_tls(config: Arc<ServerConfig>) -> Served {
    let limits = ServerLimits {
        tls: Some(ServerTls::with_config(config)),
        header_timeout: Duration::from_millis(500),
        ..ServerLimits::default()
    };
    Served::start(limits, 10, echo)
}

fn origin(served: &Served, trust: Trust, protocol: Protocol) -> Origin {
    let url = format!("https://localhost:{}/", served.addr.port()).parse().unwrap();
    Client::new(ClientLimits::default(), trust).origin(&url, protocol).unwrap()
}

fn post() -> Request<Bytes> {
    Request::post("/mcp").body(Bytes::from("body")).unwrap()
}

#[tokio::test]
async fn both_protocols_by_agreement() {
    for (offered, protocol, version) in [
        (&["h2", "http/1.1"][..], Protocol::Auto, Version::HTTP_2),
        (&["h2", "http/1.1"], Protocol::Http1, Version::HTTP_11),
        (&["http/1.1"], Protocol::Auto, Version::HTTP_11),
        (&[], Protocol::Auto, Version::HTTP_11),
    ] {
        let (trust, config) = certified("localhost", offered);
        let served = serve_tls(config);
        let origin = origin(&served, trust, protocol);
        for _ in 0..3 {
            let answer = origin.request(post()).await.unwrap();
            assert_eq!(answer.version(), version);
            let body = collect(answer.into_body(), crate::budget::Part::Answers, 100, Instant::now() + LONG)
                .await
                .unwrap();
            assert_eq!(body, "POST /mcp body");
        }
        assert_eq!(served.cap.open(), 1, "one connection for all");
        served.finish().await;
    }
}

#[tokio::test]
async fn certificates_are_checked_with_help() {
    let (trust, config) = certified("localhost", &["http/1.1"]);
    let served = serve_tls(config);
    let (stranger, _) = certified("localhost", &[]);
    let (other_trust, other) = certified("elsewhere.test", &["http/1.1"]);
    let misnamed = serve_tls(other);
    for (served, trust, help) in
        [(&served, stranger, "add that authority"), (&misnamed, other_trust, "another name")]
    {
        let error = origin(served, trust, Protocol::Auto).request(post()).await.unwrap_err();
        assert!(matches!(error, ClientError::Tls { .. }) && error.is_unsent(), "{error}");
        assert!(error.to_string().contains(help), "{error}");
    }
    origin(&served, trust, Protocol::Auto).request(post()).await.unwrap();
    served.finish().await;
    misnamed.finish().await;
}

#[tokio::test]
async fn plain_text_behind_https_is_explained() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    let (trust, _) = certified("localhost", &[]);
    let error = origin(&served, trust, Protocol::Auto).request(post()).await.unwrap_err();
    assert!(error.to_string().contains("http://"), "{error}");
    served.finish().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_cut_off() {
    let (_, config) = certified("localhost", &["h2"]);
    let served = serve_tls(config);
    assert!(closed(&mut served.connect().await).await);
    served.finish().await;
}

#[test]
fn files_without_certificates_are_refused() {
    assert!(Trust::with_pem(b"no pem at all").unwrap_err().to_string().contains("no certificate"));
    assert!(Trust::with_pem(b"-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n").is_err());
}
