//! Calls that wait for stateless clients to answer a question of their server.

use serde_json::{Value, json};

use crate::support::{Actor, Legacy, Line, Modern, Speaks, error_code, error_message, text};
use crate::{accepted, askable, asked, call, form, gateway, retry};

#[tokio::test]
async fn a_question_is_answered_by_the_next_try() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({"n": 1}));
    let (first, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        assert_eq!(line.received.body["params"]["name"], "ok");
        line.ask("é", "elicitation/create", &form());
        line.ask(7, "roots/list", &json!({}));
        line
    });
    let (_, keys) = asked(&first);
    assert_eq!(keys.len(), 2, "asked together: {first}");
    let mut again = retry(&params, &first, &accepted("Ada"));
    again["inputResponses"][&keys[1]] = json!({"roots": [{"uri": "file:///x"}]});
    let (second, ()) = tokio::join!(client.ask("tools/call", &again), async {
        assert_eq!(actor.response("é").await["result"], accepted("Ada"));
        assert_eq!(actor.response(7).await["result"], json!({"roots": [{"uri": "file:///x"}]}));
        line.answer_text("done");
    });
    assert_eq!((text(&second), &second["result"]["resultType"]), ("done", &json!("complete")));
    assert_eq!((actor.count("tools/call"), actor.count("POST")), (1, 2));
}

#[tokio::test]
async fn a_ping_is_answered_whether_the_client_is_there_or_not() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let ping = async |line: &Line, id: &str| {
        line.ask(id, "ping", &json!({}));
        assert_eq!(actor.response(id).await["result"], json!({}), "{id}");
    };
    let (first, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        ping(&line, "while it runs").await;
        line.ask(1, "elicitation/create", &form());
        line
    });
    ping(&line, "while it waits").await;
    let again = retry(&params, &first, &accepted("Ada"));
    let (second, ()) = tokio::join!(client.ask("tools/call", &again), async {
        actor.response(1).await;
        line.answer_text("done");
    });
    assert_eq!(text(&second), "done");
    // This also works between a client and a server of the same era.
    let (client, nothing) = (Legacy::open(gateway.http()).await, json!({}));
    let (answer, ()) = tokio::join!(client.call("up__ok", &nothing), async {
        let line = actor.next("tools/call").await;
        ping(&line, "in a session").await;
        line.answer_text("done");
    });
    assert_eq!(text(&answer), "done");
}

#[tokio::test]
async fn what_is_not_answered_is_asked_again() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (mut answer, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.ask(1, "elicitation/create", &form());
        line.ask(2, "elicitation/create", &form());
        line
    });
    let (_, keys) = asked(&answer);
    let nothing = [json!({}), json!({"other": accepted("x")}), json!({&keys[0]: [], &keys[1]: null})];
    for responses in nothing {
        let mut again = retry(&params, &answer, &json!({}));
        again["inputResponses"] = responses;
        answer = client.ask("tools/call", &again).await;
        assert_eq!(asked(&answer).1, keys);
    }
    let mut again = retry(&params, &answer, &json!({}));
    again["inputResponses"] = json!({&keys[0]: accepted("Ada")});
    answer = client.ask("tools/call", &again).await;
    assert_eq!(asked(&answer).1, keys[1..]);
    actor.response(1).await;
    let again = retry(&params, &answer, &json!({"action": "decline"}));
    let (last, ()) = tokio::join!(client.ask("tools/call", &again), async {
        assert_eq!(actor.response(2).await["result"], json!({"action": "decline"}));
        line.answer_text("done");
    });
    assert_eq!(text(&last), "done");
}

#[tokio::test]
async fn what_the_server_says_meanwhile_is_told_by_the_next_try() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let mut params = call("up__ok", &json!({}));
    params["_meta"] = json!({"progressToken": "first"});
    let ask = |params: Value| {
        let client = client.clone();
        async move {
            let mut reply = client.begin("tools/call", &params).await;
            let mut messages = Vec::new();
            while reply.is_stream() {
                let Some(message) = reply.message().await else { break };
                messages.push(message);
            }
            if messages.is_empty() {
                messages.push(reply.json().await);
            }
            messages
        }
    };
    let (first, line) = tokio::join!(ask(params.clone()), async {
        let line = actor.next("tools/call").await;
        line.progress(1);
        line.ask(1, "elicitation/create", &form());
        line.ask(2, "elicitation/create", &form());
        line
    });
    assert_eq!(first[0]["params"], json!({"progressToken": "first", "progress": 1}));
    let asked_for = first.last().expect("an answer");
    assert_eq!(asked(asked_for).1.len(), 2);
    line.progress(2);
    line.ask(3, "roots/list", &json!({}));
    line.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    line.ask(4, "made/up", &json!({}));
    line.progress(3);
    // The refusal of an unsupported question shows that the rest was received.
    assert_eq!(actor.response(4).await["error"]["code"], -32601);
    let mut again = retry(&params, asked_for, &accepted("Ada"));
    again["_meta"] = json!({"progressToken": "second"});
    let second = ask(again).await;
    assert_eq!(actor.response(1).await["result"], accepted("Ada"));
    let asked_for = second.last().expect("an answer");
    assert_eq!(asked_for["result"]["inputRequests"].as_object().map(serde_json::Map::len), Some(1));
    let told: Vec<&Value> = second.iter().filter_map(|message| message.get("params")).collect();
    let last = json!({"progressToken": "second", "progress": 3});
    assert_eq!(told.last().copied(), Some(&last), "{second:?}");
    let again = retry(&params, asked_for, &json!({"roots": []}));
    let (third, ()) = tokio::join!(ask(again), async {
        assert_eq!(actor.response(3).await["result"], json!({"roots": []}));
        line.answer_text("done");
    });
    assert_eq!(text(third.last().expect("an answer")), "done");
    assert_eq!(actor.count("POST"), 3, "the question that was taken back is not answered");
}

#[tokio::test]
async fn an_answer_that_came_meanwhile_is_given_at_once() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, line) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        line.ask(1, "elicitation/create", &form());
        line
    });
    line.answer_text("never mind");
    line.gone().await;
    let again = retry(&params, &first, &accepted("Ada"));
    let second = client.ask("tools/call", &again).await;
    assert_eq!(text(&second), "never mind");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_and_its_call_goes_on() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let roots_only = Modern { capabilities: json!({"roots": {}}), ..Modern::new(gateway.http()) };
    let params = call("up__ok", &json!({}));
    for client in [Modern::new(gateway.http()), roots_only] {
        let (answer, ()) = tokio::join!(client.ask("tools/call", &params), async {
            let line = actor.next("tools/call").await;
            let id = format!("q{}", actor.count("tools/call"));
            line.ask(id.as_str(), "elicitation/create", &form());
            let refused = actor.response(id.as_str()).await;
            assert_eq!(error_code(&refused), -32601);
            assert!(error_message(&refused).contains("client"), "{refused}");
            line.answer_text("without");
        });
        assert_eq!(text(&answer), "without");
    }
}

#[tokio::test]
async fn other_requests_are_never_answered_by_questions() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = json!({
        "ref": {"type": "ref/prompt", "name": "up__p"}, "argument": {"name": "a", "value": "b"},
    });
    let (answer, ()) = tokio::join!(client.ask("completion/complete", &params), async {
        let line = actor.next("completion/complete").await;
        line.ask(1, "elicitation/create", &form());
        assert_eq!(error_code(&actor.response(1).await), -32601);
        line.answer(&json!({"completion": {"values": ["b1"]}}));
    });
    assert_eq!(answer["result"]["completion"]["values"], json!(["b1"]), "{answer}");
}

#[tokio::test]
async fn pages_that_have_to_be_visited_first_are_asked_for_and_the_call_is_made_again() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    let client = askable(&gateway);
    let params = call("up__ok", &json!({}));
    let (first, ()) = tokio::join!(client.ask("tools/call", &params), async {
        let line = actor.next("tools/call").await;
        let page = json!({"mode": "url", "elicitationId": "e", "url": "https://a.example/", "message": "Go"});
        let error = json!({"code": -32042, "message": "first", "data": {"elicitations": [page]}});
        line.say(&json!({"jsonrpc": "2.0", "id": line.received.body["id"], "error": error}));
        line.close();
    });
    let (_, keys) = asked(&first);
    let params_shown = &first["result"]["inputRequests"][&keys[0]]["params"];
    assert_eq!(*params_shown, json!({"mode": "url", "message": "Go", "url": "https://a.example/"}));
    let refused = client.ask("tools/call", &retry(&params, &first, &json!({"action": "decline"}))).await;
    assert!(error_message(&refused).contains("the user declined"), "{refused}");
    assert_eq!(actor.count("tools/call"), 1, "nobody is sent there again");
    let again = retry(&params, &first, &json!({"action": "accept"}));
    let (second, ()) = tokio::join!(client.ask("tools/call", &again), async {
        let line = actor.next("tools/call").await;
        let sent = &line.received.body["params"];
        assert_eq!((sent.get("requestState"), sent.get("inputResponses")), (None, None));
        line.answer_text("done");
    });
    assert_eq!(text(&second), "done");
}

#[tokio::test]
async fn each_request_has_its_own_log_level() {
    let actor = Actor::start(Speaks::Handshake).await;
    let gateway = gateway(&actor.config(), "").await;
    for (level, heard) in
        [(Some("warning"), vec!["error"]), (Some("debug"), vec!["info", "error"]), (None, vec![])]
    {
        let client = Modern::new(gateway.http());
        let mut params = call("up__ok", &json!({}));
        if let Some(level) = level {
            params["_meta"] = json!({"io.modelcontextprotocol/logLevel": level});
        }
        let calls = actor.count("tools/call");
        let (mut reply, ()) = tokio::join!(client.begin("tools/call", &params), async {
            let line = actor.next("tools/call").await;
            let told = actor.received();
            let told: Vec<_> = told.iter().filter(|one| one.method() == "logging/setLevel").collect();
            assert_eq!(told.len(), (calls + 1).min(2), "each call that wants some says so");
            for level in ["info", "error"] {
                let params = json!({"level": level, "data": "x"});
                line.say(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}));
            }
            line.answer_text("done");
        });
        let mut levels = Vec::new();
        while reply.is_stream() {
            let message = reply.message().await.expect("an answer");
            match message["params"]["level"].as_str() {
                Some(level) => levels.push(level.to_owned()),
                None => break,
            }
        }
        assert_eq!(levels, heard, "{level:?}");
    }
}
