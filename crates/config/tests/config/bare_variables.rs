//! `$NAME` without braces, which some clients fill in; and advice for keys with which other clients protect or grant
//! access.

use std::time::Duration;

use dragoman_config::{Link, Text};

use crate::{faults_in_short, loaded, notes_in_short, same};

#[test]
fn a_bare_variable_is_refused_where_it_stands() {
    let text = r#"mcpServers:
  db: { command: psql, args: [-h, "$PGHOST"], env: { DATABASE_URL: "$DB", PASSWORD: "hush$HUSH" } }
  web: { httpUrl: "https://h/$TENANT/mcp", headers: { Authorization: "Bearer $API_KEY" } }
"#;
    let help = |name: &str| {
        format!(
            "`${name}` is not substituted here => write ${{{name}}} for the variable, or $${name} for the characters `${name}` \
             themselves"
        )
    };
    let faults = faults_in_short(text);
    for (fault, name, at) in [
        (&faults[0], "PGHOST", "2:35 mcpServers.db.args.[1]"),
        (&faults[1], "DB", "2:68 mcpServers.db.env.DATABASE_URL"),
        (&faults[2], "NAME", "2:83 mcpServers.db.env.PASSWORD"),
        (&faults[3], "TENANT", "3:30 mcpServers.web.httpUrl"),
        (&faults[4], "API_KEY", "3:78 mcpServers.web.headers.Authorization"),
    ] {
        assert!(fault.ends_with(&help(name)), "{fault}");
        let (place, way) = at.split_once(' ').unwrap();
        assert!(fault.contains(way) || fault.contains(&way.replace(".[", "[")), "{place} {fault}");
    }
    assert!(
        !faults.concat().contains("hush") && !faults.concat().contains("HUSH") && faults.len() == 5,
        "{faults:#?}"
    );
}

#[test]
fn other_dollars_stay() {
    let text = r#"mcpServers:
  a: { command: sh, args: [-c, "echo $1 $$ $x $$HOME"], env: { PRICE: "$5", REGEX: "^a$", LITERAL: "$$DB" }, description: "costs $USD" }
"#;
    let config = loaded(text).config;
    let Link::Stdio(link) = &config.mcp_servers["a"].link else { panic!("a command") };
    assert_eq!(link.args[1].expose(), "echo $1 $$ $x $HOME");
    let env: Vec<&str> = link.env.values().map(Text::expose).collect();
    assert_eq!(env, ["$5", "^a$", "$DB"]);
}

#[test]
fn what_protected_or_let_in_elsewhere_is_not_called_nothing() {
    let text = r#"{ "theme": "dark", "mcp": { "allowed": ["a"] }, "mcpServers": {
  "cursor": { "url": "https://h/mcp", "auth": { "CLIENT_ID": "x", "scopes": ["a"] } },
  "code": { "command": "x", "sandboxEnabled": true },
  "free": { "command": "x", "sandboxEnabled": false },
  "gemini": { "httpUrl": "https://h/mcp", "authProviderType": "google_credentials" }
} }"#;
    let notes = notes_in_short(text);
    for said in [
        "mcpServers.cursor.auth [\"auth\"] `auth` is not used by Dragoman => write oauth: { clientId: …, clientSecret: …, scopes: […] }",
        "mcpServers.code.sandboxEnabled [\"sandboxEnabled\"] `sandboxEnabled` is not used by Dragoman => Dragoman starts the server without a sandbox, so this protection is lost",
        "mcpServers.free.sandboxEnabled [\"sandboxEnabled\"] `sandboxEnabled` is not used by Dragoman => no change needed",
        "mcpServers.gemini.authProviderType [\"authProviderType\"] `authProviderType` is not used by Dragoman => Dragoman gets no token that way",
        "theme [\"theme\"] `theme` is not used by Dragoman => no change needed",
        "mcp [\"mcp\"] `mcp` is not used by Dragoman => choose servers per profile",
    ] {
        assert!(notes.iter().any(|note| note.contains(said)), "{said}\n{notes:#?}");
    }
}

#[test]
fn the_time_to_start_is_said_per_server_or_for_all() {
    let text = "limits: { startTimeout: 2m }\nmcpServers: { a: { command: x, startTimeout: 5m }, b: { command: x } }\n";
    let config = loaded(text).config;
    let own = |name: &str| config.mcp_servers[name].start_timeout;
    assert_eq!((own("a"), own("b")), (Some(Duration::from_mins(5)), None));
    assert_eq!(config.limits.start_timeout, Duration::from_mins(2));
    let text = "mcpServers: { a: { command: x, startTimeout: 2h } }";
    let fault =
        "1:46 mcpServers.a.startTimeout [2h] a timeout of 2h is out of range => write a time from 1ms to 1h";
    same(text, &faults_in_short(text), &[fault]);
}
