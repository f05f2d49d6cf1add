//! The name of a server in a registry: `io.example/name` or `io.example/name@1.2.3`. This module must not know what a document contains.

use std::fmt;

/// The public registry of the protocol's community.
pub const PUBLIC_REGISTRY: &str = "https://registry.modelcontextprotocol.io";

/// A server's name, with the version that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName {
    name: String,
    version: Option<String>,
}

impl ServerName {
    /// Reads a name; `None` if the text does not look like one. A namespace contains a dot, so a path such as `./x` is not
    /// a name.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let (namespace, short) = name.split_once('/')?;
        let is_plain = |text: &str, others: &str| {
            !text.is_empty()
                && text.starts_with(|char: char| char.is_ascii_alphanumeric())
                && text.chars().all(|char| char.is_ascii_alphanumeric() || others.contains(char))
        };
        let is_name = namespace.contains('.') && is_plain(namespace, ".-") && is_plain(short, "._-");
        let is_version = version.is_none_or(|version| is_plain(version, ".+-"));
        (is_name && is_version).then(|| Self { name: name.to_owned(), version: version.map(str::to_owned) })
    }

    /// The name without the version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part after the namespace, written with the characters that a configuration allows in a server's name; at most 32 characters.
    pub fn short(&self) -> String {
        let short = self.name.split_once('/').map_or(self.name.as_str(), |(_, short)| short);
        let short = short.strip_prefix("mcp-server-").or_else(|| short.strip_prefix("mcp-")).unwrap_or(short);
        let short = short.strip_suffix("-mcp-server").or_else(|| short.strip_suffix("-mcp")).unwrap_or(short);
        short.chars().take(32).collect()
    }

    /// The URL of the document in the registry with this base URL: the version that was asked for, or the latest.
    pub fn url(&self, registry: &str) -> String {
        let version = self.version.as_deref().unwrap_or("latest");
        let (name, base) = (self.name.replace('/', "%2F"), registry.trim_end_matches('/'));
        format!("{base}/v0.1/servers/{name}/versions/{}", version.replace('+', "%2B"))
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.version.iter().try_for_each(|version| write!(f, "@{version}"))
    }
}

#[cfg(test)]
mod tests {
    use super::ServerName;

    #[test]
    fn names_have_a_namespace_with_a_dot() {
        for good in ["io.example/x", "io.github.some-one/mcp_x.y@1.2.3-rc.1+b5"] {
            assert_eq!(ServerName::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "x",
            "example/x",
            "./x",
            "../x",
            "io.example/",
            "io.example/a/b",
            "io.example/x@",
            "io.example/-x",
            "io.example/x@../y",
            "https://a.b/c",
        ] {
            assert_eq!(ServerName::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_address_names_one_version() {
        let url = |name: &str| ServerName::parse(name).unwrap().url("https://r.example/");
        assert_eq!(url("io.example/x"), "https://r.example/v0.1/servers/io.example%2Fx/versions/latest");
        assert_eq!(
            url("io.example/x@1.0+b"),
            "https://r.example/v0.1/servers/io.example%2Fx/versions/1.0%2Bb"
        );
    }

    #[test]
    fn a_short_name_fits_a_configuration() {
        let short = |name: &str| ServerName::parse(name).unwrap().short();
        assert_eq!(short("io.example/mcp-server-weather"), "weather");
        assert_eq!(short("io.example/weather-mcp"), "weather");
        assert_eq!(short(&format!("io.example/{}", "a".repeat(90))).len(), 32);
    }
}
