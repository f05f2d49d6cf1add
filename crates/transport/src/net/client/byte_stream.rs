//! A connection for a protocol other than HTTP: name lookup, TCP and, if needed, TLS, within one deadline. This
//! module must not know what is sent.

use std::io;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout};

use super::error::ClientError;
use super::stream::WireStream;
use super::tcp::TcpTarget;
use super::tls::Trust;

/// The bytes of a connection in both directions.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Connects to a port of a host; with `trust`, over TLS.
///
/// # Errors
/// Fails if there is no connection after the time `within`, or if the host's certificate is not trusted.
pub async fn connect_bytes(
    (host, port): (&str, u16),
    trust: Option<&Trust>,
    within: Duration,
) -> Result<Box<dyn ByteStream>, ClientError> {
    let target = TcpTarget::new(host, port);
    let connecting = async {
        let addresses = target.resolve(target.look_up()).await?;
        let (tcp, _) = target.connect_any(&addresses, Instant::now() + within, within).await?;
        let Some(trust) = trust else { return Ok(WireStream::Plain(tcp)) };
        let failed = |source: io::Error| ClientError::tls(&target.name, source);
        let name =
            ServerName::try_from(target.host.clone()).map_err(|error| failed(io::Error::other(error)))?;
        let connector = trust.connector(&target.name, false).await?;
        let stream = connector.connect(name, tcp).await.map_err(failed)?;
        Ok(WireStream::Tls(Box::new(stream)))
    };
    let late = |_| ClientError::ConnectTimeout { host: target.name.clone(), after: within };
    let stream = timeout(within, connecting).await.map_err(late)??;
    Ok(Box::new(stream))
}
