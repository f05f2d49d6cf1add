//! Clients of TLS, based only on the libraries, and gateways with certificates.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use testkit::client::Http2;
pub(crate) use testkit::tls::Authority;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::support::{Gateway, Http, Output, Start, soon};

/// A gateway for `localhost` with a certificate of this authority.
pub(crate) async fn gateway(authority: &Authority, more: &str) -> Gateway {
    let (cert, key) = authority.server(&["localhost"]);
    gateway_with(&cert, &key, &[], "", more).await
}

/// A gateway with these files, and with other settings of `tls`.
pub(crate) async fn gateway_with(
    cert: &str,
    key: &str,
    files: &[(&str, &str)],
    tls: &str,
    more: &str,
) -> Gateway {
    let config = format!(
        "tls: {{ cert: cert.pem, key: key.pem{tls} }}\nmcpServers: {{ demo: {{ native: demo }} }}\n{more}"
    );
    let files: Vec<_> = [("cert.pem", cert), ("key.pem", key)].iter().chain(files).copied().collect();
    let env = [("DRAGOMAN_LOG", "info")];
    Gateway::start_with(&Start { config: &config, files: &files, env: &env, ..Start::default() }).await
}

/// A client's side of TLS.
#[derive(Clone)]
pub(crate) struct Client(ClientConfig);

impl Client {
    pub(crate) fn trusting(authority: &Authority) -> Self {
        Self::new(authority, None)
    }

    /// A client with a certificate and its key.
    pub(crate) fn showing(authority: &Authority, (cert, key): &(String, String)) -> Self {
        let cert = CertificateDer::from_pem_slice(cert.as_bytes()).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        Self::new(authority, Some((cert, key)))
    }

    fn new(authority: &Authority, own: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate()).expect("an authority");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots);
        Self(match own {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => builder.with_client_auth_cert(vec![cert], key).expect("its key"),
        })
    }

    pub(crate) fn offering(&self, protocols: &[&str]) -> Self {
        let mut config = self.0.clone();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self(config)
    }

    /// A connection with a completed handshake; the server may still refuse the client's certificate.
    pub(crate) async fn connect(&self, address: SocketAddr) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = TlsConnector::from(Arc::new(self.0.clone()));
        soon("a handshake", connector.connect(name, stream)).await
    }

    pub(crate) async fn http2(&self, address: SocketAddr) -> Http2 {
        let stream = self.offering(&["h2", "http/1.1"]).connect(address).await.expect("TLS");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        Http2::over(stream, format!("https://localhost:{}/mcp", address.port())).await
    }
}

/// The whole answer to a GET over a new connection; `None` if TLS failed.
pub(crate) async fn get(gateway: &Gateway, client: &Client, path: &str) -> Option<String> {
    let mut stream = client.connect(gateway.http().address).await.ok()?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut answer = String::new();
    soon("an answer", stream.read_to_string(&mut answer)).await.ok()?;
    Some(answer)
}

/// A port without TLS in front of the gateway's port, for clients without TLS.
pub(crate) struct Bridge {
    address: SocketAddr,
    protocol: Arc<Mutex<Option<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Bridge {
    pub(crate) async fn open(to: SocketAddr, client: Client) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let protocol = Arc::new(Mutex::new(None));
        let agreed = protocol.clone();
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((mut plain, _)) = listener.accept().await {
                let (client, agreed) = (client.clone(), agreed.clone());
                open.spawn(async move {
                    let mut secured = client.connect(to).await.expect("TLS");
                    let protocol = secured.get_ref().1.alpn_protocol();
                    *agreed.lock().expect("no panic") =
                        protocol.map(|name| String::from_utf8_lossy(name).into_owned());
                    let _ = tokio::io::copy_bidirectional(&mut plain, &mut secured).await;
                });
            }
        });
        Self { address, protocol, task }
    }

    pub(crate) fn http(&self) -> Http {
        Http::new(self.address)
    }

    /// The protocol that the last connection negotiated.
    pub(crate) fn protocol(&self) -> Option<String> {
        self.protocol.lock().expect("no panic").clone()
    }
}

/// `dragoman serve` as users start it.
pub(crate) struct Printed {
    out: Output,
    _process: crate::support::Started,
}

impl Printed {
    pub(crate) fn start(with: &Start<'_>) -> Self {
        let mut process = crate::support::start("serve", with);
        let out = Output::of(process.out.take().expect("a pipe"));
        Self { out, _process: process }
    }

    pub(crate) async fn has(&mut self, wanted: &str) {
        self.out.has(wanted).await;
    }

    pub(crate) fn text(&self) -> String {
        self.out.text()
    }
}
