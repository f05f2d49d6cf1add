//! Runs the fixture upstream: `fixture --http 127.0.0.1:0`, `fixture --sse 127.0.0.1:0` or `fixture --stdio`.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use dragoman_testkit::fixture::version::Version;
use dragoman_testkit::fixture::{Eras, Opening, Options, Record, Running, run_stdio, serve_http, serve_sse};

const USAGE: &str = "usage: fixture (--http ADDRESS:PORT | --sse ADDRESS:PORT | --stdio) \
    [--eras legacy|modern|both] [--version VERSION] [--many] [--record FILE] \
    [--mute-discover | --die-on-unknown]";

enum Transport {
    Http(SocketAddr),
    Sse(SocketAddr),
    Stdio,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<(Transport, Options), String> {
    let mut transport = None;
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--stdio" => transport = Some(Transport::Stdio),
            "--http" => transport = Some(Transport::Http(address(&value()?)?)),
            "--sse" => transport = Some(Transport::Sse(address(&value()?)?)),
            "--eras" => options.eras = value()?.parse::<Eras>()?,
            "--version" => options.version = Some(value()?.parse::<Version>()?),
            "--many" => options.many = true,
            "--mute-discover" => options.opening = Opening::Mute,
            "--die-on-unknown" => options.opening = Opening::Dies,
            "--record" => {
                let path = value()?;
                let record = Record::to_file(&path).map_err(|error| format!("{path:?}: {error}"))?;
                options.record = Some(record);
            }
            other => return Err(format!("unknown argument {other:?}")),
        }
    }
    Ok((transport.ok_or("neither --http nor --sse nor --stdio")?, options))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|error| format!("{text:?}: {error}"))
}

async fn run(transport: Transport, options: Options) -> io::Result<()> {
    match transport {
        Transport::Stdio => run_stdio(options).await,
        Transport::Http(address) => listen(serve_http(address, options).await?.1).await,
        Transport::Sse(address) => listen(serve_sse(address, options).await?.1).await,
    }
}

/// Prints the address where it listens, and waits until it stops.
async fn listen(running: Running) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening {}", running.url())?;
    stdout.flush()?;
    drop(stdout);
    running.wait().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match parse(std::env::args().skip(1)) {
        Ok((transport, options)) => run(transport, options).await.map_err(|error| error.to_string()),
        Err(message) => Err(format!("{message}\n{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // If even this cannot be written, there is nothing left to do.
            drop(writeln!(io::stderr(), "fixture: {message}"));
            ExitCode::FAILURE
        }
    }
}
