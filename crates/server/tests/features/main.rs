//! The features of the protocol through the gateway, between client and upstream of the same version: each version over
//! both transports on either side, against a complete server.

#[path = "../support/mod.rs"]
mod support;

mod changes;
mod during;
mod offers;
mod place;
mod rounds;
mod routes;
mod searched;
mod streams;
mod wire;

use place::Place;
use support::Over;

macro_rules! tests {
    ($($version:ident = $text:literal: $($group:ident::{$($test:ident),* $(,)?}),* $(,)?;)*) => {
        $(mod $version {
            use super::*;

            $(tests!(@group $group, $text, {$($test),*});)*
        })*
    };
    (@group $group:ident, $text:literal, {$($test:ident),*}) => {
        mod $group {
            use super::*;

            $(tests!(@test $group, $text, $test);)*
        }
    };
    (@test $group:ident, $text:literal, $test:ident) => {
        /// The client's transport comes first, then the upstream's.
        mod $test {
            use super::*;

            tests!(@place $group, $test, http_http = $text, Http, Http);
            tests!(@place $group, $test, http_stdio = $text, Http, Stdio);
            tests!(@place $group, $test, stdio_http = $text, Stdio, Http);
            tests!(@place $group, $test, stdio_stdio = $text, Stdio, Stdio);
        }
    };
    (@web $group:ident, $text:literal, $test:ident) => {
        mod $test {
            use super::*;

            tests!(@place $group, $test, http_http = $text, Http, Http);
            tests!(@place $group, $test, http_stdio = $text, Http, Stdio);
        }
    };
    (@one $group:ident, $text:literal, $test:ident) => {
        tests!(@place $group, $test, $test = $text, Http, Http);
    };
    (@place $group:ident, $test:ident, $name:ident = $text:literal, $client:ident, $upstream:ident) => {
        #[tokio::test]
        async fn $name() {
            let place = Place { version: $text, client: Over::$client, upstream: Over::$upstream };
            Box::pin(crate::$group::$test(place)).await;
        }
    };
}

tests! {
    v2025_03_26 = "2025-03-26":
        offers::{tools, arguments, resources, prompts, pages, unknown},
        during::{progress, logging, wrong_level, cancellation, questions, not_asked},
        changes::{lists, resources};
    v2025_06_18 = "2025-06-18":
        offers::{tools, arguments, resources, prompts, pages, unknown},
        during::{progress, logging, wrong_level, cancellation, questions, declined, not_asked},
        changes::{lists, resources};
    v2025_11_25 = "2025-11-25":
        offers::{tools, arguments, resources, prompts, pages, unknown},
        during::{progress, logging, wrong_level, cancellation, questions, declined, not_asked},
        changes::{lists, resources};
    v2026_07_28 = "2026-07-28":
        offers::{tools, arguments, resources, prompts, pages, unknown},
        during::{progress, logging, wrong_level, questions, declined, not_asked},
        changes::{lists, resources, filtered};
}

macro_rules! some_tests {
    ($($version:ident = $text:literal: $kind:ident $($group:ident::{$($test:ident),* $(,)?}),* $(,)?;)*) => {
        $(mod $version {
            use super::*;

            $(mod $group {
                use super::*;

                $(tests!(@$kind $group, $text, $test);)*
            })*
        })*
    };
}

mod rounds_by_place {
    use super::*;

    some_tests! {
        v2026_07_28 = "2026-07-28": test rounds::{states, foreign_state};
    }
}

mod web {
    use super::*;

    some_tests! {
        v2025_03_26 = "2025-03-26": web streams::{resumption, gaps, batches}, rounds::{same_ids};
        v2025_06_18 = "2025-06-18": web streams::{resumption, gaps, no_batches}, rounds::{same_ids};
        v2025_11_25 = "2025-11-25": web
            streams::{resumption, from_the_start, gaps, reconnection, no_batches}, rounds::{same_ids};
        v2026_07_28 = "2026-07-28": web rounds::{same_ids}, streams::{no_batches};
    }
}

mod rules_by_place {
    use super::*;

    some_tests! {
        v2025_11_25 = "2025-11-25": test routes::{excluded, alike};
    }
}

mod searched_by_place {
    use super::*;

    some_tests! {
        v2025_03_26 = "2025-03-26": test searched::{finds_and_calls, progress, cancellation, questions};
        v2025_11_25 = "2025-11-25": test searched::{finds_and_calls, progress, cancellation, questions, tasks};
        v2026_07_28 = "2026-07-28": test searched::{finds_and_calls, progress, questions};
    }
}

mod several {
    use super::*;

    some_tests! {
        v2025_03_26 = "2025-03-26": one routes::{prefixed, ruled, excluded};
        v2025_06_18 = "2025-06-18": one routes::{alike};
        v2025_11_25 = "2025-11-25": one routes::{prefixed, plain, ruled, resources, news};
        v2026_07_28 = "2026-07-28": one
            routes::{prefixed, plain, ruled, excluded, resources, alike, news}, searched::{headers};
    }
}
