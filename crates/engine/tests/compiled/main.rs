//! Configurations compiled for the exchanges: rules, profiles and servers do what the configuration and the
//! documentation say.

mod documented;

use std::collections::BTreeMap;
use std::path::Path;

use config::{Config, DefinitionPolicy, IconTheme, Lookup, load};
use dragoman_engine::Snapshot;

fn loaded(text: &str) -> Config {
    let lookup = Lookup { env: &|_| None, file: &|_| Err("no such file".to_owned()) };
    load(text, "dragoman.yaml", &lookup).unwrap_or_else(|faults| panic!("{faults}")).config
}

#[test]
fn a_profile_describes_itself() {
    let text = r#"mcpServers: { a: { command: x } }
profiles:
  default:
    title: Plain
    serverInfo:
      name: example
      version: "2.1"
      description: "Tools of ${NONE:-Example}"
      websiteUrl: https://example.com/tools
      icons:
        - { src: "https://example.com/i.png", mimeType: image/png, sizes: [48x48, any], theme: dark }
        - { src: "data:image/svg+xml;base64,PHN2Zy8+" }
  named: { title: Plain, serverInfo: { title: Better } }
  plain: {}
"#;
    let config = loaded(text);
    assert_eq!(config.profiles["default"].server_info.icons[0].theme, Some(IconTheme::Dark));
    let snapshot = Snapshot::compile(&config, "1.0");
    let shown = |slug: &str| {
        let profile = snapshot.profiles.iter().find(|profile| *profile.slug == *slug).unwrap();
        (profile.server_info.clone(), profile.introduction())
    };
    let short = r#"{"name":"example","title":"Plain","version":"2.1""#;
    let whole = r#","description":"Tools of Example","websiteUrl":"https://example.com/tools","icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"},{"src":"data:image/svg+xml;base64,PHN2Zy8+"}]}"#;
    assert_eq!(shown("default"), (format!("{short}}}"), format!("{short}{whole}")));
    for (slug, wanted) in [
        ("named", r#"{"name":"dragoman","title":"Better","version":"1.0"}"#),
        ("plain", r#"{"name":"dragoman","version":"1.0"}"#),
    ] {
        assert_eq!(shown(slug), (wanted.to_owned(), wanted.to_owned()));
    }
}

#[test]
fn a_server_has_its_own_rule_for_changed_definitions_or_that_of_all() {
    let text = "definitions: hold\nmcpServers: { a: { command: x }, b: { command: x, definitions: allow }, c: { native: demo } }";
    let specs = Snapshot::compile(&loaded(text), "0").upstreams;
    let policies: BTreeMap<_, _> = specs.iter().map(|spec| (&*spec.name, spec.definitions)).collect();
    let wanted =
        [("a", DefinitionPolicy::Hold), ("b", DefinitionPolicy::Allow), ("c", DefinitionPolicy::Allow)];
    assert_eq!(policies, BTreeMap::from(wanted));
}

/// The page about sessions names each server that has one connection for all.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test, not the engine, reads the documentation")]
fn each_known_server_is_in_the_page_about_sessions() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sessions.md");
    let page = std::fs::read_to_string(page).expect("it can be read");
    for server in dragoman_engine::known_servers::SINGLE_SERVERS {
        assert!(page.contains(&format!("`{server}`")), "{server}");
    }
}
