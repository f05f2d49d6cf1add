//! The end of a connection that is not served, with a word to its client. It must not know why.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Says why before closing. What the client sent is read off for a moment: closing with unread bytes would reset the
/// connection and take our answer with it.
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
