use serde_json::Value;

use super::run::{Home, golden, mode};

/// The keys in the output of a run: use, state and number.
fn keys(report: &Value) -> Vec<(String, String, String)> {
    let text = |key: &Value, name: &str| key[name].as_str().expect("text").to_owned();
    let all = report["keys"].as_array().expect("a list");
    all.iter().map(|key| (text(key, "for"), text(key, "state"), text(key, "id"))).collect()
}

#[tokio::test]
async fn help_says_what_there_is() {
    let home = Home::new();
    for command in ["keyring", "keyring list", "keyring rotate"] {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        golden(&format!("help-{}.txt", command.replace(' ', "-")), &home.run(&args).await.good().out);
    }
}

#[tokio::test]
async fn keys_are_rotated_and_shown_without_their_secrets() {
    let home = Home::new();
    let none = home.run(&["keyring", "list"]).await.good();
    assert!(none.out.is_empty() && none.err.contains("no key ring yet"), "{none:?}");
    assert_eq!(home.run(&["keyring", "list", "--json"]).await.good().out, "{\"keys\":[]}\n");
    let first = keys(&home.run(&["keyring", "rotate", "--json"]).await.good().json());
    // Both were created at the same time, so the older key seals until every process knows the newer one.
    let states: Vec<(&str, &str)> = first.iter().map(|(role, state, _)| (&**role, &**state)).collect();
    assert_eq!(states, [("states", "waits"), ("names", "seals"), ("states", "seals")]);
    assert_eq!(mode(&home.state().join("keyring")), 0o600);
    let second = keys(&home.run(&["keyring", "rotate", "--names", "--json"]).await.good().json());
    assert_eq!(second.len(), 5);
    assert_eq!(second.iter().filter(|(role, ..)| role == "names").count(), 2);
    let table = home.run(&["keyring", "list"]).await.good();
    let text = std::fs::read_to_string(home.state().join("keyring")).expect("the ring");
    assert!(second.iter().all(|(.., id)| table.out.contains(&**id) && text.contains(&**id)), "{table:?}");
    for secret in text.split_whitespace().filter(|word| word.len() == 64) {
        assert!(!table.out.contains(&secret[..8]), "{table:?}");
    }
}

#[tokio::test]
async fn a_ring_that_the_configuration_names_is_the_one_that_is_meant() {
    let home =
        Home::new().with("dragoman.yaml", "keyRing: keys/ring\nmcpServers: { demo: { native: demo } }\n");
    home.run(&["keyring", "rotate"]).await.good();
    assert!(home.0.join("keys/ring").exists() && !home.state().join("keyring").exists());
    let home = home.with("keys/ring", "nonsense");
    home.run(&["keyring", "list"]).await.refused(1, &["keys/ring is not a key ring", "restore a backup"]);
    home.run(&["keyring", "rotate"]).await.refused(1, &["is not a key ring"]);
    assert_eq!(std::fs::read_to_string(home.0.join("keys/ring")).expect("the file"), "nonsense");
}
