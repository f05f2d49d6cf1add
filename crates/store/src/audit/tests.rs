use super::*;
use crate::Error;
use crate::database::tests::Folder;

fn entry(number: u64) -> AuditEntry {
    AuditEntry {
        at_ms: number * 1_000,
        principal: "key:dgm_12345678".into(),
        profile: "default".into(),
        upstream: Some("files".into()),
        tool: Some(format!("files__read_{number}").into()),
        method: "tools/call".into(),
        outcome: CallOutcome::Ok,
        code: None,
        duration_us: 1_500,
        request_bytes: 200,
        response_bytes: u64::MAX,
        tries: 1,
        waited_us: 250,
        cached: false,
        reason: None,
        arguments: None,
        address: Some("203.0.113.9".into()),
        client: Some("inspector 1.2".into()),
    }
}

fn log(folder: &Folder) -> Log {
    Log::open(&folder.path().join("audit.db")).unwrap()
}

fn ten() -> Query {
    Query { limit: 10, ..Query::default() }
}

fn tools(log: &Log, query: &Query) -> Vec<String> {
    log.query(query).unwrap().iter().map(|r| r.entry.tool.as_deref().unwrap_or("-").to_owned()).collect()
}

#[test]
fn what_is_appended_is_found_again() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let full = AuditEntry {
        arguments: Some("{\"a\":1}".to_owned()),
        code: Some(-32602),
        outcome: CallOutcome::Error,
        reason: Some(Box::new(RecordedReason { kind: ReasonKind::Timeout, text: "too late".into() })),
        ..entry(1)
    };
    let bare = AuditEntry {
        upstream: None,
        tool: None,
        address: None,
        client: None,
        outcome: CallOutcome::Denied,
        reason: Some(Box::new(RecordedReason { kind: ReasonKind::RateLimit, text: "".into() })),
        ..entry(2)
    };
    log.append(&[full.clone(), bare.clone()]).unwrap();
    let found = log.query(&ten()).unwrap();
    assert_eq!(found[0].entry, AuditEntry { response_bytes: i64::MAX as u64, ..bare });
    assert_eq!(found[1].entry, AuditEntry { response_bytes: i64::MAX as u64, ..full });
    assert!(found[0].id > found[1].id);
    assert_eq!(log.newest().unwrap(), found[0].id);
}

#[test]
fn batches_of_any_length_are_whole_and_in_order() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let mut wanted = Vec::new();
    // Calls of one caller, calls of several callers, and both alternately.
    for (length, callers) in [(1, 1), (63, 1), (64, 1), (65, 2), (200, 1), (200, 3), (64, 64), (300, 130)] {
        let first = wanted.len() as u64;
        let of = |number: u64| {
            let caller = format!("user:{}", number % callers * u64::from(number % 130 > 60));
            let tool = (!number.is_multiple_of(7) || callers == 1).then(|| "add".into());
            let code = number.is_multiple_of(5).then_some(-1);
            AuditEntry {
                principal: caller.into(),
                tool,
                code,
                response_bytes: number,
                waited_us: number,
                cached: number.is_multiple_of(2),
                reason: number.is_multiple_of(5).then(|| {
                    Box::new(RecordedReason {
                        kind: ReasonKind::ToolError,
                        text: format!("no {number}").into(),
                    })
                }),
                ..entry(number)
            }
        };
        let batch: Vec<AuditEntry> = (first..first + length).map(of).collect();
        log.append(&batch).unwrap();
        wanted.extend(batch);
    }
    let found = log.query(&Query { after: Some(0), limit: 1000, ..Query::default() }).unwrap();
    assert_eq!(found.len(), wanted.len());
    for (recorded, wanted) in found.into_iter().zip(wanted) {
        assert_eq!(recorded.entry, wanted);
    }
}

#[test]
fn every_filter_filters() {
    let folder = Folder::new();
    let mut log = log(&folder);
    assert_eq!(log.newest().unwrap(), 0);
    let some = |change: fn(&mut AuditEntry)| {
        let mut one = entry(5);
        change(&mut one);
        one
    };
    log.append(&[
        entry(1),
        some(|e| e.principal = "user:ann".into()),
        some(|e| e.profile = "editors".into()),
        some(|e| e.upstream = Some("blog".into())),
        some(|e| e.tool = Some("odd[1]*".into())),
        some(|e| e.outcome = CallOutcome::Denied),
        some(|e| e.tool = None),
    ])
    .unwrap();
    let count = |query: Query| log.query(&query).unwrap().len();
    let pattern = |text: &str| Some(text.to_owned());
    assert_eq!(count(ten()), 7);
    assert_eq!(count(Query { limit: 3, ..ten() }), 3);
    assert_eq!(count(Query { limit: 0, ..ten() }), 0);
    assert_eq!(count(Query { since_ms: Some(1_001), ..ten() }), 6);
    assert_eq!(count(Query { until_ms: Some(5_000), ..ten() }), 1);
    assert_eq!(count(Query { since_ms: Some(1_000), until_ms: Some(1_001), ..ten() }), 1);
    assert_eq!(count(Query { principal: pattern("user:*"), ..ten() }), 1);
    assert_eq!(count(Query { profile: pattern("editors"), ..ten() }), 1);
    assert_eq!(count(Query { upstream: pattern("b?og"), ..ten() }), 1);
    assert_eq!(count(Query { tool: pattern("files__read_*"), ..ten() }), 5);
    assert_eq!(count(Query { tool: pattern("odd[1]*"), ..ten() }), 1);
    assert_eq!(count(Query { tool: pattern("odd[2]*"), ..ten() }), 0);
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(count(Query { tools: named(&["odd[1]*", "files__read_*", "none"]), ..ten() }), 1);
    let together = Query { tools: named(&["odd[1]*"]), upstream: pattern("blog"), ..ten() };
    assert_eq!(
        count(together),
        count(Query { tool: pattern("odd[1]*"), upstream: pattern("blog"), ..ten() })
    );
    assert_eq!(count(Query { methods: named(&["tools/*"]), ..ten() }), count(Query { limit: 100, ..ten() }));
    assert_eq!(count(Query { methods: named(&["PUT *", "tools/c?ll"]), ..ten() }), count(ten()));
    assert_eq!(count(Query { methods: named(&["PUT *", "reload*"]), ..ten() }), 0);
    assert_eq!(count(Query { newest: Some(2), ..ten() }), 2);
    assert_eq!(count(Query { times_ms: Some(vec![1_001, 7]), ..ten() }), 0);
    assert_eq!(count(Query { times_ms: Some(Vec::new()), ..ten() }), 0);
    let times = log.query(&ten()).unwrap().iter().map(|one| one.entry.at_ms).collect::<Vec<_>>();
    let alike = times.iter().filter(|at| **at == times[0]).count();
    assert_eq!(count(Query { times_ms: Some(vec![times[0], 7]), ..ten() }), alike);
    assert_eq!(count(Query { newest: Some(2), before: Some(2), ..ten() }), 0);
    assert_eq!(count(Query { outcome: Some(CallOutcome::Denied), ..ten() }), 1);
    for (client, found) in
        [("inspector", 7), ("inspector 1.2", 7), ("insp*", 7), ("inspect", 0), ("inspector 1", 0), ("1.2", 0)]
    {
        assert_eq!(count(Query { client: pattern(client), ..ten() }), found, "{client}");
    }
    let both = Query { outcome: Some(CallOutcome::Ok), tool: pattern("files*"), ..ten() };
    assert_eq!(count(both), 4);
    assert_eq!(count(Query { tool: pattern("' OR 1=1 --"), ..ten() }), 0);
}

#[test]
fn the_newest_come_first_and_followers_go_on_from_where_they_are() {
    let folder = Folder::new();
    let mut one = log(&folder);
    one.append(&[entry(3), entry(1)]).unwrap();
    one.append(&[entry(2)]).unwrap();
    assert_eq!(tools(&one, &ten()), ["files__read_2", "files__read_1", "files__read_3"]);
    let last = one.newest().unwrap();
    let mut other = log(&folder);
    other.append(&[entry(4), entry(5)]).unwrap();
    let more = Query { after: Some(last), ..ten() };
    assert_eq!(tools(&one, &more), ["files__read_4", "files__read_5"]);
    // Numbering continues after all entries are deleted.
    one.prune(Some(u64::MAX), u64::MAX).unwrap();
    assert_eq!(one.newest().unwrap(), 0);
    other.append(&[entry(6)]).unwrap();
    assert_eq!(tools(&one, &more), ["files__read_6"]);
}

#[test]
fn figures_are_made_of_calls_and_not_of_changes() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let change = AuditEntry { request_bytes: 0, tool: None, ..entry(3) };
    log.append(&[entry(1), entry(2), change, entry(4)]).unwrap();
    let number = |of_clients| log.query(&Query { of_clients, ..ten() }).unwrap().len();
    assert_eq!((number(None), number(Some(true)), number(Some(false))), (4, 3, 1));
    let mut times = Vec::new();
    let examined = log.figures(entry(2).at_ms, |figures| times.push(figures.at_ms)).unwrap();
    assert_eq!(times, [entry(4).at_ms, entry(2).at_ms]);
    assert_eq!(examined, Examined { calls: 2, cut_off_ms: None });
}

#[test]
fn old_entries_are_pruned() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let entries: Vec<AuditEntry> = (0..5_000).map(entry).collect();
    log.append(&entries).unwrap();
    assert_eq!(log.prune(Some(4_990_000), u64::MAX).unwrap(), 4_990);
    assert_eq!(log.prune(Some(4_990_000), u64::MAX).unwrap(), 0);
    let left = log.query(&Query { limit: MAX_LIMIT, ..ten() }).unwrap();
    assert_eq!(left.len(), 10);
    assert!(left.iter().all(|r| r.entry.at_ms >= 4_990_000));
}

#[test]
fn a_file_that_is_too_large_loses_its_oldest_entries() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let entries: Vec<AuditEntry> = (0..20_000)
        .map(|n| AuditEntry { arguments: Some(format!("{{\"text\":\"{}\"}}", "x".repeat(100))), ..entry(n) })
        .collect();
    log.append(&entries).unwrap();
    let before = log.bytes().unwrap();
    assert!(before > 3_000_000, "{before}");
    let most = before / 2;
    let deleted = log.prune(None, most).unwrap();
    assert!((8_000..14_000).contains(&deleted), "{deleted}");
    assert!(log.bytes().unwrap() <= most);
    let left = log.query(&Query { limit: MAX_LIMIT, ..ten() }).unwrap();
    assert_eq!(left.len() as u64, 20_000 - deleted);
    assert!(left.iter().all(|r| r.entry.at_ms >= deleted * 1_000));
    let path = log.path().to_owned();
    drop(log);
    assert!(std::fs::metadata(path).unwrap().len() <= most, "room goes back to the disk");
    assert_eq!(Log::open(&folder.path().join("audit.db")).unwrap().prune(None, 0).unwrap(), 20_000 - deleted);
}

#[test]
fn what_was_pruned_is_nowhere_in_the_file() {
    let folder = Folder::new();
    let mut log = log(&folder);
    log.append(&[
        AuditEntry { arguments: Some("{\"note\":\"forget-me\"}".to_owned()), ..entry(1) },
        entry(2),
    ])
    .unwrap();
    log.prune(Some(2_000), u64::MAX).unwrap();
    drop(log);
    for (name, bytes) in folder.files() {
        assert!(!bytes.windows(9).any(|window| window == b"forget-me"), "{name}");
    }
}

#[test]
fn a_batch_of_which_one_entry_cannot_be_kept_leaves_nothing() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let file = rusqlite::Connection::open(log.path()).unwrap();
    file.execute_batch(
        "CREATE TRIGGER picky BEFORE INSERT ON calls WHEN NEW.at_ms = 70 BEGIN SELECT RAISE(FAIL, 'no'); END",
    )
    .unwrap();
    for count in [71, 100, 200] {
        let batch: Vec<AuditEntry> = (0..count).map(|at_ms| AuditEntry { at_ms, ..entry(1) }).collect();
        log.append(&batch).expect_err("the entry that cannot be kept");
        assert_eq!(log.newest().unwrap(), 0, "of {count}");
    }
    log.append(&[entry(1)]).unwrap();
    assert_eq!(log.query(&ten()).unwrap().len(), 1);
}

#[test]
fn a_record_from_before_gains_the_columns_and_keeps_its_entries() {
    let folder = Folder::new();
    let path = folder.path().join("audit.db");
    let mut old = crate::database::Database::open(&path, &super::log::BEFORE_CLIENTS).unwrap();
    let insert = "INSERT INTO calls (at_ms, principal, profile, method, outcome, duration_us, request_bytes, \
                  response_bytes) VALUES (7, 'anyone', 'default', 'ping', 'ok', 1, 2, 3)";
    old.write(|file| file.execute_batch(insert)).unwrap();
    drop(old);
    let mut log = log(&folder);
    log.append(&[entry(1)]).unwrap();
    let found = log.query(&ten()).unwrap();
    assert_eq!((found[0].entry.address.as_deref(), found[1].entry.at_ms), (Some("203.0.113.9"), 7));
    assert_eq!((&found[1].entry.address, &found[1].entry.client), (&None, &None));
    assert_eq!((found[0].entry.tries, found[0].entry.waited_us), (1, 250));
    assert_eq!((found[1].entry.tries, found[1].entry.waited_us, found[1].entry.cached), (0, 0, false));
    assert_eq!(found[1].entry.reason, None);
}

#[test]
fn a_batch_is_all_or_nothing_and_outcomes_are_known() {
    let folder = Folder::new();
    let mut log = log(&folder);
    log.append(&[]).unwrap();
    assert_eq!("denied".parse(), Ok(CallOutcome::Denied));
    assert_eq!("unknown".parse(), Ok(CallOutcome::Unknown));
    assert!("maybe".parse::<CallOutcome>().unwrap_err().contains("ok, error, denied or unknown"));
    assert!(Log::open_existing(&folder.path().join("none.db")).unwrap().is_none());
    assert!(Log::open_existing(log.path()).unwrap().is_some());
    let keys = crate::keys::Keys::open(folder.path()).unwrap();
    assert!(matches!(Log::open(keys.path()), Err(Error::Foreign { .. })));
}

#[test]
fn a_file_that_is_moved_or_deleted_is_begun_anew() {
    let folder = Folder::new();
    let mut log = log(&folder);
    log.append(&[entry(1)]).unwrap();
    assert!(!log.replace_if_gone().unwrap());
    let (path, old) = (folder.path().join("audit.db"), folder.path().join("old.db"));
    // Some entries are not yet in the file itself.
    std::fs::rename(&path, &old).unwrap();
    std::fs::rename(folder.path().join("audit.db-wal"), folder.path().join("old.db-wal")).unwrap();
    assert!(log.replace_if_gone().unwrap() && !log.replace_if_gone().unwrap());
    log.append(&[entry(2)]).unwrap();
    assert_eq!(tools(&log, &ten()), ["files__read_2"]);
    assert_eq!(tools(&Log::open(&old).unwrap(), &ten()), ["files__read_1"]);
    for file in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        drop(std::fs::remove_file(folder.path().join(file)));
    }
    assert!(log.replace_if_gone().unwrap());
    log.append(&[entry(3)]).unwrap();
    assert_eq!(tools(&log, &ten()), ["files__read_3"]);
}

#[test]
fn nothing_is_appended_while_no_file_can_be_begun() {
    let folder = Folder::new();
    let mut log = log(&folder);
    let path = folder.path().join("audit.db");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(log.replace_if_gone().is_err() && log.append(&[entry(1)]).is_err());
    std::fs::remove_dir(&path).unwrap();
    assert!(log.replace_if_gone().unwrap());
    log.append(&[entry(2)]).unwrap();
    assert_eq!(tools(&log, &ten()), ["files__read_2"]);
}
