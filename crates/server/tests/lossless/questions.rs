//! Requests of an upstream to its client, and the client's answers.

use crate::corpus::{Section, Template};
use crate::notices::{answer, call};
use crate::rig::{Place, Rig};

/// A question that the client has received.
struct Put {
    /// The ID and the token, in the upstream's spelling.
    id: String,
    token: String,
    /// The ID that the client received.
    key: String,
}

/// Checks the question that the client received.
fn read(rig: &mut Rig, section: &Section, ids: (String, String), came: &str) -> Put {
    let spans = rig.carried(section).read(came);
    let key = spans.get("id").to_owned();
    assert!(key.parse::<u64>().is_ok(), "{}: the gateway's own id is {key}", section.title);
    assert!(spans.find("token").is_none_or(|token| token == key), "{}: token", section.title);
    let (id, token) = ids;
    Put { id, token, key }
}

/// The question of a section with a new ID and token.
fn fill(rig: &mut Rig, section: &Section) -> (String, (String, String)) {
    let id = rig.next_id();
    let token = format!(r#""tok\u0065n of {}""#, id.trim_matches('"'));
    let text = Template::new(section).fill(&[("id", &id), ("token", &token)]);
    (text, (id, token))
}

/// Sends a section as the client's answer; the upstream receives it with the upstream's ID.
async fn give(rig: &mut Rig, section: &Section, put: &Put) {
    rig.client.tell(&Template::new(section).fill(&[("id", &put.key)])).await;
    let heard = rig.upstream.heard().await;
    let spans = rig.carried(section).read(&heard.text);
    assert_eq!(spans.get("id"), put.id, "{}", section.title);
}

/// All questions with all answers, paired until both lists are used up.
fn pairs(rig: &Rig) -> Vec<(Section, Section)> {
    let questions = rig.corpus("questions", "questions");
    let answers = rig.corpus("client-results", "client-answers");
    let count = questions.len().max(answers.len());
    let pair = |at: usize| (questions[at % questions.len()].clone(), answers[at % answers.len()].clone());
    (0..count).map(pair).collect()
}

/// Questions during a call arrive on the call's stream.
pub(crate) async fn during_a_call(place: Place) {
    let mut rig = Rig::start(place).await;
    for (question, reply) in pairs(&rig) {
        let mut asked = rig.ask(&call(&rig)).await;
        let (text, ids) = fill(&mut rig, &question);
        asked.heard.say(&text).await;
        let mut turn = asked.turn;
        let came = rig.client.next(&mut turn).await;
        let put = read(&mut rig, &question, ids, &came);
        give(&mut rig, &reply, &put).await;
        asked.heard.answer(&answer(&asked.key)).await;
        assert_eq!(rig.client.next(&mut turn).await, answer(&asked.id), "{}", question.title);
    }
}

/// Questions outside of any call arrive on the standing stream.
pub(crate) async fn unasked(place: Place) {
    let mut rig = Rig::start(place).await;
    rig.client.listen().await;
    let reply = rig.corpus("", "client-answers").remove(0);
    for question in rig.corpus("questions", "questions") {
        let (text, ids) = fill(&mut rig, &question);
        rig.upstream.say(&text).await;
        let came = rig.client.unasked().await;
        let put = read(&mut rig, &question, ids, &came);
        give(&mut rig, &reply, &put).await;
    }
}

/// A client's progress on a question reaches the upstream with the upstream's token.
pub(crate) async fn progress(place: Place) {
    let mut rig = Rig::start(place).await;
    let question = rig.corpus("questions", "").remove(0);
    let reply = rig.corpus("", "client-answers").remove(0);
    let mut asked = rig.ask(&call(&rig)).await;
    let (text, ids) = fill(&mut rig, &question);
    asked.heard.say(&text).await;
    let mut turn = asked.turn;
    let came = rig.client.next(&mut turn).await;
    let put = read(&mut rig, &question, ids, &came);
    for section in rig.corpus("client-notifications", "notifications") {
        if section.note != "notifications/progress" {
            continue;
        }
        rig.client.tell(&Template::new(&section).fill(&[("token", &put.key)])).await;
        let heard = rig.upstream.heard().await;
        let spans = rig.carried(&section).read(&heard.text);
        assert_eq!(spans.get("token"), put.token, "{}", section.title);
    }
    give(&mut rig, &reply, &put).await;
    asked.heard.answer(&answer(&asked.key)).await;
    assert_eq!(rig.client.next(&mut turn).await, answer(&asked.id));
}

/// The cancellation of a question reaches the client with the ID that the client knows.
pub(crate) async fn withdrawn(place: Place) {
    let mut rig = Rig::start(place).await;
    let question = rig.corpus("questions", "").remove(0);
    for section in rig.corpus("server-notifications", "") {
        if section.note != "notifications/cancelled" {
            continue;
        }
        let mut asked = rig.ask(&call(&rig)).await;
        let (text, ids) = fill(&mut rig, &question);
        asked.heard.say(&text).await;
        let mut turn = asked.turn;
        let came = rig.client.next(&mut turn).await;
        let put = read(&mut rig, &question, ids, &came);
        asked.heard.say(&Template::new(&section).fill(&[("request", &put.id)])).await;
        let came = rig.client.next(&mut turn).await;
        let spans = rig.carried(&section).read(&came);
        assert_eq!(spans.get("request"), put.key, "{}", section.title);
        asked.heard.answer(&answer(&asked.key)).await;
        assert_eq!(rig.client.next(&mut turn).await, answer(&asked.id), "{}", section.title);
    }
}
