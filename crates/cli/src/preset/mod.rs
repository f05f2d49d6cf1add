//! Presets: built-in configurations that make Dragoman behave like another system. A preset is the text of an ordinary
//! configuration; to add a preset, add a file and a line here. This module must not know how configurations are read.

/// A built-in configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preset {
    /// The value of `--preset`.
    pub(crate) name: &'static str,
    /// The configuration, as text.
    pub(crate) text: &'static str,
}

/// All presets, in the order in which they are shown.
const ALL: &[Preset] = &[
    Preset { name: "bb", text: include_str!("bb.yaml") },
    Preset { name: "buddyboss", text: include_str!("buddyboss.yaml") },
    Preset { name: "wordpress", text: include_str!("wordpress.yaml") },
    Preset { name: "gateway", text: include_str!("gateway.yaml") },
    Preset { name: "kulturarv", text: include_str!("kulturarv.yaml") },
];

/// Returns the preset with this name.
///
/// # Errors
/// Returns the known names.
pub(crate) fn parse(name: &str) -> Result<Preset, String> {
    let names = || ALL.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    ALL.iter()
        .find(|preset| preset.name == name)
        .copied()
        .ok_or_else(|| format!("the presets are {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Link, Lookup, UnknownArguments, load};

    #[test]
    fn presets_are_configurations() {
        let env = |name: &str| (name == "WORDPRESS_URL").then(|| "https://site.example".to_owned());
        let lookup = Lookup { env: &env, file: &|_| Err("there are no files".to_owned()) };
        for preset in ALL {
            let loaded = load(preset.text, preset.name, &lookup);
            let loaded = loaded.unwrap_or_else(|faults| panic!("{}: {faults}", preset.name));
            // Another file defines the servers of this preset.
            let notes = usize::from(preset.name == "gateway");
            assert_eq!(loaded.notes.len(), notes, "{}: {:?}", preset.name, loaded.notes);
            assert!(loaded.config.listen.iter().all(|address| address.ip().is_loopback()), "{}", preset.name);
            assert_eq!(parse(preset.name).unwrap(), *preset);
            // The systems that presets replace do the same.
            for server in loaded.config.mcp_servers.values() {
                let Link::Native(link) = &server.link else { continue };
                assert_eq!(link.unknown_arguments, UnknownArguments::Ignore, "{}", preset.name);
            }
        }
    }

    #[test]
    fn an_unknown_preset_names_those_that_there_are() {
        assert!(parse("nope").unwrap_err().contains("kulturarv"));
    }
}
