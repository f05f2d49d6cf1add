//! Tests of the record of one server, beginning with the tests of attacks.

use std::sync::Arc;

use bytes::Bytes;
use config::{DefinitionPolicy, Lookup, load};
use engine::catalogue::{Item, ListKind};
use engine::pinning::{Fingerprint, Pins, normal_form};
use engine::{Snapshot, snapshot::UpstreamSpec};
use parking_lot::Mutex;
use store::catalogues::ServerDigest;
use store::definitions::ListedDefinitions;

use super::{DefinitionCounts, DefinitionRecord, DefinitionStore, ListSlot, ListSource, StoredRecord};

/// A store in memory.
#[derive(Default)]
struct Memory {
    pins: Mutex<Pins>,
    recorded: Mutex<Vec<ListedDefinitions>>,
    is_full: bool,
}

impl DefinitionStore for Memory {
    fn digest(&self, server: &[u8]) -> ServerDigest {
        let mut digest = [0; 32];
        for (at, byte) in server.iter().enumerate() {
            digest[at % 32] ^= byte;
        }
        digest
    }

    fn load(&self, _: &ServerDigest) -> Result<StoredRecord, String> {
        let last = self.recorded.lock().last().map(|last| last.listed.clone()).unwrap_or_default();
        let listed = last.into_iter().map(|(tool, one)| (tool.as_str().into(), Fingerprint(one))).collect();
        Ok(StoredRecord { pins: self.pins.lock().clone(), listed, is_full: self.is_full })
    }

    fn record(&self, _: &ServerDigest, listed: ListedDefinitions) {
        let mut pins = self.pins.lock();
        for one in &listed.new {
            pins.add(one.tool.as_str().into(), Fingerprint(one.fingerprint), one.is_approved);
        }
        listed.audiences.iter().for_each(|audience| pins.add_audience(*audience));
        pins.set_incomplete(listed.incomplete);
        pins.forget_unlisted(|tool, one| {
            listed.listed.iter().any(|(name, own)| **name == **tool && *own == one.0)
        });
        self.recorded.lock().push(listed);
    }
}

fn spec(server: &str) -> UpstreamSpec {
    let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
    let text = format!("mcpServers: {{ far: {{ {server} }} }}\n");
    Snapshot::compile(&load(&text, "test", &nothing).unwrap().config, "0").upstreams.remove(0)
}

fn record(policy: DefinitionPolicy) -> (Arc<DefinitionRecord>, Arc<Memory>) {
    let (record, memory) = (DefinitionRecord::new(policy), Arc::new(Memory::default()));
    let store: Arc<dyn DefinitionStore> = memory.clone();
    record.open(&store, &spec("url: 'http://127.0.0.1:1/mcp'")).unwrap();
    (record, memory)
}

fn tools(all: &[(&str, &str)]) -> Vec<Item> {
    let tool = |(name, description): &(&str, &str)| {
        let text =
            format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#);
        Item::read(ListKind::Tools, Bytes::from(text)).unwrap()
    };
    all.iter().map(tool).collect()
}

const LISTED: ListSource = (0, ListSlot::Lifecycle(0));
const OTHER_CALLER: ListSource = (1, ListSlot::Lifecycle(0));

/// The withheld tools of a list, in order.
fn held(record: &DefinitionRecord, source: ListSource, all: &[(&str, &str)]) -> Vec<String> {
    let judged = record.judge(&"far".into(), source, &tools(all), true);
    let mut held: Vec<String> = judged.held.iter().map(ToString::to_string).collect();
    held.sort();
    held
}

/// Approves everything that was ever recorded for a tool with this definition.
fn approve(record: &DefinitionRecord, memory: &Memory, tool: &str, description: &str) {
    let one = super::record::fingerprint(&normal_form(&tools(&[(tool, description)])[0].text));
    memory.pins.lock().add(tool.into(), one, true);
    assert!(record.reload().unwrap(), "it differs");
}

#[test]
fn a_tool_that_changes_after_its_approval_is_withheld_until_it_is_approved_again() {
    let (record, memory) = record(DefinitionPolicy::Hold);
    assert!(held(&record, LISTED, &[("a", "good"), ("b", "good")]).is_empty(), "first sight");
    for _ in 0..2 {
        // Back and forth.
        assert_eq!(held(&record, LISTED, &[("a", "evil"), ("b", "good"), ("x", "new")]), ["a", "x"]);
        assert!(held(&record, LISTED, &[("a", "good"), ("b", "good")]).is_empty());
    }
    let seen =
        record.judge(&"far".into(), LISTED, &tools(&[("a", "evil"), ("x", "new")]), true).sightings.unwrap();
    assert_eq!(record.held(&seen).len(), 2);
    let counts = DefinitionCounts { changed: 1, new: 1, vanished: 1 };
    assert_eq!(record.counts(), counts);
    approve(&record, &memory, "a", "evil");
    let now = record.held(&seen);
    assert_eq!(now.iter().map(|tool| &**tool).collect::<Vec<_>>(), ["x"]);
}

#[test]
fn a_warning_withholds_nothing_and_names_each_definition() {
    let (record, _) = record(DefinitionPolicy::Warn);
    let judge = |all: &[(&str, &str)]| record.judge(&"far".into(), LISTED, &tools(all), true);
    assert!(judge(&[("a", "good")]).note.is_none());
    let first = judge(&[("a", "evil"), ("\\u001b[2Jx", "new")]);
    let note = first.note.unwrap();
    assert!(first.held.is_empty() && !note.contains('\x1b'), "{note}");
    assert!(
        note.contains("changed: \"a\" (") && note.contains("new: \"") && note.contains("nevertheless"),
        "{note}"
    );
    assert!(judge(&[("a", "evil"), ("\\u001b[2Jx", "new")]).note.is_none(), "it was noted before");
    let whole = super::record::fingerprint(&normal_form(&tools(&[("a", "evil")])[0].text)).to_string();
    assert!(whole.len() == 64 && note.contains(&whole), "{note}");
    assert_ne!(judge(&[("a", "worse")]).note.unwrap(), note, "another definition is news");
    let many: Vec<String> = (0..50).map(|n| format!("t{n}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "new")).collect();
    assert!(judge(&many).note.unwrap().contains(" and 42 more"));
    let last: Vec<(&str, &str)> = many[..49].iter().copied().chain([("t49", "other")]).collect();
    assert!(judge(&last).note.is_some(), "a definition that is not named is news, too");
}

#[test]
fn a_change_is_stored_each_time_it_comes_back() {
    let (record, memory) = record(DefinitionPolicy::Hold);
    held(&record, LISTED, &[("a", "good")]);
    let is_stored = |what: &str| {
        let one = super::record::fingerprint(&normal_form(&tools(&[("a", what)])[0].text));
        let known = memory.pins.lock();
        known.knows(&engine::pinning::ListedDefinition { tool: "a".into(), fingerprint: one })
    };
    for _ in 0..3 {
        assert_eq!(held(&record, LISTED, &[("a", "evil")]), ["a"]);
        assert!(is_stored("evil"), "a review must show it");
        held(&record, LISTED, &[("a", "good")]);
        assert!(!is_stored("evil"));
    }
    // A restart: the record knows a change that the first list lacks, and that the second one has.
    held(&record, LISTED, &[("a", "evil")]);
    let again = DefinitionRecord::new(DefinitionPolicy::Hold);
    let store: Arc<dyn DefinitionStore> = memory.clone();
    again.open(&store, &spec("url: 'http://127.0.0.1:1/mcp'")).unwrap();
    held(&again, LISTED, &[("a", "good")]);
    assert!(!is_stored("evil"));
    held(&again, LISTED, &[("a", "evil")]);
    assert!(is_stored("evil"));
    // Two processes to which the server lists different definitions.
    record.reload().unwrap();
    held(&record, LISTED, &[("a", "good")]);
    assert!(!is_stored("evil"));
    again.reload().unwrap();
    assert_eq!(held(&again, LISTED, &[("a", "evil")]), ["a"]);
    assert!(is_stored("evil"), "the other process has deleted it");
}

#[test]
fn a_server_that_changes_all_the_time_does_not_fill_the_memory() {
    let (record, memory) = record(DefinitionPolicy::Warn);
    for moment in 0..300 {
        held(&record, LISTED, &[("a", format!("as of {moment}").as_str())]);
    }
    let known = (0..300).filter(|moment| {
        let one = tools(&[("a", format!("as of {moment}").as_str())]);
        let fingerprint = super::record::fingerprint(&normal_form(&one[0].text));
        memory.pins.lock().knows(&engine::pinning::ListedDefinition { tool: "a".into(), fingerprint })
    });
    assert_eq!(known.collect::<Vec<_>>(), [0, 299]);
    assert!(!record.reload().unwrap(), "the record in memory is the stored one");
}

#[test]
fn lists_that_never_end_are_approved_once() {
    let (record, _) = record(DefinitionPolicy::Hold);
    let judge = |all: &[(&str, &str)]| record.judge(&"far".into(), LISTED, &tools(all), false).held;
    assert!(judge(&[("a", "good")]).is_empty());
    assert_eq!(judge(&[("a", "good"), ("evil", "new")]).len(), 1);
}

#[test]
fn nothing_is_stored_twice_and_lists_of_all_callers_count() {
    let (record, memory) = record(DefinitionPolicy::Hold);
    held(&record, LISTED, &[("a", "good")]);
    held(&record, LISTED, &[("a", "good")]);
    assert_eq!(memory.recorded.lock().len(), 1);
    assert!(held(&record, OTHER_CALLER, &[("a", "good")]).is_empty(), "approved for all");
    assert_eq!(held(&record, OTHER_CALLER, &[("a", "for you"), ("own", "x")]), ["a", "own"]);
    let last = memory.recorded.lock().last().cloned().unwrap();
    assert_eq!((last.listed.len(), last.new.len()), (3, 2), "both definitions of `a` are listed");
    record.forget(1);
    held(&record, LISTED, &[("a", "good")]);
    assert_eq!(memory.recorded.lock().last().unwrap().listed.len(), 1);
}

#[test]
fn a_policy_takes_effect_at_once_and_without_a_record_nothing_is_approved() {
    let (record, _) = record(DefinitionPolicy::Allow);
    assert!(held(&record, LISTED, &[("a", "good")]).is_empty());
    assert!(record.set_policy(DefinitionPolicy::Hold) && !record.set_policy(DefinitionPolicy::Hold));
    assert!(held(&record, LISTED, &[("a", "good")]).is_empty(), "first sight");
    assert_eq!(held(&record, LISTED, &[("a", "evil")]), ["a"]);
    let judged = record.judge(&"far".into(), LISTED, &tools(&[("a", "evil")]), true);
    record.set_policy(DefinitionPolicy::Warn);
    assert!(judged.held.len() == 1 && record.held(&judged.sightings.unwrap()).is_empty());
    let unopened = DefinitionRecord::new(DefinitionPolicy::Hold);
    assert_eq!(held(&unopened, LISTED, &[("a", "good")]), ["a"]);
    let full: Arc<dyn DefinitionStore> = Arc::new(Memory { is_full: true, ..Memory::default() });
    unopened.open(&full, &spec("url: 'http://127.0.0.1:1/mcp'")).unwrap();
    assert_eq!(held(&unopened, LISTED, &[("a", "good")]), ["a"], "there is no room for the server");
}

#[test]
fn a_new_token_is_no_new_server_but_another_address_is() {
    let identity = |server: &str| super::store::identity(&spec(server));
    let base = identity("url: 'http://h/mcp', headers: { Authorization: one }");
    assert_eq!(base, identity("url: 'http://h/mcp', headers: { Authorization: two }"));
    assert_ne!(base, identity("url: 'http://h/other', headers: { Authorization: one }"));
    assert_eq!(identity("url: 'http://h/mcp?key=one'"), identity("url: 'http://h/mcp?key=two'"));
    let filled = |value: &str| {
        let lookup = Lookup { env: &|_| Some(value.to_owned()), file: &|_| Err("no files".to_owned()) };
        let text = "mcpServers: { far: { command: c, args: ['--token=${TOKEN}'] } }\n";
        let spec = Snapshot::compile(&load(text, "test", &lookup).unwrap().config, "0").upstreams.remove(0);
        super::store::identity(&spec)
    };
    assert_eq!(filled("first-token"), filled("second-token"));
    assert_eq!(identity("command: c, env: { K: one }"), identity("command: c, env: { K: two }"));
    assert_ne!(identity("command: c, args: [x@1]"), identity("command: c, args: [x@2]"));
    assert_eq!(identity("native: demo"), None, "such servers change with the version of the binary");
}
