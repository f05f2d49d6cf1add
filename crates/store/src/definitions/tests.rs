//! Tests of the file of definitions.

use proptest::prelude::*;

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
        incomplete: 2,
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
    let wanted =
        RecordedServer { digest: server, name: "files".to_owned(), audiences: vec![0, 5], incomplete: 2 };
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
    let reviewed = file.revision(&file.of_server(&server, false).unwrap());
    file.record(&server, &listing(&[("a", 3, false)]), 3).unwrap();
    let now = file.revision(&file.of_server(&server, false).unwrap());
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
    let now = file.of_server(&server, false).unwrap();
    assert_eq!(open_tools(&now).map(|(tool, own)| (tool, own.len())).collect::<Vec<_>>(), [("b", 1)]);
    assert_eq!(approve(&mut file, None, None), Ok(vec!["b".to_owned()]));
    assert_eq!(all(&file, &server), [row("a", 1, true, true)]);
}

#[test]
fn the_times_at_which_tools_came_and_went_are_kept() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true), ("b", 1, true)]), 1).unwrap();
    file.record(&server, &listing(&[("a", 2, false)]), 2).unwrap();
    file.record(&server, &listing(&[("a", 2, false)]), 3).unwrap();
    let times = |file: &Definitions| {
        let all = file.of_server(&server, false).unwrap().into_iter();
        all.map(|one| (one.tool, one.tool_seen_ms, one.first_seen_ms, one.unlisted_ms)).collect::<Vec<_>>()
    };
    let (a, b) = ("a".to_owned(), "b".to_owned());
    let want = [(a.clone(), 1, 1, Some(2)), (a.clone(), 1, 2, None), (b.clone(), 1, 1, Some(2))];
    assert_eq!(times(&file), want);
    assert_eq!(approve(&mut file, Some(std::slice::from_ref(&a)), None), Ok(vec![a.clone()]));
    drop(file);
    let (mut file, _) = open(&folder);
    assert_eq!(times(&file), [(a.clone(), 1, 2, None), (b.clone(), 1, 1, Some(2))]);
    file.record(&server, &listing(&[("a", 2, false), ("b", 1, false)]), 9).unwrap();
    assert_eq!(times(&file), [(a, 1, 2, None), (b, 1, 1, None)], "it is listed again");
}

#[test]
fn a_file_of_the_version_before_gets_the_times_that_it_knows() {
    let folder = Folder::new();
    let before = Purpose { steps: &[FIRST, SECOND], ..PURPOSE };
    let mut file = Database::open(&folder.path().join(FILE), &before).unwrap();
    let row = "INSERT INTO servers (server, name, audiences, seen_ms) VALUES (x'01', 's', '0', 1);
               INSERT INTO definitions (server, tool, fingerprint, body, first_seen_ms, listed, approved_ms)
               VALUES (x'01', 't', x'01', x'', 5, 0, 5), (x'01', 't', x'02', x'', 7, 1, NULL);";
    file.write(|file| file.execute_batch(row)).unwrap();
    drop(file);
    let (file, _) = open(&folder);
    let sql = "SELECT group_concat(tool_seen_ms || ' ' || ifnull(unlisted_ms, '-')) FROM definitions";
    let text: String = file.file.read(|file| file.query_row(sql, [], |row| row.get(0))).unwrap();
    assert_eq!(text, "5 -,5 -");
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

#[test]
fn a_revision_cannot_be_computed_without_the_key() {
    let (folder, other) = (Folder::new(), Folder::new());
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true)]), 1).unwrap();
    file.record(&server, &listing(&[("a", 2, false)]), 2).unwrap();
    let all = file.of_server(&server, false).unwrap();
    let code = file.revision(&all);
    assert!(code.len() == 32 && code.chars().all(|c| c.is_ascii_hexdigit()), "{code}");
    let elsewhere = Definitions::open(other.path(), &[2; 32]).unwrap();
    assert_ne!(elsewhere.revision(&all), code);
}

#[test]
fn without_its_key_the_file_is_refused_and_unchanged() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true)]), 1).unwrap();
    drop(file);
    let key = folder.path().join("vault.key");
    let saved = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    for _ in 0..2 {
        let refused = Definitions::open(folder.path(), &[9; 32]).unwrap_err();
        assert!(matches!(refused, Error::OtherKey { .. }), "{refused}");
        assert!(refused.to_string().contains("vault.key") && refused.help().contains("restore"), "{refused}");
    }
    std::fs::write(&key, saved).unwrap();
    let (file, server) = open(&folder);
    assert_eq!(all(&file, &server), [row("a", 1, true, true)]);
}

#[test]
fn a_new_server_is_refused_when_the_file_is_full_and_none_is_deleted() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    assert!(file.record(&server, &listing(&[("a", 1, true)]), 1).unwrap());
    let numbered =
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1 - 1)
                INSERT INTO servers (server, name, audiences, seen_ms)
                SELECT CAST(printf('%032d', n) AS BLOB), 'x', '0', 9 FROM numbers";
    file.file.write(|file| file.execute(numbered, [MOST_SERVERS])).unwrap();
    let other = file.digest(b"another server");
    assert!(!file.has_room(&other).unwrap() && file.has_room(&server).unwrap());
    assert!(!file.record(&other, &listing(&[("a", 1, true)]), 2).unwrap());
    assert_eq!((file.server(&other).unwrap(), all(&file, &other).len()), (None, 0));
    assert!(file.record(&server, &listing(&[("a", 1, true)]), 3).unwrap());
    assert_eq!(all(&file, &server), [row("a", 1, true, true)]);
}

#[test]
fn a_tool_has_no_more_approved_definitions_than_the_maximum() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    let many: Vec<(&str, u8, bool)> = (0..65).map(|number| ("a", number, false)).collect();
    file.record(&server, &listing(&many), 1).unwrap();
    assert_eq!(approve(&mut file, None, None), Err(ApprovalRefused::TooMany("a".to_owned())));
    file.record(&server, &listing(&many[1..]), 2).unwrap();
    assert_eq!(approve(&mut file, None, None), Ok(vec!["a".to_owned()]));
    file.record(&server, &listing(&many), 3).unwrap();
    assert_eq!(approve(&mut file, None, None), Err(ApprovalRefused::TooMany("a".to_owned())));
    let approved = all(&file, &server).into_iter().filter(|(.., is_approved)| *is_approved).count();
    assert_eq!(approved, MOST_APPROVED);
}

fn decision(tool: &str, at_ms: u64, by: &str, numbers: &[u8]) -> ToolApproval {
    let definitions = numbers.iter().map(|number| ApprovedDefinition {
        fingerprint: hex(&[*number; 32]),
        body: Some(char::from(b'0' + number).to_string()),
    });
    ToolApproval { tool: tool.to_owned(), at_ms, by: by.to_owned(), definitions: definitions.collect() }
}

#[test]
fn approvals_reach_another_file_with_their_texts() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true), ("b", 1, true), ("c", 1, true)]), 5).unwrap();
    file.record(&server, &listing(&[("a", 2, false), ("c", 1, false)]), 6).unwrap();
    approve(&mut file, None, None).unwrap();
    let own = file.approvals(&server).unwrap().unwrap();
    let decisions =
        [decision("a", 9, "ann", &[2]), decision("b", 9, "ann", &[]), decision("c", 5, FIRST_SIGHT, &[1])];
    assert_eq!(
        (own.since_ms, own.incomplete, &own.audiences[..], &own.tools[..]),
        (5, 2, &[0, 5][..], &decisions[..])
    );
    // Another gateway has a key of its own, and has seen other definitions at its own first sight.
    let mut other = Definitions::open(elsewhere.path(), &[2; 32]).unwrap();
    let there = other.digest(SERVER);
    assert_eq!(other.approvals(&there).unwrap(), None);
    other.record(&there, &listing(&[("a", 3, true), ("b", 3, true), ("d", 1, true)]), 7).unwrap();
    let merged = other.approvals(&there).unwrap().unwrap().merge(own.clone());
    assert_eq!(merged, own, "a younger first sight does not count");
    assert_eq!(
        other.merge_approvals(&there, ("files", own.clone()), 8).unwrap(),
        Some((merged.clone(), true))
    );
    assert_eq!(other.merge_approvals(&there, ("files", own.clone()), 8).unwrap(), Some((merged, false)));
    assert_eq!(other.approvals(&there).unwrap(), Some(own.clone()));
    let expected = [
        row("a", 2, false, true),
        row("a", 3, true, false),
        row("b", 3, true, false),
        row("c", 1, false, true),
        row("d", 1, true, false),
    ];
    assert_eq!(all(&other, &there), expected);
    assert_eq!(other.of_server(&there, true).unwrap()[0].body, b"2");
    // A decision here reaches the first file.
    let everything = ApprovalRequest { tools: None, revision: None, by: "ben" };
    other.approve(&there, everything, 11).unwrap().unwrap();
    let theirs = other.approvals(&there).unwrap().unwrap();
    assert!(file.merge_approvals(&server, ("files", theirs), 12).unwrap().unwrap().1);
    assert_eq!(file.approvals(&server).unwrap(), other.approvals(&there).unwrap());
    assert_eq!(all(&file, &server)[0], row("a", 3, false, true));
}

#[test]
fn a_file_without_the_tables_of_exchanges_gets_them() {
    let folder = Folder::new();
    let (mut file, server) = open(&folder);
    file.record(&server, &listing(&[("a", 1, true)]), 5).unwrap();
    file.file.write(|file| file.execute_batch("DROP TABLE beginnings; DROP TABLE removed")).unwrap();
    drop(file);
    let (file, server) = open(&folder);
    assert_eq!(file.approvals(&server).unwrap().unwrap().since_ms, 5);
}

#[test]
fn only_the_newest_removals_and_no_huge_bodies_are_exchanged() {
    let removed = |number: u64| decision(&format!("t{number:04}"), number, "ann", &[]);
    let many = ServerApprovals { tools: (0..1010).map(removed).collect(), ..ServerApprovals::default() };
    let kept = many.merge(ServerApprovals::default());
    assert_eq!((kept.tools.len(), kept.tools[0].at_ms), (1000, 10));
    let mut large =
        ServerApprovals { tools: vec![decision("a", 1, "ann", &[1, 2])], ..ServerApprovals::default() };
    large.limit_bodies(2);
    assert!(large.tools[0].definitions.iter().all(|one| one.body.is_some()));
    let whole = large.clone();
    large.limit_bodies(1);
    assert!(large.tools[0].definitions.iter().all(|one| one.body.is_none()));
    assert!(large.decides_like(&whole) && large.clone().merge(whole.clone()) == whole);
}

fn any_approvals() -> impl Strategy<Value = ServerApprovals> {
    let tool = ("[abc]", 0..4_u64, 0..3_usize, prop::collection::btree_set(1..4_u8, 0..3));
    let tools = prop::collection::vec(tool, 0..5);
    (0..3_u64, prop::collection::btree_set(0..3_u32, 0..3), 0..3_u32, tools).prop_map(
        |(since_ms, audiences, incomplete, tools)| {
            let decisions = tools.into_iter().map(|(tool, at_ms, by, numbers)| {
                let by = [FIRST_SIGHT, "ann", "ben"][if numbers.is_empty() { 1 } else { by }];
                decision(&tool, at_ms, by, &numbers.into_iter().collect::<Vec<_>>())
            });
            let audiences = audiences.into_iter().collect();
            let one = ServerApprovals { since_ms, audiences, incomplete, tools: decisions.collect() };
            // A record has one decision for each tool.
            one.merge(ServerApprovals { since_ms, ..ServerApprovals::default() })
        },
    )
}

proptest! {
    #[test]
    fn all_files_agree_in_whatever_order_they_learn_of_each_other(
        a in any_approvals(), b in any_approvals(), c in any_approvals(),
    ) {
        let merged = a.clone().merge(b.clone()).merge(c.clone());
        prop_assert_eq!(&merged, &c.clone().merge(b.clone()).merge(a.clone()));
        prop_assert_eq!(&merged, &a.clone().merge(b.clone().merge(c.clone())));
        prop_assert_eq!(&merged, &merged.clone().merge(a.clone()));
        for tool in a.tools.iter().chain(&b.tools).chain(&c.tools).filter(|one| one.by != FIRST_SIGHT) {
            let decided = merged.tools.iter().find(|one| one.tool == tool.tool).unwrap();
            prop_assert!(decided.by != FIRST_SIGHT && decided.at_ms >= tool.at_ms, "no decision is lost");
        }
    }
}

proptest! {
    // Each case creates a file.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_file_has_the_decisions_that_it_was_given(a in any_approvals(), b in any_approvals()) {
        let folder = Folder::new();
        let (mut file, server) = open(&folder);
        for (approvals, expected) in [(a.clone(), a.clone()), (b.clone(), a.merge(b))] {
            let merged = file.merge_approvals(&server, ("files", approvals), 1).unwrap();
            prop_assert_eq!(merged.map(|(merged, _)| merged), Some(expected.clone()));
            prop_assert_eq!(file.approvals(&server).unwrap(), Some(expected));
        }
    }
}
