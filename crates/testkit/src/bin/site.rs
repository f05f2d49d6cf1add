//! `site`: a fake web site with the REST APIs of a community; see `dragoman_testkit::site`.

use std::io::{self, Write};
use std::net::SocketAddr;

use clap::Parser;
use dragoman_testkit::site::{Options, accounts, serve};

/// A fake web site: WordPress, BuddyBoss and heritage services on one port.
#[derive(Parser)]
struct Flags {
    /// Listen on this address; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    http: SocketAddr,
    #[command(flatten)]
    options: Options,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let flags = Flags::parse();
    let site = serve(flags.http, flags.options).await?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening {}", site.url())?;
    for one in accounts::ALL {
        writeln!(stdout, "{} {}:{}", one.role, one.user, one.password)?;
    }
    stdout.flush()?;
    drop(stdout);
    site.wait().await;
    Ok(())
}
