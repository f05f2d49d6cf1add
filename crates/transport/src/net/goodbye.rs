//! The end of a connection that is not served: its client gets a short answer. It must not know the reason.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Sends `words` and closes the connection. Before the close, the bytes that the client sent are read and discarded: a
/// close with unread bytes would reset the connection, and the answer would be lost.
pub(super) async fn end(mut stream: TcpStream, words: &str) {
    let goodbye = async {
        stream.write_all(words.as_bytes()).await?;
        stream.shutdown().await?;
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = timeout(Duration::from_secs(1), goodbye).await;
}
