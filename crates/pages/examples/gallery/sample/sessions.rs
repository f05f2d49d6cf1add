//! Sessions, streams, and the calls that run or wait.

use super::{NOW, Sample, ago};
use dragoman_pages::model::{
    CallNowRow, CallNowStage, ParkedRow, QueueRow, SessionRow, SessionsPage, StreamRow,
};

/// Sessions and streams.
pub(crate) fn sessions(s: &Sample) -> SessionsPage {
    let clients = ["claude-code 2.1.0", "cursor 1.7.4", "vscode 1.108", "inspector 0.18"];
    SessionsPage {
        q: s.t(""),
        sessions: s.rows(|number| SessionRow {
            id: format!("s{number}"),
            principal: s.caller(if number % 2 == 0 { "user:ann" } else { "key:dgm_BgTMSuBe" }),
            client: s.t(clients[number % clients.len()]),
            era: s.t(if number % 3 == 0 { "2025-11-25" } else { "2025-06-18" }),
            transport: s.t("http"),
            profile: s.t("office"),
            address: Some(s.t("10.1.4.22")),
            opened: ago(400 * (number as u64 + 1)),
            used: ago(7 * number as u64),
            streams: number as u64 % 2,
            calls: u64::from(number == 1),
            questions: u64::from(number == 2),
            capabilities: if number.is_multiple_of(2) {
                s.list(&["elicitation", "sampling"])
            } else {
                Vec::new()
            },
        }),
        paging: s.paging(),
        streams: s.few(30, |number| StreamRow {
            principal: s.caller("user:ann"),
            client: s.t(clients[number % 4]),
            purpose: s.t("subscriptions/listen"),
            opened: ago(600),
        }),
        calls: s.few(3, |number| CallNowRow {
            target: s.t(if number == 0 { "blog__wp_list_posts" } else { "render__poster" }),
            server: s.t(if number == 0 { "blog" } else { "render" }),
            principal: s.caller("key:dgm_BgTMSuBe"),
            client: Some(s.t(clients[number % 4])),
            since: ago(9 - number as u64 % 9),
            stage: [CallNowStage::Runs, CallNowStage::Asks, CallNowStage::Waits][number % 3],
        }),
        parked: s.few(2, |number| ParkedRow {
            questions: vec![(
                s.t("elicitation/create"),
                s.t("Publish the post “Spring sale” now, or keep it as a draft?"),
            )],
            client: (number > 0).then(|| s.t("cursor 1.7.4")),
            principal: s.caller("user:ann"),
            call: (number == 0).then(|| (s.t("blog__wp_update_post"), s.t("blog"))),
            since: ago(40),
            until: (number == 0).then_some(NOW + 560_000),
        }),
        queues: s.few(4, |number| QueueRow {
            server: s.t(["blog", "postgres", "files", "github"][number]),
            running: 4 - number as u64,
            limit: (number == 0).then_some(4),
            waiting: [2, 3, 0, 0][number],
            queue: (number == 0).then_some((8, 2)),
            reason: (number == 1).then(|| s.t("the server is backing off; next attempt in 12 s")),
        }),
        limit: 10_000,
    }
}
