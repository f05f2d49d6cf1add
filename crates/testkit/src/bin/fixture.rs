//! Runs the fixture upstream: `fixture --http 127.0.0.1:0` or `fixture --stdio`.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use dragoman_testkit::fixture::{Eras, Options, run_stdio, serve_http};

const USAGE: &str = "usage: fixture (--http ADDRESS:PORT | --stdio) [--eras legacy|modern|both] [--many]";

enum Transport {
    Http(SocketAddr),
    Stdio,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<(Transport, Options), String> {
    let mut transport = None;
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--stdio" => transport = Some(Transport::Stdio),
            "--http" => {
                let address = value()?;
                let parsed = address.parse().map_err(|error| format!("{address:?}: {error}"))?;
                transport = Some(Transport::Http(parsed));
            }
            "--eras" => options.eras = value()?.parse::<Eras>()?,
            "--many" => options.many = true,
            other => return Err(format!("unknown argument {other:?}")),
        }
    }
    Ok((transport.ok_or("neither --http nor --stdio")?, options))
}

async fn run(transport: Transport, options: Options) -> io::Result<()> {
    match transport {
        Transport::Stdio => run_stdio(options).await,
        Transport::Http(address) => {
            let (_, running) = serve_http(address, options).await?;
            let mut stdout = io::stdout().lock();
            writeln!(stdout, "listening {}", running.url())?;
            stdout.flush()?;
            drop(stdout);
            running.wait().await;
            Ok(())
        }
    }
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
            // Nothing is left to do when even that cannot be written.
            drop(writeln!(io::stderr(), "fixture: {message}"));
            ExitCode::FAILURE
        }
    }
}
