//! Tests of the file of definitions.

use super::*;
use crate::database::tests::Folder;

const SERVER: &[u8] = b"a server";

fn open(folder: &Folder) -> (Definitions, ServerDigest) {
    let file = Definitions::open(folder.path(), &[1; 32]).unwrap();
    let digest = file.digest(SERVER);
    (file, digest)
}

/// Lists tools of a server, each with the number of its definition; `true` marks an approved definition.
fn listing(tools: &[(&str, u8, bool)]) -> ListedDefinitions {
    let new = |&(tool, number, is_approved): &(&str, u8, bool)| NewDefinition {
        tool: tool.to_owned(),
        fingerprint: [number; 32],
        body: vec![b'0' + number],
        is_approved,
    };
    ListedDefinitions {
        name: "files".to_owned(),
        audiences: vec![0, 5],
        new: tools.iter().map(new).collect(),
        listed: tools.iter().map(|(tool, number, _)| ((*tool).to_owned(), [*number; 32])).collect(),
    }
}

/// The definitions of the file: tool, number, listed, approved.
fn all(file: &Definitions, server: &ServerDigest) -> Vec<(String, u8, bool, bool)> {
    let all = file.of_server(server, false).unwrap();
    all.into_iter()
        .map(|one| (one.tool, one.fingerprint[0], one.is_listed, one.approved_ms.is_some()))
        .collect()
}

fn approve(
    file: &mut Definitions,
    tools: Option<&[String]>,
    revision: Option<&str>,
) -> Result<Vec<String>, ApprovalRefused> {
    let server = file.digest(SERVER);
    file.approve(&server, ApprovalRequest { tools, revision, by: "ann" }, 9).unwrap()
}

fn row(tool: &str, number: u8, listed: bool, approved: bool) -> (String, u8, bool, bool) {
    (tool.to_owned(), number, listed, approved)
}

#[test]
fn what_was_seen_and_approved_is_found_by_the_next_process() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    assert!(Definitions::open_existing(Folder::new().path(), &[1; 32]).unwrap().is_none());
    file.record(&server, &listing(&[("a", 1, true)]), 7).unwrap();
    drop(file);
    let (file, server) = open(&folder);
    let known = file.servers().unwrap();
    let wanted = RecordedServer { digest: server, name: "files".to_owned(), audiences: vec![0, 5] };
    assert_eq!((known, file.server(&server).unwrap()), (vec![wanted.clone()], Some(wanted)));
    let one = file.of_server(&server, true).unwrap().remove(0);
    assert_eq!((one.body, one.first_seen_ms, one.approved_ms), (b"1".to_vec(), 7, Some(7)));
    assert_eq!(one.approved_by.as_deref(), Some(FIRST_SIGHT));
    assert_eq!(file.server(&[0; 32]).unwrap(), None);
}

#[test]
fn an_approval_replaces_what_is_no_longer_listed() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true), ("b", 1, true)]), 1).unwrap();
    file.record(&server, &listing(&[("a", 2, false), ("b", 1, false), ("c", 1, false)]), 2).unwrap();
    assert_eq!(
        all(&file, &server),
        [
            row("a", 1, false, true),
            row("a", 2, true, false),
            row("b", 1, true, true),
            row("c", 1, true, false)
        ]
    );
    let named = ["a".to_owned()];
    assert_eq!(approve(&mut file, Some(&named), None), Ok(named.to_vec()));
    assert_eq!(
        all(&file, &server),
        [row("a", 2, true, true), row("b", 1, true, true), row("c", 1, true, false)],
        "the earlier definition is a change again"
    );
    assert_eq!(approve(&mut file, Some(&named), None), Err(ApprovalRefused::Unknown("a".to_owned())));
    assert_eq!(approve(&mut file, None, None), Ok(vec!["c".to_owned()]));
    assert_eq!(file.of_server(&server, false).unwrap()[2].approved_by.as_deref(), Some("ann"));
}

#[test]
fn nothing_is_approved_that_changed_after_the_review() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true)]), 1).unwrap();
    file.record(&server, &listing(&[("a", 2, false)]), 2).unwrap();
    let reviewed = revision(&file.of_server(&server, false).unwrap());
    file.record(&server, &listing(&[("a", 3, false)]), 3).unwrap();
    let now = revision(&file.of_server(&server, false).unwrap());
    assert_eq!(approve(&mut file, None, Some(&reviewed)), Err(ApprovalRefused::Outdated(now.clone())));
    assert_eq!(all(&file, &server), [row("a", 1, false, true), row("a", 3, true, false)]);
    assert_eq!(approve(&mut file, None, Some(&now)), Ok(vec!["a".to_owned()]));
}

#[test]
fn tools_that_are_gone_stay_in_the_record_until_somebody_has_seen_it() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true), ("b", 1, true)]), 1).unwrap();
    file.record(&server, &listing(&[("a", 1, false)]), 2).unwrap();
    assert_eq!(open_tools(&file.of_server(&server, false).unwrap()), ["b"]);
    assert_eq!(approve(&mut file, None, None), Ok(vec!["b".to_owned()]));
    assert_eq!(all(&file, &server), [row("a", 1, true, true)]);
}

#[test]
fn a_second_process_approves_no_other_definition_on_first_sight() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    let (mut other, _) = open(&folder);
    let before = other.version().unwrap();
    file.record(&server, &listing(&[("a", 1, true)]), 1).unwrap();
    assert_ne!(other.version().unwrap(), before, "it learns of the change");
    other.record(&server, &listing(&[("a", 2, true)]), 1).unwrap();
    assert_eq!(all(&file, &server), [row("a", 1, false, true), row("a", 2, true, false)]);
}
