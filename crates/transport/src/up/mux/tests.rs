use super::*;

const ROOM: MuxRoom = MuxRoom { max_calls: 8, unasked: 8, forget: Duration::from_mins(10) };

fn notice(method: &str, meta: &str) -> Bytes {
    Bytes::from(format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{{\"_meta\":{{{meta}}}}}}}"
    ))
}

fn log() -> Bytes {
    notice(Notice::Message.name(), "")
}

fn answer(key: u64) -> Bytes {
    Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"result\":{{}}}}"))
}

#[tokio::test]
async fn a_log_message_is_of_the_call_and_never_of_a_stream() {
    let (mux, intake, _unasked) = Mux::new(FrameLimits::default(), ROOM);
    let mut listening = mux.open(7, None).unwrap();
    let mut call = mux.open(9, Some(Owner::unique())).unwrap();
    for name in [Notice::Message, Notice::ToolsChanged] {
        intake.take(notice(name.name(), &format!("\"{}\":7", meta::SUBSCRIPTION_ID))).unwrap();
    }
    assert_eq!(call.next().await.unwrap().method(), Notice::Message.name());
    assert_eq!(listening.next().await.unwrap().method(), Notice::ToolsChanged.name());
}

#[tokio::test]
async fn a_log_message_reaches_nobody_while_two_have_open_calls() {
    let (mux, intake, mut unasked) = Mux::new(FrameLimits::default(), ROOM);
    let (a, b) = (Owner::unique(), Owner::unique());
    let mut first = mux.open(1, Some(a)).unwrap();
    let second = mux.open(2, Some(b)).unwrap();
    intake.take(log()).unwrap();
    // Nobody waits for this call anymore, but the server still works on it.
    drop(second);
    intake.take(log()).unwrap();
    assert!(unasked.try_recv().is_err());
    intake.take(answer(2)).unwrap();
    intake.take(log()).unwrap();
    intake.take(answer(1)).unwrap();
    assert_eq!(first.next().await.unwrap().method(), Notice::Message.name());
    assert_eq!(first.next().await.unwrap().kind(), FrameKind::Response, "one of three");
    intake.take(log()).unwrap();
    assert!(unasked.try_recv().is_err(), "two have used the link");
}

#[tokio::test]
async fn one_owner_hears_all_whatever_else_it_has_given_up() {
    let (mux, intake, mut unasked) = Mux::new(FrameLimits::default(), ROOM);
    let a = Owner::unique();
    drop(mux.open(1, Some(a)).unwrap());
    intake.take(log()).unwrap();
    assert_eq!(unasked.try_recv().unwrap().owner, Some(a));
    let mut older = mux.open(2, Some(a)).unwrap();
    let mut newer = mux.open(3, Some(a)).unwrap();
    intake.take(log()).unwrap();
    for key in [2, 3] {
        intake.take(answer(key)).unwrap();
    }
    assert_eq!(newer.next().await.unwrap().method(), Notice::Message.name());
    assert_eq!(older.next().await.unwrap().kind(), FrameKind::Response);
    intake.take(log()).unwrap();
    assert_eq!(unasked.try_recv().unwrap().owner, Some(a), "between calls");
}

#[tokio::test]
async fn what_a_task_logs_is_not_taken_for_the_open_call_of_another() {
    let (mux, intake, mut unasked) = Mux::new(FrameLimits::default(), ROOM);
    let (a, b) = (Owner::unique(), Owner::unique());
    let task = format!("\"{RELATED_TASK}\":{{\"taskId\":\"t\"}}");
    drop(mux.open(1, Some(a)).unwrap());
    intake.take(answer(1)).unwrap();
    intake.take(notice(Notice::Message.name(), &task)).unwrap();
    assert_eq!(unasked.try_recv().unwrap().owner, Some(a));
    let _open = mux.open(2, Some(b)).unwrap();
    intake.take(notice(Notice::Message.name(), &task)).unwrap();
    assert!(unasked.try_recv().is_err());
}
