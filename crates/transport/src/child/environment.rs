//! The variables that a child inherits. Pure: the parent's variables are an argument.
//!
//! A child is a third-party program, whereas the environment of this process contains the credentials of all other programs.
//! So a child inherits only the variables that a program needs to run as this user on this machine. Any other
//! variable, such as a registry address with a token or a cloud credential, must be named in the configuration.

use std::ffi::{OsStr, OsString};

/// The variables that every child inherits.
///
/// * the list of the official SDKs: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `USER`
/// * language, time zone and standard folders: `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TMPDIR`, `XDG_*`
/// * network access: proxies in both spellings, and certificate stores under the names that Node.js, Python, OpenSSL
///   and curl use
/// * launchers (npx, uvx, version managers): the folders for their data, and npm's registry
/// * container launchers: the engine to use
const INHERITED: &[&str] = &[
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "ALL_PROXY",
    "all_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "FNM_DIR",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "VOLTA_HOME",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
];

/// Returns the variables of `parent` that a child inherits. `extra` contains further names from the configuration (a
/// `*` at the end marks a prefix).
pub(super) fn inherited(
    parent: impl Iterator<Item = (OsString, OsString)>,
    extra: &[String],
) -> Vec<(OsString, OsString)> {
    parent.filter(|(name, value)| admits(name, extra) && !is_shell_function(value)).collect()
}

fn admits(name: &OsStr, extra: &[String]) -> bool {
    let name = name.as_encoded_bytes();
    INHERITED.iter().copied().chain(extra.iter().map(String::as_str)).any(|pattern| {
        match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix.as_bytes()),
            None => name == pattern.as_bytes(),
        }
    })
}

/// Returns true if the value defines a shell function: Bash exports functions as variables, and a child's shell would
/// execute them. The official SDKs drop such variables, too.
fn is_shell_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(parent: &[(&str, &str)], extra: &[&str]) -> Vec<String> {
        let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
        let parent = parent.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        inherited(parent, &extra).into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn only_named_variables_pass() {
        let parent = [
            ("PATH", "/bin"),
            ("LC_TIME", "C"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("PATHS", "y"),
            ("path", "z"),
        ];
        assert_eq!(names(&parent, &[]), ["PATH", "LC_TIME"]);
    }

    #[test]
    fn the_configuration_adds_names_and_prefixes() {
        let parent = [("MY_TOKEN", "a"), ("MY_OTHER", "b"), ("YOURS", "c"), ("ONE", "d")];
        assert_eq!(names(&parent, &["MY_*", "ONE"]), ["MY_TOKEN", "MY_OTHER", "ONE"]);
    }

    #[test]
    fn exported_shell_functions_are_dropped() {
        assert_eq!(names(&[("TERM", "() { :; }; echo hello")], &[]), Vec::<String>::new());
    }
}
