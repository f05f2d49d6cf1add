//! Puts concurrent messages into an order that is the same in every run.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::section::Line;

/// Requests on several connections may overlap: each is shown with its answer.
pub(crate) fn each_with_its_answer(lines: Vec<Line>) -> Vec<Line> {
    let mut sorted: Vec<Line> = Vec::new();
    for line in lines {
        let message = line.what.as_ref().unwrap_or(&Value::Null);
        let asked = sorted.iter().rposition(|other| {
            let other_message = other.what.as_ref().unwrap_or(&Value::Null);
            message["method"].is_null()
                && other.method().is_some()
                && other.to_server != line.to_server
                && other_message["id"] == message["id"]
        });
        match asked {
            Some(at) => sorted.insert(at + 1, line),
            None => sorted.push(line),
        }
    }
    sorted
}

/// A client that waits for a task polls an arbitrary number of times while the task runs. Each state is shown once,
/// except `working`, because a client may miss it.
pub(crate) fn states_once(lines: Vec<Line>) -> Vec<Line> {
    let mut shown: Vec<Line> = Vec::new();
    let mut seen = HashSet::new();
    let text = |line: &Line| line.what.as_ref().map(without_id).unwrap_or_default();
    let mut lines = each_with_its_answer(lines).into_iter().peekable();
    while let Some(line) = lines.next() {
        let looks = line.to_server && matches!(line.method(), Some("tasks/get" | "tasks/result"));
        let Some(answer) = lines.next_if(|next| looks && next.method().is_none()) else {
            shown.push(line);
            continue;
        };
        let working = answer.what.as_ref().is_ok_and(|message| message["result"]["status"] == "working");
        if !working && seen.insert((text(&line), text(&answer))) {
            shown.extend([line, answer]);
        }
    }
    shown
}

/// Notifications that a call causes may come before or after its answer, and over each of the gateway's
/// connections: they are shown once, after it.
pub(crate) fn answers_before_news(lines: Vec<Line>) -> Vec<Line> {
    let mut sorted = Vec::new();
    let mut held: Vec<Line> = Vec::new();
    let mut told = HashSet::new();
    let mut calls = 0;
    for line in lines {
        let method = line.method();
        if matches!(method, Some("notifications/tools/list_changed" | "notifications/resources/updated")) {
            let new = told.insert(line.what.as_ref().map(without_marks).unwrap_or_default());
            if new {
                if calls > 0 { &mut held } else { &mut sorted }.push(line);
            }
            continue;
        }
        if line.to_server && method == Some("tools/call") {
            calls += 1;
            told.clear();
        }
        let answer = !line.to_server && method.is_none();
        sorted.push(line);
        if answer && calls > 0 {
            calls -= 1;
            sorted.append(&mut held);
        }
    }
    sorted.append(&mut held);
    sorted
}

/// A notification without the metadata that names its request.
fn without_marks(message: &Value) -> String {
    let mut message = message.clone();
    if let Some(params) = message["params"].as_object_mut() {
        params.shift_remove("_meta");
    }
    message.to_string()
}

/// Simultaneous questions come in any order: here they are sorted by method, each with its answer.
pub(crate) fn questions_sorted(lines: Vec<Line>) -> Vec<Line> {
    let mut rest: Vec<Line> = Vec::new();
    let mut questions: Vec<(Line, Vec<Line>)> = Vec::new();
    let mut first = 0;
    for line in lines {
        let id = line.what.as_ref().ok().and_then(|message| message.get("id"));
        let same = |other: &Line| other.what.as_ref().ok().and_then(|message| message.get("id")) == id;
        if !line.to_server && line.method().is_some() && id.is_some() {
            if questions.is_empty() {
                first = rest.len();
            }
            questions.push((line, Vec::new()));
        } else if line.to_server
            && line.method().is_none()
            && let Some((_, answers)) = questions.iter_mut().find(|(question, _)| same(question))
        {
            answers.push(line);
        } else {
            rest.push(line);
        }
    }
    questions.sort_by(|(one, _), (other, _)| one.method().cmp(&other.method()));
    let questions = questions.into_iter().flat_map(|(question, answers)| [vec![question], answers].concat());
    rest.splice(first..first, questions);
    rest
}

/// Simultaneous questions may need several rounds: here they form one.
pub(crate) fn one_round(lines: Vec<Line>) -> Vec<Line> {
    let mut merged: Vec<Line> = Vec::new();
    let mut asked: Vec<(String, Value)> = Vec::new();
    let mut answered = Map::new();
    let mut retry = Value::Null;
    for line in lines {
        let Ok(message) = &line.what else { continue };
        let result = &message["result"];
        if let Some(requests) = result["inputRequests"].as_object() {
            asked.extend(requests.iter().map(|(key, request)| (key.clone(), request.clone())));
            // The first request and its retry are kept.
            if merged.len() > 1 {
                continue;
            }
        } else if let Some(responses) = message["params"]["inputResponses"].as_object() {
            answered.extend(responses.iter().map(|(key, response)| (key.clone(), response.clone())));
            if merged.len() > 2 {
                continue;
            }
            retry = message["id"].clone();
        }
        merged.push(line);
    }
    asked.sort_by_key(|(_, request)| request["method"].to_string());
    let named = |key: &str| {
        let at = asked.iter().position(|(known, _)| known == key).expect("it was asked");
        format!("question {}", at + 1)
    };
    let mut answers: Vec<(String, Value)> =
        answered.into_iter().map(|(key, answer)| (named(&key), answer)).collect();
    answers.sort_by(|(one, _), (other, _)| one.cmp(other));
    let questions: Map<String, Value> =
        asked.iter().map(|(key, request)| (named(key), request.clone())).collect();
    for line in &mut merged {
        let Ok(message) = &mut line.what else { continue };
        if message["result"]["inputRequests"].is_object() {
            message["result"]["inputRequests"] = Value::Object(questions.clone());
        } else if message["params"]["inputResponses"].is_object() {
            message["params"]["inputResponses"] = Value::Object(answers.iter().cloned().collect());
        } else if message["method"].is_null() && !retry.is_null() {
            message["id"] = retry.clone();
        }
    }
    merged
}

/// A request without the parts that differ each time it is sent.
pub(crate) fn without_id(message: &Value) -> String {
    let mut message = message.clone();
    if message.get("id").is_some() {
        message["id"] = json!(0);
    }
    message.to_string()
}
