//! Sites whose permalinks are set to Plain: they have no paths for routes, and take a route as the parameter `rest_route`
//! (WordPress REST API, Routes and Endpoints). Such sites are recognized when their credentials are checked. This module must
//! not know how sites are asked.

use std::time::Duration;

use serde_json::Value;

use super::expiring::ExpiringMap;

/// The time for which a site is remembered as plain. The parameter works on all sites, so a longer time does no
/// harm.
const COUNTS: Duration = Duration::from_hours(1);
/// The path of the REST API.
const API: &str = "/wp-json";

/// The sites that take routes only as a parameter.
#[derive(Default)]
pub(crate) struct PlainSites(ExpiringMap<String, ()>);

impl PlainSites {
    /// Remembers the site of this URL.
    pub(super) fn put(&self, url: &str, now: Duration) {
        let Some((site, _)) = split(url) else { return };
        self.0.put(site.to_owned(), (), now, now + COUNTS);
    }

    /// The URL in the form that its site accepts; `None` if it already has that form.
    pub(super) fn rewritten(&self, url: &str, now: Duration) -> Option<String> {
        let (site, _) = split(url)?;
        self.0.get(site, now)?;
        with_parameter(url)
    }
}

/// A URL of the REST API with the route as a parameter: `SITE/?rest_route=ROUTE&QUERY`.
pub(super) fn with_parameter(url: &str) -> Option<String> {
    let (site, behind) = split(url)?;
    let (route, query) = behind.split_once('?').unwrap_or((behind, ""));
    let route = if route.is_empty() { "/" } else { route };
    // These characters have another meaning in a query than in a path.
    let route = route.replace('&', "%26").replace('+', "%2B").replace('#', "%23");
    let separator = if query.is_empty() { "" } else { "&" };
    Some(format!("{site}/?rest_route={route}{separator}{query}"))
}

/// The URL at which a site returns its own address; `url` is a URL of the site's REST API.
pub(super) fn address_of(url: &str) -> Option<String> {
    let (site, _) = split(url)?;
    with_parameter(&format!("{site}{API}/?_fields=home,url"))
}

/// The address of the site that answers at a URL of the REST API, if it is not the site of that URL. If there is no
/// site at a path, a request with the route as a parameter is answered by the site above that path. Only paths are
/// compared, because a proxy may change the host.
pub(super) fn other_site<'a>(url: &str, index: &'a Value) -> Option<&'a str> {
    let path = |url: &str| {
        let (_, behind) = url.split_once("://").unwrap_or_default();
        behind.split_once('/').map_or("", |(_, path)| path.trim_matches('/')).to_ascii_lowercase()
    };
    let (site, _) = split(url)?;
    // WordPress may have a folder of its own, which is not the address of its pages.
    let addresses = || ["home", "url"].into_iter().filter_map(|name| index.get(name)?.as_str());
    if addresses().any(|address| path(address) == path(site)) { None } else { addresses().next() }
}

/// The URL of the site, and the part after the path of its REST API.
fn split(url: &str) -> Option<(&str, &str)> {
    let end = url.find('?').unwrap_or(url.len());
    let at = url.get(..end)?.find(API)?;
    let behind = url.get(at + API.len()..)?;
    (behind.is_empty() || behind.starts_with(['/', '?'])).then(|| (url.get(..at).unwrap_or_default(), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_becomes_a_parameter() {
        for (url, rewritten) in [
            (
                "https://a.example/wp-json/wp/v2/posts?per_page=1",
                "https://a.example/?rest_route=/wp/v2/posts&per_page=1",
            ),
            (
                "https://a.example/blog/wp-json/?_fields=name",
                "https://a.example/blog/?rest_route=/&_fields=name",
            ),
            ("https://a.example/wp-json", "https://a.example/?rest_route=/"),
            ("https://a.example/wp-json/x/a+b&c%20d", "https://a.example/?rest_route=/x/a%2Bb%26c%20d"),
        ] {
            assert_eq!(with_parameter(url).as_deref(), Some(rewritten));
        }
        for other in ["https://a.example/", "https://a.example/wp-jsonx/a", "https://a.example/?q=/wp-json/a"]
        {
            assert_eq!(with_parameter(other), None, "{other}");
        }
    }

    #[test]
    fn a_site_is_told_from_the_one_above_it() {
        let url = "https://a.example/blog/wp-json/wp/v2/users/me?x=1";
        assert_eq!(address_of(url).as_deref(), Some("https://a.example/blog/?rest_route=/&_fields=home,url"));
        let other = |home: &str, own: &str| {
            let index = serde_json::json!({"home": home, "url": own});
            other_site(url, &index).map(str::to_owned)
        };
        for (home, own) in [
            ("https://a.example/blog", "https://a.example/blog"),
            ("https://a.example/Blog/", "https://a.example/wp"),
            ("https://a.example", "https://a.example/blog"),
            ("http://inside:8080/blog", ""),
        ] {
            assert_eq!(other(home, own), None, "{home} {own}");
        }
        for home in ["https://a.example", "https://a.example/blog/2", "https://a.example/blo"] {
            assert_eq!(other(home, home).as_deref(), Some(home));
        }
        assert_eq!(other_site(url, &serde_json::json!({"code": "closed"})), None);
        let root = "https://a.example/wp-json/wp/v2/users/me";
        assert_eq!(other_site(root, &serde_json::json!({"home": "https://a.example/"})), None);
    }

    #[test]
    fn only_remembered_sites_are_rewritten() {
        let sites = PlainSites::default();
        let now = Duration::from_secs(9);
        sites.put("https://a.example/wp-json/wp/v2/users/me?x=1", now);
        let is_plain = |url: &str, now| sites.rewritten(url, now).is_some();
        assert!(is_plain("https://a.example/wp-json/wp/v2/posts", now));
        assert!(!is_plain("https://a.example/wp-json/wp/v2/posts", now + COUNTS));
        assert!(
            !is_plain("https://a.example/blog/wp-json/wp/v2/posts", now),
            "another site of the same host"
        );
    }
}
