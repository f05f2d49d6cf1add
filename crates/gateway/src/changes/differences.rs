//! The names of the servers, profiles and other keys that a configuration change affects. Only names are listed, no
//! values, so the list contains no secrets.

use std::collections::HashMap;
use std::fmt;

use config::Config;

/// The differences between two configurations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Servers and profiles that are new.
    pub added: Vec<String>,
    /// Servers, profiles and other keys that differ.
    pub changed: Vec<String>,
    /// Servers and profiles that no longer exist.
    pub removed: Vec<String>,
}

/// Compares one configuration with the next.
pub fn differences(old: &Config, new: &Config) -> Differences {
    let mut found = Differences::default();
    found.compare("server", old.mcp_servers.iter(), new.mcp_servers.iter());
    found.compare("profile", old.profiles.iter(), new.profiles.iter());
    for (key, differs) in [
        ("auth", old.auth != new.auth),
        ("access", old.access != new.access),
        ("rateLimits", old.rate_limits != new.rate_limits),
        ("endpoints", old.endpoints != new.endpoints),
        ("dialect", old.dialect != new.dialect || old.dialects != new.dialects),
        ("allowedHosts", old.allowed_hosts != new.allowed_hosts),
        ("allowedOrigins", old.allowed_origins != new.allowed_origins),
        ("ready", old.ready != new.ready),
        ("publicUrl", old.public_url != new.public_url),
        ("trustForwardedFor", old.trust_forwarded_for != new.trust_forwarded_for),
        ("listen", old.listen != new.listen),
        ("limits", old.limits != new.limits),
        ("audit", old.audit != new.audit),
        ("management", old.management != new.management),
        ("admin", old.admin != new.admin),
        ("metrics", old.metrics != new.metrics),
    ] {
        found.changed.extend(differs.then(|| key.to_owned()));
    }
    found
}

impl Differences {
    fn compare<'a, T: PartialEq + 'a>(
        &mut self,
        what: &str,
        old: impl Iterator<Item = (&'a String, &'a T)>,
        new: impl Iterator<Item = (&'a String, &'a T)>,
    ) {
        let (old, new): (Vec<_>, Vec<_>) = (old.collect(), new.collect());
        let (before, after): (HashMap<_, _>, HashMap<_, _>) =
            (old.iter().copied().collect(), new.iter().copied().collect());
        for (name, value) in new {
            match before.get(name) {
                None => self.added.push(format!("{what} {name}")),
                Some(was) if *was != value => self.changed.push(format!("{what} {name}")),
                Some(_) => {}
            }
        }
        let gone = old.iter().filter(|(name, _)| !after.contains_key(name));
        self.removed.extend(gone.map(|(name, _)| format!("{what} {name}")));
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("added", &self.added), ("changed", &self.changed), ("removed", &self.removed)];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> = parts.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
        if parts.is_empty() { f.write_str("nothing") } else { f.write_str(&parts.join("; ")) }
    }
}
