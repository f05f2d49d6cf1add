//! Configurations from the outside: accepted and rejected ones, and the messages.

mod accepted;
mod accepted_guards;
mod advised;
mod advised_sign_in;
mod bare_variables;
mod consent;
mod extended;
mod faults_of_auth;
mod faults_of_dialects;
mod faults_of_links;
mod faults_of_rules;
mod faults_of_servers;
mod faults_of_the_rest;
mod hostile;
mod hostile_trees;
mod pasted;
mod rendered;
mod routes;
mod schema;
mod server_info;
mod tls;

use dragoman_config::{EmbeddedItems, Fault, Faults, Loaded, Lookup, Native, NativeLink, load_knowing};

/// The value `hush` must never be shown. Of the embedded servers, only the offers of `heritage` and `plain` are known.
fn try_load(text: &str) -> Result<Loaded, Faults> {
    let env = |name: &str| match name {
        "SECRET" => Some("hush".to_owned()),
        "EMPTY" => Some(String::new()),
        "LINES" => Some("hush\nhush".to_owned()),
        "ADDRESS" => Some("192.0.2.7".to_owned()),
        "NUMBER" => Some("7".to_owned()),
        "YES" => Some("true".to_owned()),
        _ => None,
    };
    let file = |path: &str| match path {
        "/run/secrets/token" => Ok("from a file\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let offers = |link: &NativeLink| match link.native {
        Native::Heritage => {
            Some(EmbeddedItems { tools: strings(["find", "describe"]), prompts: strings(["tell"]) })
        }
        Native::Plain => Some(EmbeddedItems { tools: vec!["l".repeat(40)], prompts: Vec::new() }),
        _ => None,
    };
    load_knowing(None, text, "dragoman.yaml", &Lookup { env: &env, file: &file }, &offers)
}

fn strings<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}

fn loaded(text: &str) -> Loaded {
    try_load(text).unwrap_or_else(|faults| panic!("{faults}"))
}

fn rendered(text: &str) -> String {
    try_load(text).expect_err(text).to_string()
}

/// One line per fault: position, path, `[the highlighted text]`, the message, `=>` and the help.
fn in_short(faults: &[Fault]) -> Vec<String> {
    let short = |fault: &Fault| {
        let Fault { line, column, path, offending, message, help, .. } = fault;
        format!("{line}:{column} {path} [{offending}] {message} => {help}")
    };
    faults.iter().map(short).collect()
}

fn faults_in_short(text: &str) -> Vec<String> {
    in_short(&try_load(text).expect_err(text).faults)
}

fn notes_in_short(text: &str) -> Vec<String> {
    in_short(&loaded(text).notes)
}

fn same(text: &str, have: &[String], wanted: &[&str]) {
    assert_eq!(have, wanted, "in the configuration\n{text}");
    assert!(!have.concat().contains("hush"), "a secret is told");
}
