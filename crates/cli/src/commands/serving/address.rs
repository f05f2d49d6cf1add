//! Addresses to listen on, and checks of those that other machines can reach.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use config::Config;

use crate::output::failure::Failure;

/// Reads an address from the command line: `127.0.0.1:8808`, `[::1]:8808`, `localhost:8808`, or only a port, which
/// means loopback.
///
/// # Errors
/// Returns the accepted forms.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port: &str| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)));
    text.parse()
        .ok()
        .or_else(|| loopback(text))
        .or_else(|| loopback(text.strip_prefix("localhost:")?))
        .ok_or_else(|| "write an address with a port (127.0.0.1:8808, [::1]:8808) or a port alone".to_owned())
}

/// Refuses an address that other machines can reach, because anybody could call every tool there.
///
/// # Errors
/// Fails if other machines can reach an address, unless `insecure` is set.
pub(crate) fn refuse_open(addresses: &[SocketAddr], insecure: bool) -> Result<(), Failure> {
    let Some(open) = addresses.iter().find(|address| !is_loopback(address.ip())) else { return Ok(()) };
    if insecure {
        return Ok(());
    }
    let message = format!(
        "other machines can reach {open}, and not every caller would be authenticated: anybody who \
         reaches the port could call tools"
    );
    let help = format!(
        "listen on loopback (--listen 127.0.0.1:{}), authenticate callers (`auth` in the configuration, \
         and no endpoint with `auth: none`), or accept the risk with --insecure",
        open.port()
    );
    Err(Failure::usage(message).help(help))
}

/// Refuses management without authentication on an address that other machines can reach: a manager can start programs.
///
/// # Errors
/// Fails if other machines can reach an address, unless callers have to authenticate (`asks`).
pub(crate) fn refuse_open_management(addresses: &[SocketAddr], asks: bool) -> Result<(), Failure> {
    let Some(open) = addresses.iter().find(|address| !asks && !is_loopback(address.ip())) else {
        return Ok(());
    };
    let message = format!(
        "other machines can reach {open}, and `management` would let anyone who can reach the port start programs"
    );
    Err(Failure::usage(message)
        .help("add `auth` to the configuration, write `management: false`, or listen on loopback"))
}

/// Returns true if only this machine can reach the address.
pub(crate) fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Returns the address in a form that a client on this machine can use.
pub(crate) fn here(address: SocketAddr) -> SocketAddr {
    let unspecified = address.ip().is_unspecified();
    if unspecified { SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())) } else { address }
}

/// Returns the URL of an endpoint at an address, for clients on this machine.
pub(crate) fn url(config: &Config, address: SocketAddr, path: &str) -> String {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}{path}", here(address))
}

#[cfg(test)]
mod tests {
    use config::Tls;

    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, want) in [
            ("127.0.0.1:8808", "127.0.0.1:8808"),
            ("[::1]:80", "[::1]:80"),
            ("9000", "127.0.0.1:9000"),
            ("localhost:0", "127.0.0.1:0"),
            ("0.0.0.0:1", "0.0.0.0:1"),
        ] {
            assert_eq!(parse(text).map(|address| address.to_string()).as_deref(), Ok(want));
        }
        for text in ["", "localhost", "example.com:80", "127.0.0.1", "65536", "http://127.0.0.1:1"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_is_open_to_all() {
        let refused = |text: &str, insecure| {
            refuse_open(&[parse("1").unwrap(), parse(text).unwrap()], insecure).is_err()
        };
        assert!(refused("0.0.0.0:1", false) && refused("[::]:1", false) && refused("192.0.2.1:1", false));
        assert!(!refused("0.0.0.0:1", true) && !refused("127.1.2.3:1", false) && !refused("[::1]:1", false));
        assert!(!refused("[::ffff:127.0.0.1]:1", false));
        let Failure::Explained { exit, help, .. } =
            refuse_open(&[parse("0.0.0.0:7").unwrap()], false).unwrap_err()
        else {
            panic!("no words");
        };
        assert_eq!(exit, 2);
        let help = help.unwrap();
        assert!(help.contains("127.0.0.1:7") && help.contains("--insecure"), "{help}");
    }

    #[test]
    fn urls_can_be_opened_here() {
        let mut config = Config::default();
        assert_eq!(url(&config, parse("0.0.0.0:1").unwrap(), "/mcp"), "http://127.0.0.1:1/mcp");
        assert_eq!(url(&config, parse("[::1]:1").unwrap(), "/mcp"), "http://[::1]:1/mcp");
        config.tls = Some(Tls { cert: "c".into(), key: "k".into(), client_ca: None });
        assert_eq!(url(&config, parse("[::1]:1").unwrap(), "/mcp"), "https://[::1]:1/mcp");
    }
}
