//! Masks the secrets of the configuration in messages about servers. Some servers repeat secrets: they return the
//! token that they refuse, or print their environment before they exit. Only the gateway's own messages about
//! servers are masked; a server's messages to clients stay unchanged.

use std::fmt::{self, Display};

use config::forward_proxy::ForwardProxy;
use config::{Link, ProxyRule, Text};
use engine::passed_headers::PassedHeaders;

/// The length, in bytes, below which a text is not treated as a secret, because a short text would match
/// everywhere.
const LEAST: usize = 6;

/// The secrets of one server.
#[derive(Clone, Default)]
pub struct Mask(Vec<Box<str>>);

impl Mask {
    /// Returns the mask for the secrets of a link: the values of headers and environment variables, the values in a
    /// URL's query, and the texts that replaced `${…}`, including those in arguments, URLs and folders.
    pub fn of(link: &Link) -> Self {
        let mut words: Vec<Box<str>> = filled(link).map(Into::into).collect();
        let mut add = |text: &str| {
            words.extend(text.split(char::is_whitespace).filter(|word| word.len() >= LEAST).map(Into::into));
        };
        match link {
            Link::Http(http) => {
                http.headers.values().for_each(|value| add(value.expose()));
                let secret = http.oauth.as_ref().and_then(|oauth| oauth.client_secret.as_ref());
                if let Some(secret) = secret {
                    add(secret.expose());
                }
                let query = http.url.expose().split_once('?').map_or("", |(_, query)| query);
                if let ProxyRule::Through(proxy) = &http.proxy
                    && let Ok(proxy) = ForwardProxy::parse(proxy.expose())
                {
                    proxy.secrets().for_each(&mut add);
                }
                query.split('&').filter_map(|pair| pair.split_once('=')).for_each(|(_, value)| add(value));
            }
            Link::Stdio(child) => {
                child.env.values().for_each(|value| add(value.expose()));
                child
                    .config
                    .values()
                    .flatten()
                    .filter(|value| value.hides())
                    .for_each(|value| add(value.expose()));
                child.args.iter().filter(|arg| arg.hides()).for_each(|arg| add(arg.expose()));
            }
            Link::Native(_) => {}
        }
        filled(link).for_each(&mut add);
        // A longer text must come before the texts that it contains.
        words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        Self(words)
    }

    /// Returns the mask, extended by the values of these headers.
    #[must_use]
    pub(crate) fn with(mut self, passed: &PassedHeaders) -> Self {
        let values = passed.iter().filter_map(|(_, value)| value.to_str().ok());
        let words = values.flat_map(|value| value.split(char::is_whitespace).chain([value]));
        self.0.extend(words.filter(|word| word.len() >= LEAST).map(Into::into));
        self.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self
    }

    /// Returns the text of a value, with the secrets masked.
    pub fn show(&self, what: &dyn Display) -> String {
        let text = what.to_string();
        self.0
            .iter()
            .fold(text, |text, word| if text.contains(&**word) { text.replace(&**word, "***") } else { text })
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}

/// Returns the texts that replaced `${…}`.
fn filled(link: &Link) -> impl Iterator<Item = &str> {
    let texts: Vec<&Text> = match link {
        Link::Http(http) => http.headers.values().chain([&http.url]).collect(),
        Link::Stdio(child) => child
            .env
            .values()
            .chain(&child.args)
            .chain(&child.cwd)
            .chain(child.config.values().flatten())
            .collect(),
        Link::Native(_) => Vec::new(),
    };
    texts.into_iter().flat_map(Text::filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_covered_wherever_they_stand() {
        let text = "mcpServers:\n  net: { url: 'http://h/?key=query-value&x=1', headers: { Authorization: 'Bearer token-value' } }\n  \
            child: { command: sh, args: [plain-argument, '${ARG}'], env: { KEY: token-value-2, SHORT: yes } }\n  \
            part: { command: sh, args: ['--token=${ARG}'] }\n  path: { url: 'http://h/${ARG}/mcp' }\n";
        let lookup =
            config::Lookup { env: &|_| Some("filled-in".to_owned()), file: &|_| Err("none".to_owned()) };
        let config = config::load(text, "test", &lookup).unwrap().config;
        let mask = |name: &str| Mask::of(&config.mcp_servers[name].link);
        let said = "Bearer token-value ?key=query-value x=1";
        assert_eq!(mask("net").show(&said), "*** *** ?key=*** x=1");
        assert_eq!(mask("part").show(&"bad token filled-in, filled"), "bad token ***, filled");
        assert_eq!(mask("path").show(&"no route /filled-in/mcp in mcp"), "no route /***/mcp in mcp");
        assert!(!format!("{:?}", mask("part")).contains("filled"));
        let said = "token-value-2 token-value filled-in plain-argument yes";
        assert_eq!(mask("child").show(&said), "*** token-value *** plain-argument yes");
    }
}
