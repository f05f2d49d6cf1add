//! What cannot be had by which pair, and why. All other cells of the matrix work.

use std::ops::RangeInclusive;

use crate::version::{Pair, Version};

use Version::{First, July2026, June2025, March2025, November2024, November2025, October2024};

type Versions = RangeInclusive<Version>;

/// Features that these pairs cannot have.
pub(crate) struct Cells {
    pub(crate) features: &'static [&'static str],
    clients: Versions,
    upstreams: Versions,
    pub(crate) reason: &'static str,
}

const ANY: Versions = First..=July2026;

/// What asks the user.
const FORMS: &[&str] = &["elicitation-form", "elicitation-choices", "rounds", "several-questions", "refusal"];

/// The first that fits counts.
pub(crate) const IMPOSSIBLE: &[Cells] = &[
    Cells {
        features: &["ping"],
        clients: July2026..=July2026,
        upstreams: ANY,
        reason: "a client of 2026-07-28 has no ping",
    },
    Cells {
        features: &["cancellation"],
        clients: First..=October2024,
        upstreams: ANY,
        reason: "before 2024-11-05 a client cannot take a request back",
    },
    Cells {
        features: &["cancellation"],
        clients: November2024..=July2026,
        upstreams: First..=October2024,
        reason: "before 2024-11-05 a server cannot be told; it goes on, and its late answer is dropped",
    },
    Cells {
        features: FORMS,
        clients: ANY,
        upstreams: First..=March2025,
        reason: "before 2025-06-18 a server cannot ask the user",
    },
    Cells {
        features: FORMS,
        clients: First..=March2025,
        upstreams: June2025..=July2026,
        reason: "before 2025-06-18 a client cannot ask its user, and the server is told so",
    },
    Cells {
        features: &["elicitation-choices"],
        clients: June2025..=June2025,
        upstreams: November2025..=July2026,
        reason: "a form of 2025-06-18 has no choice of several: such a form is not shown, and the server is told that; all other forms are",
    },
    Cells {
        features: &["elicitation-url"],
        clients: ANY,
        upstreams: First..=June2025,
        reason: "before 2025-11-25 a server cannot send the user to a URL",
    },
    Cells {
        features: &["elicitation-url"],
        clients: First..=June2025,
        upstreams: November2025..=July2026,
        reason: "before 2025-11-25 a client cannot send its user to a URL, and the server is told so",
    },
    Cells {
        features: &["sampling-tools"],
        clients: ANY,
        upstreams: First..=June2025,
        reason: "before 2025-11-25 a server cannot offer tools to the client's model",
    },
    Cells {
        features: &["sampling-tools"],
        clients: First..=June2025,
        upstreams: November2025..=July2026,
        reason: "before 2025-11-25 a client cannot give tools to its model, and the server is told so",
    },
    Cells {
        features: &["question-error"],
        clients: July2026..=July2026,
        upstreams: ANY,
        reason: "a client of 2026-07-28 answers a question or asks no more; there are no errors",
    },
    Cells {
        features: &["structured-object"],
        clients: ANY,
        upstreams: First..=March2025,
        reason: "before 2025-06-18 a server has no structured results",
    },
    Cells {
        features: &["structured-object"],
        clients: First..=March2025,
        upstreams: June2025..=July2026,
        reason: "before 2025-06-18 a client has no structured results; the text says the same",
    },
    Cells {
        features: &["structured-value"],
        clients: ANY,
        upstreams: First..=November2025,
        reason: "before 2026-07-28 a server's structured results are objects",
    },
    Cells {
        features: &["structured-value"],
        clients: First..=November2025,
        upstreams: July2026..=July2026,
        reason: "before 2026-07-28 a client's structured results are objects; the text says the same",
    },
    Cells {
        features: &["tasks"],
        clients: ANY,
        upstreams: First..=June2025,
        reason: "before 2025-11-25 a server has no tasks; the client gets the result when it is there",
    },
    Cells {
        features: &["tasks"],
        clients: First..=June2025,
        upstreams: November2025..=July2026,
        reason: "before 2025-11-25 a client has no tasks; it gets the result when it is there",
    },
    Cells {
        features: &["roots"],
        clients: ANY,
        upstreams: First..=First,
        reason: "a server of version 1 cannot ask for roots",
    },
    Cells {
        features: &["roots"],
        clients: First..=First,
        upstreams: October2024..=July2026,
        reason: "a client of version 1 has no roots, and the server is told so",
    },
];

/// Why this pair cannot have this feature; nothing if it can.
pub(crate) fn reason(feature: &str, pair: Pair) -> Option<&'static str> {
    let fits = |cells: &&Cells| {
        cells.features.contains(&feature)
            && cells.clients.contains(&pair.client)
            && cells.upstreams.contains(&pair.upstream)
    };
    IMPOSSIBLE.iter().find(fits).map(|cells| cells.reason)
}
