//! A forward proxy, and TLS in front of a server, both independent of the product.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::tls::Authority;

/// A proxy that leads every host to one address, and records the heads of requests. It stops when dropped.
pub(crate) struct ForwardProxy {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for ForwardProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ForwardProxy {
    /// Starts a proxy that leads to `to`. Requests need this value of `Proxy-Authorization`, if it is not empty.
    pub(crate) async fn start(to: SocketAddr, credentials: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let own = heads.clone();
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(pass_on(stream, to, credentials, own.clone()));
            }
        });
        Self { address, heads, task }
    }

    /// The heads of all requests to the proxy so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no panic").clone()
    }

    /// The first lines of these heads, each only once.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.heads().iter().filter_map(|head| head.lines().next().map(str::to_owned)).collect();
        lines.sort();
        lines.dedup();
        lines
    }
}

async fn pass_on(
    mut stream: TcpStream,
    to: SocketAddr,
    credentials: &str,
    heads: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    heads.lock().expect("no panic").push(head.clone());
    if !head.contains(&format!("proxy-authorization: {credentials}")) && !credentials.is_empty() {
        let refusal =
            b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return stream.write_all(refusal).await.ok();
    }
    let mut there = TcpStream::connect(to).await.ok()?;
    if head.starts_with("CONNECT ") {
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?;
    } else {
        // A server accepts the absolute form as well (RFC 9112, 3.2.2).
        there.write_all(head.as_bytes()).await.ok()?;
    }
    copy_bidirectional(&mut stream, &mut there).await.ok().map(|_| ())
}

/// TLS in front of a server without it, for `localhost`, `mcp.invalid`, `1.1.1.1` and `9.9.9.9`. It stops when dropped.
pub(crate) struct TlsFront {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl TlsFront {
    /// Opens a port with a certificate of `authority`; clients need one of `clients`, if given.
    pub(crate) async fn open(to: SocketAddr, authority: &Authority, clients: Option<&Authority>) -> Self {
        let (cert, key) = authority.server(&["localhost", "mcp.invalid", "1.1.1.1", "9.9.9.9"]);
        let cert = CertificateDer::from_pem_slice(cert.as_bytes()).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = builder.expect("versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                let authority = CertificateDer::from_pem_slice(clients.pem().as_bytes());
                roots.add(authority.expect("a certificate")).expect("an authority");
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.expect("a verifier"))
            }
        };
        let config = builder.with_single_cert(vec![cert], key).expect("its key");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                open.spawn(async move {
                    let mut secured = acceptor.accept(stream).await.ok()?;
                    let mut there = TcpStream::connect(to).await.ok()?;
                    copy_bidirectional(&mut secured, &mut there).await.ok()
                });
            }
        });
        Self { address, task }
    }
}
