//! The behavior of the five dialects: a transcript for each rule, played against the program with the preset, over
//! sockets and pipes.
//!
//! The transcripts are the specification. Each is written by hand, and each can fail. `docs/dialects.md` is their index;
//! `DRAGOMAN_BLESS=1 cargo test -p dragoman --test dialects page` writes it. To run a single transcript:
//! `DRAGOMAN_ONLY=S0-08 cargo test -p dragoman --test dialects`.
//!
//! | file | is for |
//! |---|---|
//! | `file` | the format of transcripts |
//! | `words`, `json` | the comparison of texts and JSON |
//! | `place`, `process` | the set-up: sites, servers, the gateway |
//! | `play`, `web` | a scene, step by step |
//! | `systems`, `page`, `own` | the systems; `docs/dialects.md`; its part about custom dialects |

mod file;
mod json;
mod own;
mod page;
mod place;
mod play;
mod process;
mod systems;
mod web;
mod words;

use std::collections::BTreeSet;

use file::{File, Scene};
use place::Place;
use systems::{OPEN, SYSTEMS};

/// The number of set-ups that run at once.
const AT_ONCE: usize = 4;

/// Scenes that can share a gateway, each with its file's name.
type Group = Vec<(String, Scene)>;

/// The scenes of a system's files, by set-up.
fn groups(files: &[File], number: usize) -> Vec<Group> {
    let only = std::env::var("DRAGOMAN_ONLY").ok();
    let mut groups: Vec<Group> = Vec::new();
    for file in files {
        let ours = file.name.as_bytes().get(1).is_some_and(|digit| usize::from(digit - b'0') == number);
        if !ours || only.as_ref().is_some_and(|only| !file.name.starts_with(only)) {
            continue;
        }
        for scene in &file.scenes {
            let one = (file.name.clone(), scene.clone());
            let shared = |group: &&mut Group| group[0].1.setup == scene.setup;
            // Over pipes there is only one client.
            match groups.iter_mut().find(shared).filter(|_| !scene.setup.pipes && !scene.setup.alone) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
    }
    groups
}

/// Plays a group; returns the differences, each with the file's name.
async fn play_group(group: Group) -> Vec<String> {
    let mut wrong = Vec::new();
    match Place::start(&group[0].1.setup).await {
        Ok(mut place) => {
            for (name, scene) in &group {
                wrong.extend(play::play(scene, &mut place).await.err().map(|why| format!("{name}: {why}")));
            }
        }
        Err(why) => wrong.extend(group.iter().map(|(name, _)| format!("{name}: {why}"))),
    }
    wrong
}

/// Plays all transcripts of a system.
async fn check(number: usize) {
    let (files, mut wrong) = File::all();
    wrong.retain(|fault| fault[1..].starts_with(&number.to_string()));
    let mut waiting = groups(&files, number).into_iter();
    let mut running = tokio::task::JoinSet::new();
    loop {
        while running.len() < AT_ONCE
            && let Some(group) = waiting.next()
        {
            running.spawn(play_group(group));
        }
        match running.join_next().await {
            Some(found) => wrong.extend(found.expect("it does not panic")),
            None => break,
        }
    }
    let is_open = |fault: &String| OPEN.iter().any(|(rule, _)| fault.starts_with(rule));
    if std::env::var_os("DRAGOMAN_ONLY").is_none() {
        let ours = OPEN.iter().filter(|(rule, _)| rule[1..].starts_with(&number.to_string()));
        for (rule, _) in ours {
            assert!(wrong.iter().any(|fault| fault.starts_with(rule)), "{rule} is kept: take it out of OPEN");
        }
        wrong.retain(|fault| !is_open(fault));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} differences\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[tokio::test]
async fn buddyboss() {
    check(0).await;
}

#[tokio::test]
async fn bb() {
    check(1).await;
}

#[tokio::test]
async fn wordpress() {
    check(2).await;
}

#[tokio::test]
async fn gateway() {
    check(3).await;
}

#[tokio::test]
async fn kulturarv() {
    check(4).await;
}

/// Each rule has its transcript, and the only others are those of the documents' examples.
#[test]
fn each_rule_has_a_transcript() {
    let (files, faults) = File::all();
    assert!(faults.is_empty(), "{faults:#?}");
    let found: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let wanted: BTreeSet<String> = SYSTEMS
        .iter()
        .flat_map(|system| (1..=system.rules).map(|rule| format!("S{}-{rule:02}", system.number)))
        .collect();
    let missing: Vec<&String> = wanted.iter().filter(|name| !found.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "without a transcript: {missing:?}");
    let foreign: Vec<&&str> =
        found.iter().filter(|name| !wanted.contains(**name) && !name.starts_with('D')).collect();
    assert!(foreign.is_empty(), "no rule has this number: {foreign:?}");
    assert_eq!(wanted.len(), 129);
}
