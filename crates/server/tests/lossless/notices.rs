//! Notifications, in both directions.

use crate::corpus::{Section, Template};
use crate::rig::{Place, Rig, URI};
use crate::support::Over;

const CALL: &str = r#"{"jsonrpc":"2.0","id":«id»,"method":"tools/call","params":{"name":«name»,"_meta":{«envelope»«level»"progressToken":«token»}}}"#;

/// The call during which the tested messages are sent. Without a session, it has to request log messages itself.
pub(crate) fn call(rig: &Rig) -> Section {
    let level = if rig.is_stateless() { r#""io.modelcontextprotocol/logLevel":"debug","# } else { "" };
    Section { title: "a call".into(), note: "tools/call".into(), text: CALL.replace("«level»", level) }
}

/// Returns true for notifications that the gateway acts on instead of passing them on: it fetches the list, and then
/// sends a notification itself.
fn is_acted_on(section: &Section) -> bool {
    section.note.ends_with("/list_changed") || section.note.ends_with("/acknowledged")
}

/// An upstream's messages during a call arrive on that call's stream, before its answer, with the client's own token.
pub(crate) async fn during_a_call(place: Place) {
    let mut rig = Rig::start(place).await;
    subscribe(&mut rig).await;
    for section in rig.corpus("server-notifications", "notifications") {
        // A pipe does not assign messages to calls, and these belong to no call.
        let elsewhere = place.upstream == Over::Stdio || rig.is_stateless();
        let of_no_call = is_acted_on(&section) || section.note == "notifications/resources/updated";
        if section.note == "notifications/cancelled" || (elsewhere && of_no_call) {
            continue;
        }
        let mut asked = rig.ask(&call(&rig)).await;
        asked.heard.say(&Template::new(&section).fill(&[("token", &asked.key)])).await;
        // The answer follows at once: it must not overtake the notification.
        let (id, token, mut turn) = (asked.id, asked.token, asked.turn);
        asked.heard.answer(&answer(&asked.key)).await;
        let came = rig.client.next(&mut turn).await;
        let spans = rig.carried(&section).read(&came);
        assert!(spans.find("token").is_none_or(|own| own == token), "{}", section.title);
        assert_eq!(rig.client.next(&mut turn).await, answer(&id), "{}", section.title);
    }
}

pub(crate) fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[]}}}}"#)
}

/// Subscribes to the corpus' resource, in versions with subscriptions in sessions.
async fn subscribe(rig: &mut Rig) {
    if rig.is_stateless() {
        return;
    }
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":«id»,"method":"resources/subscribe","params":{{"uri":"{URI}"}}}}"#);
    let asked =
        rig.ask(&Section { title: "subscribe".into(), note: "resources/subscribe".into(), text }).await;
    let mut turn = asked.turn;
    asked.heard.answer(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked.key)).await;
    rig.client.next(&mut turn).await;
}

/// An upstream's unsolicited messages arrive on the standing stream.
pub(crate) async fn unasked(place: Place) {
    let mut rig = Rig::start(place).await;
    rig.client.listen().await;
    subscribe(&mut rig).await;
    for section in rig.corpus("server-notifications", "notifications") {
        let of_a_request = ["notifications/cancelled", "notifications/progress"].contains(&&*section.note);
        if of_a_request || is_acted_on(&section) {
            continue;
        }
        rig.upstream.say(&section.text).await;
        let came = rig.client.unasked().await;
        rig.carried(&section).read(&came);
    }
}

/// A client's unsolicited messages reach only the upstream that serves it.
pub(crate) async fn of_the_client(place: Place) {
    let mut rig = Rig::start(place).await;
    for section in rig.corpus("client-notifications", "notifications") {
        let of_a_request = ["notifications/cancelled", "notifications/progress"].contains(&&*section.note);
        // The texts of odd notifications are meant for servers; a client has no log.
        if of_a_request || section.note == "notifications/message" {
            continue;
        }
        rig.client.tell(&section.text).await;
        let heard = rig.upstream.heard().await;
        rig.carried(&section).read(&heard.text);
    }
}

/// A stateless client cancels a request by closing its stream. The upstream is informed by a notification over a
/// pipe, and by the end of its own stream over HTTP.
pub(crate) async fn cancelled_by_closing(place: Place) {
    let mut rig = Rig::start(place).await;
    let mut asked = rig.ask(&call(&rig)).await;
    // The response is a stream, because the answer is not ready yet.
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":0}}"#;
    asked.heard.say(log).await;
    assert_eq!(rig.client.next(&mut asked.turn).await, log);
    drop(asked.turn);
    cancelled(&mut rig, asked.heard, &asked.key).await;
}

/// A client over a pipe sends a cancellation, and an upstream over HTTP is informed by the end of its stream.
pub(crate) async fn cancelled_in_words(place: Place) {
    let mut rig = Rig::start(place).await;
    let asked = rig.ask(&call(&rig)).await;
    let words = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":«request»}}"#;
    rig.client.tell(&Template::of("words", words).fill(&[("request", &asked.id)])).await;
    cancelled(&mut rig, asked.heard, &asked.key).await;
}

async fn cancelled(rig: &mut Rig, heard: crate::upstream::Heard, key: &str) {
    if rig.place.upstream == Over::Http {
        return heard.closed().await;
    }
    let notice = rig.upstream.heard().await;
    let words = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":«request»}}"#;
    assert_eq!(Template::of("words", words).read(&notice.text).get("request"), key);
}

/// A client's cancellation reaches the upstream with the ID that the upstream knows.
pub(crate) async fn cancelled_by_the_client(place: Place) {
    let mut rig = Rig::start(place).await;
    for section in rig.corpus("client-notifications", "") {
        if section.note != "notifications/cancelled" {
            continue;
        }
        let asked = rig.ask(&call(&rig)).await;
        rig.client.tell(&Template::new(&section).fill(&[("request", &asked.id)])).await;
        let heard = rig.upstream.heard().await;
        let spans = rig.carried(&section).read(&heard.text);
        assert_eq!(spans.get("request"), asked.key, "{}", section.title);
    }
}
