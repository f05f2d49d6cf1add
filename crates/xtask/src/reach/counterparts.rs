//! The third-party programs through which Dragoman reaches servers: their configurations, certificates and start.

use crate::auth::free_address;
use crate::run::{Log, Service};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user of the proxy with the password, as a part of a URL.
pub(crate) const PROXY_USER: &str = "dragoman:pass-word@";

/// The files of an authority, a server and a client, all in one folder.
pub(crate) struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    /// Creates `ca.pem`, `server.pem`, `client.pem` and their keys with openssl.
    pub(crate) fn create(folder: &Path, log: &Log) -> Result<Self, String> {
        let certificates = Self { folder: folder.to_owned() };
        certificates.issue("ca", &["-addext", "basicConstraints=critical,CA:TRUE"], log)?;
        let signed =
            ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-addext", "basicConstraints=critical,CA:FALSE"];
        let names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
        certificates.issue("server", &[&signed[..], &names].concat(), log)?;
        certificates.issue("client", &signed, log)?;
        Ok(certificates)
    }

    fn issue(&self, name: &str, more: &[&str], log: &Log) -> Result<(), String> {
        let mut command = Command::new("openssl");
        command.current_dir(&self.folder).args(["req", "-x509", "-newkey", "ec", "-pkeyopt"]);
        command.args(["ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj"]).arg(format!("/CN={name}"));
        command
            .arg("-keyout")
            .arg(format!("{name}-key.pem"))
            .arg("-out")
            .arg(format!("{name}.pem"))
            .args(more);
        log.run(&mut command).map(drop)
    }
}

/// Starts nginx with TLS in front of a server without TLS; clients of nginx need a certificate. Returns its
/// endpoint.
pub(crate) fn nginx(
    folder: &Path,
    certificates: &Certificates,
    upstream: &str,
    log: &Log,
) -> Result<(Service, String), String> {
    let address = free_address()?;
    let (files, own) = (certificates.folder.display(), folder.display());
    let file = folder.join("nginx.conf");
    let text = format!(
        "daemon off; master_process off; pid {own}/nginx.pid; error_log stderr notice; events {{}}\n\
         http {{ access_log off; client_body_temp_path {own}; proxy_temp_path {own}; fastcgi_temp_path {own};\n\
         uwsgi_temp_path {own}; scgi_temp_path {own};\n\
         server {{ listen {address} ssl; ssl_certificate {files}/server.pem; ssl_certificate_key {files}/server-key.pem;\n\
         ssl_client_certificate {files}/ca.pem; ssl_verify_client on;\n\
         location / {{ proxy_pass {}; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; }} }} }}\n",
        upstream.trim_end_matches("/mcp"),
    );
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let port = address.rsplit(':').next().unwrap_or_default();
    let url = format!("https://localhost:{port}/mcp");
    let mut command = Command::new("/usr/sbin/nginx");
    command.arg("-c").arg(&file);
    // It listens before it writes this line.
    Service::start(&mut command, log, |line| line.contains("getrlimit").then(|| url.clone()))
}

/// Starts tinyproxy, which requires a user name and a password. Returns its host and port.
pub(crate) fn tinyproxy(folder: &Path, log: &Log) -> Result<(Service, String), String> {
    let address = free_address()?;
    let port = address.rsplit(':').next().unwrap_or_default();
    let (user, password) = PROXY_USER.trim_end_matches('@').split_once(':').unwrap_or_default();
    let file = folder.join("tinyproxy.conf");
    let text = format!(
        "Port {port}\nListen 127.0.0.1\nTimeout 60\nAllow 127.0.0.1\nLogLevel Info\nBasicAuth {user} {password}\n"
    );
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut command = Command::new("tinyproxy");
    command.arg("-d").arg("-c").arg(&file);
    Service::start(&mut command, log, |line| line.contains("Accepting connections").then(|| address.clone()))
}
