//! Features that are impossible for a pair, and why. All other cells of the matrix work.

use std::ops::RangeInclusive;

use crate::version::{Pair, Version};

use Version::{First, July2026, June2025, March2025, November2024, November2025, October2024};

type Versions = RangeInclusive<Version>;

/// Features that are impossible for these pairs.
pub(crate) struct Cells {
    pub(crate) features: &'static [&'static str],
    clients: Versions,
    upstreams: Versions,
    pub(crate) reason: &'static str,
}

const ANY: Versions = First..=July2026;

/// The features that ask the user.
const FORMS: &[&str] = &["elicitation-form", "elicitation-choices", "rounds", "several-questions", "refusal"];

/// The first matching entry counts.
pub(crate) const IMPOSSIBLE: &[Cells] = &[
    Cells {
        features: &["ping"],
        clients: July2026..=July2026,
        upstreams: ANY,
        reason: "clients of 2026-07-28 have no ping",
    },
    Cells {
        features: &["cancellation"],
        clients: First..=October2024,
        upstreams: ANY,
        reason: "in versions before 2024-11-05, clients cannot cancel a request",
    },
    Cells {
        features: &["cancellation"],
        clients: November2024..=July2026,
        upstreams: First..=October2024,
        reason: "in versions before 2024-11-05, servers have no cancellation: the server continues, and Dragoman drops its late answer",
    },
    Cells {
        features: FORMS,
        clients: ANY,
        upstreams: First..=March2025,
        reason: "in versions before 2025-06-18, servers cannot ask the user",
    },
    Cells {
        features: FORMS,
        clients: First..=March2025,
        upstreams: June2025..=July2026,
        reason: "in versions before 2025-06-18, clients cannot ask their user; Dragoman tells the server so",
    },
    Cells {
        features: &["elicitation-choices"],
        clients: June2025..=June2025,
        upstreams: November2025..=July2026,
        reason: "forms of version 2025-06-18 cannot let the user choose several values: Dragoman does not show a form that needs this, and tells the server so; all other forms are shown",
    },
    Cells {
        features: &["elicitation-url"],
        clients: ANY,
        upstreams: First..=June2025,
        reason: "in versions before 2025-11-25, servers cannot send the user to a URL",
    },
    Cells {
        features: &["elicitation-url"],
        clients: First..=June2025,
        upstreams: November2025..=July2026,
        reason: "in versions before 2025-11-25, clients cannot send their user to a URL; Dragoman tells the server so",
    },
    Cells {
        features: &["sampling-tools"],
        clients: ANY,
        upstreams: First..=June2025,
        reason: "in versions before 2025-11-25, servers cannot offer tools to the client's model",
    },
    Cells {
        features: &["sampling-tools"],
        clients: First..=June2025,
        upstreams: November2025..=July2026,
        reason: "in versions before 2025-11-25, clients cannot give tools to their model; Dragoman tells the server so",
    },
    Cells {
        features: &["question-error"],
        clients: July2026..=July2026,
        upstreams: ANY,
        reason: "clients of 2026-07-28 cannot answer a question with an error: they either give an answer or do not send the request again",
    },
    Cells {
        features: &["structured-object"],
        clients: ANY,
        upstreams: First..=March2025,
        reason: "in versions before 2025-06-18, servers have no structured results",
    },
    Cells {
        features: &["structured-object"],
        clients: First..=March2025,
        upstreams: June2025..=July2026,
        reason: "in versions before 2025-06-18, clients have no structured results; the text contains the same data",
    },
    Cells {
        features: &["structured-value"],
        clients: ANY,
        upstreams: First..=November2025,
        reason: "in versions before 2026-07-28, a server's structured results are always objects",
    },
    Cells {
        features: &["structured-value"],
        clients: First..=November2025,
        upstreams: July2026..=July2026,
        reason: "in versions before 2026-07-28, clients accept only objects as structured results; the text contains the same data",
    },
    Cells {
        features: &["tasks"],
        clients: ANY,
        upstreams: First..=June2025,
        reason: "in versions before 2025-11-25, servers have no tasks; the client gets the result when it is ready",
    },
    Cells {
        features: &["tasks"],
        clients: First..=June2025,
        upstreams: November2025..=July2026,
        reason: "in versions before 2025-11-25, clients have no tasks; the client gets the result when it is ready",
    },
    Cells {
        features: &["roots"],
        clients: ANY,
        upstreams: First..=First,
        reason: "servers of version 1 cannot ask for roots",
    },
    Cells {
        features: &["roots"],
        clients: First..=First,
        upstreams: October2024..=July2026,
        reason: "clients of version 1 have no roots; Dragoman tells the server so",
    },
];

/// The reason why this feature is impossible for this pair; `None` if it is possible.
pub(crate) fn reason(feature: &str, pair: Pair) -> Option<&'static str> {
    let fits = |cells: &&Cells| {
        cells.features.contains(&feature)
            && cells.clients.contains(&pair.client)
            && cells.upstreams.contains(&pair.upstream)
    };
    IMPOSSIBLE.iter().find(fits).map(|cells| cells.reason)
}
