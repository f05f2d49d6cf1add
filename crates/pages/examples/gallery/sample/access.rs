//! Keys, access, limits, consents.

use super::{NOW, Sample, ago};
use dragoman_pages::model::{
    AccessForm, AccessPage, AccessReach, AccessRuleRow, AccessStep, AccessVerdict, CapRow, ConsentRow,
    ConsentStanding, CopiedEventsRow, KeyForm, KeyRow, KeyStanding, KeysPage, LimitsPage, LoginsPage, NewKey,
    RateRow, ReplicaRow, ReplicasPage, RuleEffect, SignInRow, StoreRow, StoreStanding,
};

/// The keys.
pub(crate) fn keys(s: &Sample) -> KeysPage {
    let names = ["cursor-ann", "ci", "claude-bob", "old-laptop"];
    let prefixes = ["dgm_BgTMSuBe", "dgm_k3PqXz71", "dgm_9aKdLmWq", "dgm_Zz81hYtR"];
    KeysPage {
        connect: (s.t("office"), s.t("cursor")),
        accepted: s.rows > 0,
        q: s.t(""),
        rows: s.rows(|number| KeyRow {
            name: s.numbered(names[number % 4], number / 4),
            prefix: s.numbered(prefixes[number % 4], number / 4),
            profiles: if number.is_multiple_of(2) { s.list(&["office"]) } else { Vec::new() },
            created: ago(86_400 * (number as u64 + 3)),
            expires: (number % 3 == 1).then_some(NOW + 40 * 86_400_000),
            used: (number != 2).then(|| ago(61 * (number as u64 + 1))),
            standing: [KeyStanding::Valid, KeyStanding::Valid, KeyStanding::Expired, KeyStanding::Revoked]
                [number % 4],
            calls: 2_214 / (number as u64 + 1),
            rules: if number % 4 == 1 { vec![1, 3] } else { Vec::new() },
        }),
        paging: s.paging(),
        profiles: s.list(&["default", "office", "research"]),
        made: None,
        form: KeyForm { fault: s.hostile.is_some().then(|| s.t("")), ..KeyForm::default() },
    }
}

/// The keys after one was made.
pub(crate) fn keys_made(s: &Sample) -> KeysPage {
    KeysPage {
        made: Some(NewKey {
            name: s.t("cursor-eve"),
            text: "dgm_BgTMSuBenbvmslHu1rsGtj2C5proYQbjPlhMCCx1XF21UJThX".to_owned(),
            gets_nothing: s.hostile.is_some(),
        }),
        ..keys(s)
    }
}

/// The answer of the access check.
pub(crate) fn verdict(s: &Sample) -> AccessVerdict {
    let step =
        |check: &str, effect, why: &str, line| AccessStep { check: s.t(check), effect, why: s.t(why), line };
    AccessVerdict {
        allowed: false,
        reason: s.t("Rule 1 denies blog__wp_delete_post to everybody except user ann."),
        steps: vec![
            step("credential", RuleEffect::Allows, "user:bob is accepted for profile office", None),
            step("profile office", RuleEffect::Allows, "the profile lists the tool", None),
            step(
                "rule 1: deny *delete*",
                RuleEffect::Denies,
                "the name matches, and user:bob is not user:ann",
                Some(41),
            ),
            step(
                "rule 2: deny *",
                RuleEffect::Skipped,
                "it applies to callers without a credential",
                Some(42),
            ),
        ],
    }
}

/// The access check.
pub(crate) fn access(s: &Sample) -> AccessPage {
    AccessPage {
        reach: (s.rows == 1).then(|| AccessReach {
            allowed: s
                .few(3, |number| s.t(["blog__read", "files__read_file", "github__search_code"][number])),
            denied: s.few(1, |_| s.t("blog__wp_delete_post")),
            refusal: None,
        }),
        form: AccessForm {
            caller: s.t("user:bob"),
            address: s.t(""),
            profile: s.t("office"),
            tool: s.t("blog__wp_delete_post"),
            arguments: s.t(""),
        },
        callers: s.list(&["anyone", "user:ann", "user:bob", "key:dgm_BgTMSuBe"]),
        profiles: s.list(&["default", "office"]),
        tools: s.rows(|number| s.numbered("blog__wp_delete_post", number)),
        verdict: (s.rows > 1).then(|| verdict(s)),
        rules: s.rows(|number| AccessRuleRow {
            number: number as u64 + 1,
            allows: number % 3 == 2,
            patterns: s.t(["*delete*", "*", "*search*, *read*"][number % 3]),
            conditions: s
                .t(["unless the caller is user ann", "servers: blog; callers: anyone", ""][number % 3]),
        }),
        fault: s.hostile.is_some().then(|| s.t("")),
    }
}

/// The limits.
pub(crate) fn limits(s: &Sample) -> LimitsPage {
    let caps = [
        ("limits.sessions", "open sessions", "10000", Some((7_720, 10_000))),
        ("limits.children", "processes of servers", "64", Some((61, 64))),
        ("limits.buffers", "bytes of all large buffers together", "512MiB", Some((92_000_000, 536_870_912))),
        ("limits.requestBody", "bytes of one request", "4MiB", None),
        ("limits.parkedCalls", "calls that wait for their client", "1000", Some((2, 1_000))),
    ];
    LimitsPage {
        rates: s.few(3, |number| RateRow {
            scope: s.t(["All calls", "Tools that match blog__*", "Failed logins"][number]),
            quota: s.t(["600/1m", "60/1m", "10/1m"][number]),
            per: s.t(["caller", "caller", "address"][number]),
            refused: [14, 0, 3][number],
        }),
        caps: s.rows(|number| {
            let (key, means, limit, used) = caps[number % caps.len()];
            CapRow { key: s.numbered(key, number / caps.len()), means: s.t(means), limit: s.t(limit), used }
        }),
    }
}

/// The gateways of a cluster.
pub(crate) fn replicas(s: &Sample) -> ReplicasPage {
    ReplicasPage {
        events: Some(CopiedEventsRow { copied: 48_210, lost: 3, resumed: 7, streams: 61, bytes: 214_900 }),
        store: Some(StoreRow {
            standing: if s.rows == 0 { StoreStanding::Unreachable } else { StoreStanding::Ready },
            detail: Some(s.t(if s.rows == 0 { "127.0.0.1:6379 refused the connection" } else { "7.2.4" })),
            since: ago(7_200),
        }),
        replicas: s.few(3, |number| ReplicaRow {
            name: s.t(["gateway-a", "gateway-b", "gateway-c"][number]),
            id: s.t(["8f3a12bc5d6e7f80", "1b2c3d4e5f607182", "c0ffee0123456789"][number]),
            version: s.t(env!("CARGO_PKG_VERSION")),
            started: ago([7_200, 86_400, 95][number]),
            sessions: [1_240, 1_198, 12][number],
            address: (number < 2).then(|| s.t(["10.0.0.7:8810", "10.0.0.8:8810"][number])),
            is_this_one: number == 0,
        }),
    }
}

/// The consents.
pub(crate) fn logins(s: &Sample) -> LoginsPage {
    let standings =
        [ConsentStanding::Valid, ConsentStanding::Asked, ConsentStanding::Expired, ConsentStanding::Refused];
    LoginsPage {
        q: s.t(""),
        sign_ins: Some(s.rows(|number| SignInRow {
            id: format!("s{number}"),
            user: s.t(["ann", "bert", "chris"][number % 3]),
            site: s.t("https://blog.example.com"),
            client: s.t(["Claude", "Cursor"][number % 2]),
            client_id: s.t(["https://claude.example/oauth/client.json", "dgc_8fK2"][number % 2]),
            since: NOW - 86_400_000,
            used: NOW - 60_000,
        })),
        rows: s.rows(|number| ConsentRow {
            id: format!("c{number}"),
            server: s.t(["notion", "linear", "github"][number % 3]),
            principal: s.caller(if number.is_multiple_of(2) { "user:ann" } else { "key:dgm_BgTMSuBe" }),
            shared: number % 5 == 1,
            issuer: s.t("https://id.notion.example"),
            scopes: s.list(&["pages.read", "pages.write"]),
            expires: (number % 4 != 1).then_some(NOW + 1_900_000),
            standing: standings[number % 4],
            reason: (number % 4 == 3).then(|| s.t("invalid_grant: the refresh token was revoked")),
        }),
        paging: s.paging(),
    }
}
