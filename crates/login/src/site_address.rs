//! The address of a site, as entered by a person or as configured. This module must not know WordPress's API.

use http::Uri;

/// The rules for sites that people may enter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SiteRules<'a> {
    /// True if addresses may be private, on any port, and without TLS.
    pub(crate) private: bool,
    /// Ports besides 80 and 443.
    pub(crate) ports: &'a [u32],
}

/// The address of a site: scheme, host and path, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SiteAddress(String);

/// Paths below a site's address that people often copy along with the address.
const BELOW: &[&str] = &["/wp-admin", "/wp-login.php", "/wp-json", "/xmlrpc.php"];

impl SiteAddress {
    /// Reads an address that a person has entered; `example.com` is enough.
    ///
    /// # Errors
    /// Returns a message that suggests what to enter instead.
    pub(crate) fn typed(text: &str, rules: SiteRules<'_>) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("Enter the address of your site, such as example.com.".to_owned());
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let bad = || {
            "This is not the address of a site. Enter it as in your browser, such as example.com.".to_owned()
        };
        if whole.len() > 1024 {
            return Err(bad());
        }
        if !whole.is_ascii() {
            return Err(
                "Enter the address with ASCII letters only (a name with other letters begins with xn--)."
                    .to_owned(),
            );
        }
        let uri: Uri = whole.parse().map_err(|_| bad())?;
        let authority =
            uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(bad)?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "https" | "http")).ok_or_else(bad)?;
        if scheme == "http" && !rules.private {
            return Err(
                "Enter an address that begins with https://: application passwords need it.".to_owned()
            );
        }
        let (host, port) = (authority.host(), authority.port_u16());
        let is_name =
            host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
        let is_named = host.starts_with('[') || (is_name && !host.is_empty());
        if !is_named || (port.is_none() && authority.as_str().len() > host.len()) {
            return Err(bad());
        }
        let may =
            |port: u16| matches!(port, 80 | 443) || rules.private || rules.ports.contains(&u32::from(port));
        if port.is_some_and(|port| !may(port)) {
            return Err("Sites with this port are not allowed here.".to_owned());
        }
        Ok(Self::of(scheme, authority.as_str(), uri.path()))
    }

    /// Returns a configured address, which has already been checked.
    pub(crate) fn configured(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        Some(Self::of(uri.scheme_str()?, uri.authority()?.as_str(), uri.path()))
    }

    fn of(scheme: &str, authority: &str, path: &str) -> Self {
        let authority = authority.to_ascii_lowercase();
        let default = if scheme == "https" { ":443" } else { ":80" };
        let authority = authority.strip_suffix(default).unwrap_or(&authority);
        let end = BELOW.iter().filter_map(|below| path.find(below)).min().unwrap_or(path.len());
        Self(format!("{scheme}://{authority}{}", path[..end].trim_end_matches('/')))
    }

    /// Returns the address as a text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if both addresses have the same path, ignoring case.
    pub(crate) fn has_path_of(&self, other: &Self) -> bool {
        let path = |address: &Self| {
            let rest = address.0.split_once("://").map_or("", |(_, rest)| rest);
            rest.split_once('/').map_or(String::new(), |(_, path)| path.to_ascii_lowercase())
        };
        path(self) == path(other)
    }

    /// Returns true if a URL has the site's host and port. The scheme may differ, because many sites are reached
    /// over https but have `http` in their settings.
    pub(crate) fn has_host_of(&self, url: &str) -> bool {
        let https = |address: &str| address.strip_prefix("http://").map(|rest| format!("https://{rest}"));
        self.has_origin_of(url)
            || https(url).is_some_and(|url| self.has_origin_of(&url))
            || https(&self.0).is_some_and(|own| Self(own).has_origin_of(url))
    }

    /// Returns true if a URL has the site's origin: its scheme, host and port.
    pub(crate) fn has_origin_of(&self, url: &str) -> bool {
        let origin = |address: &str| {
            let uri: Uri = address.parse().ok()?;
            let (scheme, authority) = (uri.scheme_str()?.to_owned(), uri.authority()?);
            if authority.as_str().contains('@') {
                return None;
            }
            let usual = if scheme == "https" { 443 } else { 80 };
            let port = authority.port_u16().unwrap_or(usual);
            Some((scheme, authority.host().to_ascii_lowercase(), port))
        };
        matches!((origin(&self.0), origin(url)), (Some(own), Some(other)) if own == other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: SiteRules<'_> = SiteRules { private: false, ports: &[8443] };

    fn typed(text: &str) -> Option<String> {
        SiteAddress::typed(text, PUBLIC).ok().map(|site| site.0)
    }

    #[test]
    fn people_type_addresses_in_many_ways() {
        for (text, site) in [
            ("example.com", "https://example.com"),
            (" https://Example.com/ ", "https://example.com"),
            ("https://example.com:443/blog/wp-admin/profile.php?x=1", "https://example.com/blog"),
            ("example.com/wp-login.php", "https://example.com"),
            ("https://example.com:8443/", "https://example.com:8443"),
        ] {
            assert_eq!(typed(text).as_deref(), Some(site), "{text}");
        }
        for bad in [
            "",
            "http://example.com",
            "ftp://example.com",
            "https://a@example.com",
            "example.com:22",
            "münchen.de",
            "javascript:alert(1)",
            "https://",
            "a b",
            &"a".repeat(2000),
        ] {
            assert_eq!(typed(bad), None, "{bad}");
        }
        let private = SiteRules { private: true, ports: &[] };
        assert_eq!(SiteAddress::typed("http://127.0.0.1:8080/", private).unwrap().0, "http://127.0.0.1:8080");
    }

    #[test]
    fn an_approval_page_belongs_to_the_site() {
        let site = SiteAddress::configured("https://example.com/blog").unwrap();
        assert!(site.has_origin_of("https://EXAMPLE.com:443/blog/wp-admin/authorize-application.php"));
        for other in [
            "https://example.com.evil.example/",
            "http://example.com/",
            "https://example.com:8443/",
            "https://example.com@evil.example/",
            "https://a@example.com/",
            "//example.com/",
            "/wp-admin",
        ] {
            assert!(!site.has_origin_of(other), "{other}");
        }
    }
}
