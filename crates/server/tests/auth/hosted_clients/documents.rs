//! The web server that publishes the metadata of clients, over TLS.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::rows::{Introduction, ROWS};

/// The server, and the authority that signed its certificate.
pub(super) struct Documents {
    port: u16,
    pub(super) authority: String,
    task: JoinHandle<()>,
}

impl Drop for Documents {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Documents {
    pub(super) async fn start() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let own_key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(params, own_key).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
        let certificate = certificate.signed_by(&key, &authority).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
            )
            .expect("a set-up");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(answered(acceptor.clone(), stream, port));
            }
        });
        Self { port, authority: authority.pem(), task }
    }

    /// The client's id whose document is at this path.
    pub(super) fn id(&self, path: &str) -> String {
        id(self.port, path)
    }
}

fn id(port: u16, path: &str) -> String {
    format!("https://localhost:{port}{path}")
}

/// Answers one request, and closes the connection.
async fn answered(acceptor: TlsAcceptor, stream: TcpStream, port: u16) -> Option<()> {
    let mut stream = BufReader::new(acceptor.accept(stream).await.ok()?);
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let mut line = first.clone();
    while !line.trim_end().is_empty() {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
    }
    let path = first.split(' ').nth(1)?;
    let (status, body) = match document(path) {
        Some(mut document) => {
            document["client_id"] = json!(id(port, path));
            ("200 OK", document.to_string())
        }
        None => ("404 Not Found", String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

fn document(path: &str) -> Option<Value> {
    ROWS.iter().find_map(|row| match row.introduction {
        Introduction::Document(own, document) if own == path => Some(document()),
        _ => None,
    })
}
