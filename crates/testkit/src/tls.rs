//! TLS, based only on the libraries: an authority that signs certificates, and a server for `localhost` with a
//! certificate of its own authority. This module must not know the product, or the meaning of a byte.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Signs certificates.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// Creates an authority with a key of its own.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    /// The authority's own certificate, in the format of files.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// The authority's own certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// A certificate for these names and its key, in the format of files.
    pub fn server(&self, names: &[&str]) -> (String, String) {
        self.signed(names, |_| {})
    }

    /// A certificate for these names with changed parameters, and its key, in the format of files.
    pub fn signed(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("parameters");
        change(&mut params);
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

/// A server with TLS for `localhost`; dropping it stops it.
#[derive(Debug)]
pub struct TlsServer {
    /// The server's port.
    pub port: u16,
    /// The certificate of the authority that signed the server's certificate, in the format of files.
    pub authority: String,
    task: JoinHandle<()>,
}

impl TlsServer {
    /// Starts a server that offers these protocols and serves each connection with `serve`, which also gets the port. A
    /// client that does not trust the certificate disconnects before that.
    pub async fn start<S>(
        alpn: &[&str],
        serve: impl Fn(TlsStream<TcpStream>, u16) -> S + Send + Sync + 'static,
    ) -> Self
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let authority = Authority::new();
        let acceptor = acceptor(&authority, alpn);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let serve = Arc::new(serve);
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, serve) = (acceptor.clone(), serve.clone());
                open.spawn(async move {
                    if let Ok(secured) = acceptor.accept(stream).await {
                        serve(secured, port).await;
                    }
                });
            }
        });
        Self { port, authority: authority.pem(), task }
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn acceptor(authority: &Authority, alpn: &[&str]) -> TlsAcceptor {
    let (certificate, key) = authority.server(&["localhost"]);
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a set-up");
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}
