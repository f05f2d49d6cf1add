use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};
use store::keys::{KeyState, KeyText, Keys};

use super::run::{Home, Run, ended, golden, holds, mode};

/// The key in the output of a run.
fn key(run: &Run) -> KeyText {
    KeyText::parse(&run.out).unwrap_or_else(|e| panic!("{e}: {run:?}"))
}

/// The keys in the list for scripts.
async fn listed(home: &Home) -> Vec<Value> {
    let report = home.run(&["key", "list", "--json"]).await.good().json();
    report["keys"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn help_says_what_there_is() {
    let home = Home::new();
    for command in ["key", "key new", "key list", "key revoke", "audit"] {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let run = home.run(&args).await.good();
        assert_eq!(run.err, "");
        golden(&format!("help-{}.txt", command.replace(' ', "-")), &run.out);
    }
}

#[tokio::test]
async fn a_key_is_shown_once_and_kept_as_a_digest() {
    let home = Home::new();
    let run = home.run(&["key", "new", "ann"]).await.good();
    let text = key(&run);
    assert_eq!(run.out, format!("{}\n", text.expose()), "a script gets the key alone");
    assert!(run.err.contains("\"ann\"") || run.err.contains("ann is valid for all profiles"), "{}", run.err);
    assert!(run.err.contains("Authorization: Bearer KEY") && !run.err.contains(text.expose()), "{}", run.err);

    let list = home.run(&["key", "list"]).await.good();
    assert!(list.out.contains("ann") && list.out.contains(text.prefix()), "{list:?}");
    assert!(!list.out.contains(text.expose()) && list.err.is_empty(), "{list:?}");
    assert!(!holds(&home.0, &text.expose()[12..]), "the key is nowhere in the user's files");
    assert_eq!(mode(&home.state()), 0o700);
    assert_eq!(mode(&home.state().join("keys.db")), 0o600);

    let keys = Keys::open(&home.state()).unwrap();
    let found = keys.find(&text.digest()).unwrap().expect("it is known by its digest");
    assert_eq!((found.name.as_str(), &found.profiles, found.state(0)), ("ann", &None, KeyState::Active));
}

#[tokio::test]
async fn profiles_and_ends_are_kept() {
    let config = "mcpServers: { demo: { native: demo } }\nprofiles: { build: { servers: [demo] } }\n";
    let home = Home::new().with("dragoman.yaml", config);
    let args = ["key", "new", "ci", "--profile", "build", "-p", "bulid", "--expires", "30d", "--json"];
    let run = home.run(&args).await.good();
    let told = run.json();
    assert!(run.err.contains("no profile \"bulid\"") && run.err.contains("build"), "{}", run.err);
    assert!(run.err.contains("auth: { keys: true }"), "{}", run.err);
    assert_eq!(told["profiles"], json!(["build", "bulid"]));
    assert_eq!((&told["state"], &told["lastUsed"]), (&json!("active"), &Value::Null));
    let text = KeyText::parse(told["key"].as_str().unwrap()).unwrap();
    assert_eq!(told["prefix"], text.prefix());

    let keys = Keys::open(&home.state()).unwrap();
    let kept = keys.find(&text.digest()).unwrap().unwrap();
    assert_eq!(kept.expires_ms.unwrap() - kept.created_ms, 30 * 24 * 3_600_000);

    let args = ["key", "new", "dated", "--expires", "2199-12-31T23:59Z", "-q"];
    let run = home.run(&args).await.good();
    assert_eq!(run.err, "");
    assert_eq!(listed(&home).await[1]["expires"], "2199-12-31T23:59:00.000Z");
    let table = home.run(&["key", "list"]).await.good().out;
    assert!(table.contains("build, bulid") && table.contains("2199-12-31 23:59"), "{table}");
}

#[tokio::test]
async fn a_file_that_extends_a_preset_is_read_as_it_is_served() {
    let config = "mcpServers: { wordpress: { site: { readOnly: true } } }\n\
                  auth: { keys: true }\naudit: true\nstateFolder: kept\n";
    let home = Home::new().with("more.yaml", config);
    let over = ["--config", "more.yaml", "--preset", "wordpress"];
    let with = |args: &[&'static str]| [args, &over].concat();
    let run = home.run(&with(&["key", "new", "ann"])).await.good();
    assert!(!run.err.contains("does not accept keys"), "{}", run.err);
    assert!(home.0.join("kept/keys.db").exists());
    assert!(home.run(&with(&["key", "list"])).await.good().out.contains("ann"));
    home.run(&with(&["audit"])).await.good();
    let run = home.run(&["check", "more.yaml", "--preset", "wordpress"]).await.good();
    assert!(run.out.contains("more.yaml with the preset wordpress is valid"), "{}", run.out);
    let run = home.run(&["check", "--preset", "bb"]).await.good();
    assert!(run.out.contains("The preset bb is valid") && run.out.contains("127.0.0.1:3000"), "{}", run.out);
    home.run(&["check", "more.yaml"]).await.refused(2, &["this server has no address and no command"]);
}

#[tokio::test]
async fn what_cannot_be_a_key_is_refused() {
    let home = Home::new();
    let own = key(&home.run(&["key", "new", "ann"]).await.good());
    home.run(&["key", "new", "ann"])
        .await
        .refused(1, &["a key named \"ann\" already exists", "= help: ", "revoke"]);
    home.run(&["key", "new", ""]).await.refused(2, &["is not a valid key name", "= help: "]);
    home.run(&["key", "new", "dgm_x"]).await.refused(2, &["is not a valid key name"]);
    let run =
        home.run(&["key", "new", own.expose()]).await.refused(2, &["is not a valid key name", own.prefix()]);
    assert!(!run.err.contains(&own.expose()[..13]), "{}", run.err);
    home.run(&["key", "new", "a\u{1b}[2J"]).await.refused(2, &["invisible"]);
    home.run(&["key", "new", "b", "--profile", ""]).await.refused(2, &["is not a valid profile name"]);
    home.run(&["key", "new", "b", "--expires", "soon"]).await.refused(2, &["30d", "YYYY-MM-DD"]);
    home.run(&["key", "new", "b", "--expires", "2001-01-01"]).await.refused(2, &["in the past"]);
    home.run(&["key", "new"]).await.refused(2, &["NAME"]);
    home.run(&["key"]).await.refused(2, &["revoke"]);
    let run = home.run(&["key", "new", "ann", "--json"]).await;
    assert_eq!(run.code, Some(1));
    assert!(run.json()["error"]["help"].as_str().unwrap().contains("revoke"), "{run:?}");
    assert_eq!(listed(&home).await.len(), 1);
}

#[tokio::test]
async fn keys_are_revoked_by_name_by_beginning_and_by_text() {
    let home = Home::new();
    let mut texts = Vec::new();
    for name in ["one", "two", "three"] {
        texts.push(key(&home.run(&["key", "new", name]).await.good()));
    }
    for (which, text) in [("one", &texts[0]), (texts[1].prefix(), &texts[1]), (texts[2].expose(), &texts[2])]
    {
        let run = home.run(&["key", "revoke", which]).await.good();
        assert!(run.out.contains(text.prefix()) && run.out.contains("is revoked"), "{run:?}");
        assert!(!run.out.contains(text.expose()));
    }
    let again = home.run(&["key", "revoke", "one"]).await.good();
    assert!(again.out.contains("was revoked"), "{again:?}");
    let states: HashSet<String> = listed(&home).await.iter().map(|key| key["state"].to_string()).collect();
    assert_eq!(states, HashSet::from(["\"revoked\"".to_owned()]));
    // The name is free again, and now belongs to the new key.
    home.run(&["key", "new", "one"]).await.good();
    let report = home.run(&["key", "revoke", "one", "--json"]).await.good().json();
    assert_ne!(report["prefix"], texts[0].prefix());
    assert_eq!((&report["state"], report["revoked"].is_string()), (&json!("revoked"), true));
}

#[tokio::test]
async fn what_is_not_there_cannot_be_revoked() {
    let home = Home::new();
    home.run(&["key", "revoke", "nobody"]).await.refused(1, &["nobody", "= help: `dragoman key list`"]);
    let text = key(&home.run(&["key", "new", "ann"]).await.good());
    let mut typo = text.expose().to_owned();
    let last = typo.pop().unwrap();
    typo.push(if last == 'a' { 'b' } else { 'a' });
    let run = home.run(&["key", "revoke", &typo]).await.refused(1, &["has this prefix"]);
    assert!(!run.err.contains(&typo[4..20]), "what may be a key is not repeated: {}", run.err);
    assert_eq!(listed(&home).await[0]["state"], "active");
}

#[tokio::test]
async fn rules_about_keys_that_nobody_has_are_noted() {
    let config = "mcpServers: { demo: { native: demo } }\nauth: { keys: true }\n\
                  access: [{ deny: '*', who: { key: [ann, 'dgm_*', gone, nobody, dgm_aaaaaaaa] } }]\n";
    let home = Home::new().with("dragoman.yaml", config);
    let count = async || home.run(&["check"]).await.good().err.lines().count();
    assert_eq!(count().await, 5);
    for name in ["ann", "gone"] {
        home.run(&["key", "new", name]).await.good();
    }
    assert_eq!(count().await, 2);
    home.run(&["key", "revoke", "gone"]).await.good();
    let notes = home.run(&["check", "--json"]).await.good().json()["notes"].clone();
    let notes: Vec<&str> = notes.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let [never, gone, nobody] = &notes[..] else { panic!("{notes:?}") };
    assert!(never.contains("`dgm_aaaaaaaa`") && never.contains("no new key can have it"), "{notes:?}");
    assert!(nobody.contains("yet"), "{notes:?}");
    // The doctor warns only about what can never be right.
    let doctor = home.run(&["doctor", "--json"]).await.out;
    assert!(doctor.contains("dgm_aaaaaaaa") && !doctor.contains("nobody"), "{doctor}");
    assert!(gone.contains("the key `gone`") && nobody.contains("the key `nobody`"), "{notes:?}");
}

#[tokio::test]
async fn to_look_makes_nothing() {
    let home = Home::new();
    let run = home.run(&["key", "list"]).await.good();
    assert_eq!(run.out, "");
    assert!(run.err.contains("dragoman key new NAME"), "{run:?}");
    assert_eq!(home.run(&["key", "list", "--json"]).await.good().json(), json!({"keys": []}));
    assert!(!home.0.join(".local").exists());
}

#[tokio::test]
async fn the_folder_is_where_one_says() {
    let config = "stateFolder: kept\nmcpServers: { demo: { native: demo } }\n";
    let home = Home::new().with("conf/dragoman.yaml", config);
    let is_kept = |folder: &Path| Keys::open_existing(folder).unwrap().is_some();
    home.run(&["key", "new", "a", "-c", "conf/dragoman.yaml"]).await.good();
    assert!(is_kept(&home.0.join("conf/kept")));
    home.run(&["key", "new", "a", "--state", "here"]).await.good();
    assert!(is_kept(&home.0.join("here")));
    let mut command = home.command(&["key", "new", "a"]);
    command.env("XDG_DATA_HOME", home.0.join("xdg"));
    ended(command).await.good();
    assert!(is_kept(&home.0.join("xdg/dragoman")));
    // The specification of these variables says that a relative path is ignored.
    let mut command = home.command(&["key", "new", "a"]);
    command.env("XDG_DATA_HOME", "xdg");
    ended(command).await.good();
    assert!(is_kept(&home.state()));
    let mut command = home.command(&["key", "list"]);
    command.env_remove("HOME");
    ended(command).await.refused(2, &["no home folder", "stateFolder"]);
}

#[tokio::test]
async fn processes_do_not_stand_in_each_others_way() {
    const COUNT: usize = 8;
    let home = Home::new();
    let runs: Vec<_> = (0..COUNT)
        .map(|number| {
            let command = home.command(&["key", "new", &format!("key-{number}")]);
            tokio::spawn(ended(command))
        })
        .collect();
    let mut texts = HashSet::new();
    for run in runs {
        let run = run.await.unwrap().good();
        texts.insert(key(&run).expose().to_owned());
    }
    assert_eq!(texts.len(), COUNT);
    let keys = listed(&home).await;
    let names: HashSet<String> = keys.iter().map(|key| key["name"].to_string()).collect();
    assert_eq!((keys.len(), names.len()), (COUNT, COUNT));
}
