//! Ids of tasks in requests, answers and notifications, for one client and for another.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use config::Profile;
use proto::bridge::tasks::TaskMethod;
use proto::era::{Era, ServerHello, V2025_06_18, V2025_11_25, V2026_07_28};
use proto::json::{Members, Splice};
use proto::rpc::{Frame, FrameLimits};

use super::*;
use crate::catalogue::renames_among;
use crate::catalogue::{
    Gather, GatherLimits, NameLimit, UpstreamAbsence, UpstreamId, View, ViewSource, ViewSpec,
};
use crate::sealer::Sealer;

/// A sealer that writes its input as plain text, preceded by a number that is different each time. The second field
/// is the number of the process.
#[derive(Default)]
struct Plain(std::cell::Cell<u8>, u64);

impl Sealer for Plain {
    fn fresh_key(&self) -> u64 {
        78
    }

    fn epoch(&self) -> u64 {
        self.1
    }

    fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        self.0.set(self.0.get() + 1);
        let all = [&[self.0.get()], plain, b"|", bound].concat();
        all.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        let byte = |i: usize| u8::from_str_radix(sealed.get(i * 2..i * 2 + 2)?, 16).ok();
        let bytes: Vec<u8> = (0..sealed.len() / 2).map(byte).collect::<Option<_>>()?;
        bytes.get(1..)?.strip_suffix(bound)?.strip_suffix(b"|").map(<[u8]>::to_vec)
    }
}

fn frame(text: &str) -> Frame {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap()
}

const EXTENSION: &str = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
const EXPERIMENT: &str = r#"{"tasks":{"requests":{"tools":{"call":{}}},"list":{}}}"#;

fn catalogue(id: u32, name: &str, era: &'static Era, capabilities: &'static str) -> ViewSource {
    let capabilities = Bytes::from_static(capabilities.as_bytes());
    let hello = ServerHello { era, capabilities, info: Bytes::from_static(b"{}"), instructions: None };
    let gather = Gather::new(hello, GatherLimits { pages: 9, entries: 9 }, "{}");
    ViewSource {
        id: UpstreamId(id),
        name: name.into(),
        over_http: true,
        catalogue: Ok(Arc::new(gather.finish())),
    }
}

fn absent(id: u32, name: &str, retry: bool) -> ViewSource {
    let absence = UpstreamAbsence { reason: "does not answer".to_owned(), retry };
    ViewSource { id: UpstreamId(id), name: name.into(), over_http: true, catalogue: Err(absence) }
}

fn view(era: &'static Era, upstreams: Vec<ViewSource>) -> View {
    let spec = ViewSpec {
        era,
        profile: &Profile::default(),
        limit: NameLimit::behind(""),
        names: None,
        server_info: "{}",
        schema_bytes: 4096,
        guard: None,
        separate: false,
        personal: false,
    };
    View::build(spec, upstreams)
}

fn at(server: &str) -> TaskPlace<'_> {
    TaskPlace { server, home: None }
}

fn both() -> View {
    view(
        &V2026_07_28,
        vec![catalogue(3, "a", &V2026_07_28, EXTENSION), catalogue(5, "b", &V2026_07_28, EXTENSION)],
    )
}

fn request(method: &str, id: &str) -> Frame {
    frame(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"taskId":"{id}","_meta":{{"io.modelcontextprotocol/clientCapabilities":{EXTENSION}}}}}}}"#
    ))
}

fn edited(frame: &Frame, edits: &Edits) -> String {
    let mut splice = Splice::new(frame.text());
    for (span, with) in edits {
        splice.replace(*span, with);
    }
    String::from_utf8(splice.finish().to_vec()).unwrap()
}

fn call() -> Frame {
    frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","task":{}}}"#)
}

#[test]
fn a_call_that_becomes_a_task_gets_an_id_that_leads_back() {
    let (seal, view) = (Plain::default(), both());
    let ids = TaskIds::new(&seal, "me", &V2026_07_28);
    let answer = frame(
        r#"{"jsonrpc":"2.0","id":9,"result":{"resultType":"task","taskId":"r\u00e4l","status":"working","ttlMs":1e3}}"#,
    );
    let renaming = Renaming::of_call(&call(), &V2026_07_28).unwrap();
    let edits = renaming.answer(&answer, ids, TaskPlace { server: "b", home: Some(7) }).unwrap();
    let text = edited(&answer, &edits);
    assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":9,"result":{"resultType":"task","taskId":""#));
    assert!(text.ends_with(r#"","status":"working","ttlMs":1e3}}"#));
    let shown = String::from_utf8(edits[0].1[1..edits[0].1.len() - 1].to_vec()).unwrap();

    let get = request("tasks/get", &shown);
    let found = route(&get, &view, TaskMethod::Get, ids).unwrap();
    assert_eq!((found.upstream, found.home), (Some(UpstreamId(5)), Some(7)));
    assert_eq!((found.rename.0.of(get.text()), &found.rename.1[..]), (&*edits[0].1, "\"räl\"".as_bytes()));
    let renaming = Renaming::of_task(TaskMethod::Get, &V2026_07_28, found.task.clone());
    let status = frame(
        r#"{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete","taskId":"r\u00e4l","result":{"taskId":"x"}}}"#,
    );
    let text = edited(&status, &renaming.answer(&status, ids, at("b")).unwrap());
    assert!(
        text.contains(&format!(r#""taskId":"{shown}","result":{{"taskId":"x"}}"#)),
        "the client's own spelling"
    );

    let note = frame(
        r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"räl","status":"working"}}"#,
    );
    let text = edited(&note, &notice_edits(&note, std::slice::from_ref(&found.task)).unwrap());
    assert!(text.contains(&shown));
    let other = KnownTask { real: "other".to_owned(), shown: found.task.shown.clone() };
    assert_eq!(notice_edits(&note, &[other]), None, "not for this client");
}

#[test]
fn a_task_outlives_the_process_but_not_what_the_process_kept_for_it() {
    let (before, after) = (Plain(0.into(), 3), Plain(0.into(), 4));
    let (before, after) =
        (TaskIds::new(&before, "me", &V2026_07_28), TaskIds::new(&after, "me", &V2026_07_28));
    let at = |home| before.shown(TaskPlace { server: "b", home }, "real").unwrap();
    let found = |shown: &str| after.opened(shown).map(|id| (id.server, id.home, id.real));
    let of = |home| Some(("b".to_owned(), home, "real".to_owned()));
    assert_eq!(found(&at(None)), of(None));
    assert_eq!(found(&at(Some(7))), of(Some(0)), "nothing here has this number");
    assert_eq!(before.opened(&at(Some(7))).unwrap().home, Some(7));
}

#[test]
fn another_ones_task_is_unknown() {
    let (seal, view) = (Plain::default(), both());
    let shown = TaskIds::new(&seal, "me", &V2026_07_28).shown(at("a"), "1").unwrap();
    let code = |who: &str, id: &str| {
        let fault = route(
            &request("tasks/cancel", id),
            &view,
            TaskMethod::Cancel,
            TaskIds::new(&seal, who, &V2026_07_28),
        );
        fault.map_or_else(|fault| fault.code, |_| 0)
    };
    assert_eq!(code("me", &shown), 0);
    assert_eq!(code("you", &shown), -32602);
    assert_eq!(code("me", "1"), -32602);
    assert_eq!(code("me", &"0".repeat(5000)), -32602);
    let elsewhere = TaskIds::new(&seal, "me", &V2026_07_28).shown(at("not-in-this-profile"), "1").unwrap();
    assert_eq!(code("me", &elsewhere), -32602);
    let begun_otherwise = TaskIds::new(&seal, "me", &V2025_11_25).shown(at("a"), "1").unwrap();
    assert_eq!(code("me", &begun_otherwise), -32602);
}

#[test]
fn what_is_not_served_is_refused_before_the_id_is_looked_at() {
    let seal = Plain::default();
    let fault = |view: &View, frame: &Frame, method| {
        route(frame, view, method, TaskIds::new(&seal, "me", view.era())).unwrap_err()
    };
    let plain = frame(
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x","_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{}}}}}"#,
    );
    let undeclared = fault(&both(), &plain, TaskMethod::Get);
    assert_eq!(undeclared.code, -32021);
    assert_eq!(
        undeclared.data.as_deref(),
        Some(r#"{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#)
    );
    assert_eq!(fault(&both(), &plain, TaskMethod::Result).code, -32601);
    assert_eq!(fault(&both(), &plain, TaskMethod::List).code, -32601);
    let without = view(&V2026_07_28, vec![catalogue(1, "a", &V2026_07_28, "{}")]);
    assert_eq!(fault(&without, &request("tasks/get", "x"), TaskMethod::Get).code, -32601);
    let old = view(&V2025_06_18, vec![catalogue(1, "a", &V2025_11_25, EXPERIMENT)]);
    assert_eq!(fault(&old, &request("tasks/get", "x"), TaskMethod::Get).code, -32601);
    let legacy = view(
        &V2025_11_25,
        vec![catalogue(1, "a", &V2025_11_25, EXPERIMENT), catalogue(2, "b", &V2025_11_25, "{}")],
    );
    assert_eq!(fault(&legacy, &plain, TaskMethod::List).code, -32601);
    assert_eq!(fault(&legacy, &plain, TaskMethod::Update).code, -32601);
    assert_eq!(fault(&legacy, &plain, TaskMethod::Get).code, -32602, "no envelope is asked for");
}

#[test]
fn a_task_of_a_server_that_is_away_says_so() {
    let seal = Plain::default();
    let view = view(&V2026_07_28, vec![catalogue(3, "a", &V2026_07_28, EXTENSION), absent(5, "b", true)]);
    let ids = TaskIds::new(&seal, "me", &V2026_07_28);
    let shown = ids.shown(at("b"), "1").unwrap();
    let fault = route(&request("tasks/get", &shown), &view, TaskMethod::Get, ids).unwrap_err();
    assert_eq!((fault.code, fault.retry), (-32603, true));
    assert!(fault.message.contains("\"b\" does not answer"), "{}", fault.message);
}

#[test]
fn a_filter_keeps_the_clients_own_tasks_once_each() {
    let (seal, view) = (Plain::default(), both());
    let ids = TaskIds::new(&seal, "me", &V2026_07_28);
    let (one, again, two) = (
        ids.shown(at("a"), "1").unwrap(),
        ids.shown(at("a"), "1").unwrap(),
        ids.shown(at("b"), "1").unwrap(),
    );
    assert_ne!(one, again);
    let theirs = TaskIds::new(&seal, "you", &V2026_07_28).shown(at("a"), "2").unwrap();
    let listen = |capabilities: &str, list: &str| {
        frame(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{"notifications":{{"taskIds":{list}}},"_meta":{{"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
        ))
    };
    let read = |frame: &Frame, max| {
        let wanted = frame.param("notifications").unwrap().unwrap();
        heard(frame, &Members::of_value(frame.text(), wanted).unwrap(), &view, ids, max)
    };
    let all = listen(EXTENSION, &format!(r#"["{one}","{two}","{theirs}","x","{again}"]"#));
    let found = read(&all, 9).unwrap();
    let names: Vec<_> =
        found.iter().map(|h| (h.upstream.0, h.task.real.as_str(), h.task.shown.clone())).collect();
    assert_eq!(
        names,
        [(3, "1", Bytes::from(format!("\"{one}\""))), (5, "1", Bytes::from(format!("\"{two}\"")))]
    );
    assert_eq!(read(&all, 4).unwrap_err().code, -32602);
    assert_eq!(read(&listen("{}", "[]"), 9).unwrap_err().code, -32021);
    assert_eq!(read(&listen(EXTENSION, "[7]"), 9).unwrap_err().code, -32602);
    assert_eq!(read(&listen(EXTENSION, "{}"), 9).unwrap_err().code, -32602);
}

#[test]
fn the_experiments_ids_are_exchanged_in_all_its_places() {
    let seal = Plain::default();
    let ids = TaskIds::new(&seal, "me", &V2025_11_25);
    let open = |json: &[u8]| ids.opened(std::str::from_utf8(&json[1..json.len() - 1]).unwrap()).unwrap();
    let renaming = Renaming::of_call(&call(), &V2025_11_25).unwrap();
    assert!(renaming.reads_all());
    let created = frame(
        r#"{"jsonrpc":"2.0","id":9,"result":{"task":{"taskId":"1","status":"working"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}"#,
    );
    let edits = renaming.answer(&created, ids, at("a")).unwrap();
    assert_eq!(edits.iter().map(|(_, to)| open(to).real).collect::<Vec<_>>(), vec!["1".to_owned(); 2]);

    let question = frame(
        r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}"#,
    );
    let task = KnownTask { real: "1".to_owned(), shown: Bytes::from_static(b"\"S\"") };
    let edits = message_edits(&question, Some(&task), ids, at("a")).unwrap();
    assert!(edited(&question, &edits).contains(r#"{"taskId":"S"}"#));
    let note = frame(
        r#"{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"2","status":"working"}}"#,
    );
    assert_eq!(open(&message_edits(&note, Some(&task), ids, at("a")).unwrap()[0].1).real, "2");

    let shown = ids.shown(at("a"), "1").unwrap();
    let reply = |id: &str| {
        frame(&format!(
            r#"{{"jsonrpc":"2.0","id":9,"result":{{"action":"accept","_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}}}}}}}"#
        ))
    };
    assert!(edited(&reply(&shown), &inbound_edits(&reply(&shown), ids, "a")).contains(r#"{"taskId":"1"}"#));
    assert!(inbound_edits(&reply(&shown), ids, "b").is_empty(), "another server's task is not told");
    assert!(inbound_edits(&reply("own"), ids, "a").is_empty());
}

#[test]
fn only_calls_that_may_become_tasks_are_looked_into() {
    let plain = frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    assert!(Renaming::of_call(&plain, &V2025_11_25).is_none());
    assert!(Renaming::of_call(&call(), &V2025_06_18).is_none());
    let renaming = Renaming::of_call(&plain, &V2026_07_28).unwrap();
    assert!(!renaming.reads_all());
    let seal = Plain::default();
    let ids = TaskIds::new(&seal, "me", &V2026_07_28);
    let complete =
        frame(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"1","content":[]}}"#);
    assert!(renaming.answer(&complete, ids, at("a")).unwrap().is_empty());
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"task","taskId":"{}"}}}}"#,
        "x".repeat(MAX_ID + 1)
    );
    assert_eq!(renaming.answer(&frame(&long), ids, at("a")).unwrap_err().code, -32603);
}

#[test]
fn one_servers_session_needs_no_other_ids() {
    assert!(!renames(&view(&V2025_11_25, vec![catalogue(1, "a", &V2025_11_25, EXPERIMENT)])));
    assert!(renames(&view(
        &V2025_11_25,
        vec![catalogue(1, "a", &V2025_11_25, EXPERIMENT), absent(2, "b", false)]
    )));
    let alone = [catalogue(1, "a", &V2025_11_25, EXPERIMENT)];
    assert!(!renames_among(&V2025_11_25, &alone, false));
    assert!(renames_among(&V2025_11_25, &alone, true), "no server knows whose a task is");
    assert!(renames(&view(&V2026_07_28, vec![catalogue(1, "a", &V2026_07_28, EXTENSION)])));
    assert!(!renames(&view(&V2025_06_18, vec![catalogue(1, "a", &V2025_06_18, "{}")])));
}
