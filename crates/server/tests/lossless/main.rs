//! Losslessness: messages pass from a client through the gateway to an upstream and back, and every byte outside of
//! the few spans that must differ (IDs, public names, progress tokens, states) is the same on both sides.
//!
//! The messages are in `corpus/`. For every version, it contains each request, notification, result, error and list
//! entry, once with every optional member and once in unusual spelling, with unknown members at every level;
//! `corpus/odd` contains unusual but valid messages of all versions. Each version is tested over both transports on
//! either side.

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod corpus;
mod lists;
mod notices;
mod questions;
mod rig;
mod upstream;

use rig::Place;
use support::Over;

macro_rules! tests {
    ($version:ident, $text:literal: $($name:ident = $test:path),* $(,)?) => {
        mod $version {
            use super::*;

            tests!(@pair http_http, $text, Http, Http: $($name = $test),*);
            tests!(@pair http_stdio, $text, Http, Stdio: $($name = $test),*);
            tests!(@pair stdio_http, $text, Stdio, Http: $($name = $test),*);
            tests!(@pair stdio_stdio, $text, Stdio, Stdio: $($name = $test),*);
        }
    };
    (@pair $pair:ident, $text:literal, $client:ident, $upstream:ident: $($name:ident = $test:path),*) => {
        /// The client's transport comes first, then the upstream's.
        mod $pair {
            use super::*;

            const PLACE: Place = Place { version: $text, client: Over::$client, upstream: Over::$upstream };

            $(
                #[tokio::test]
                async fn $name() {
                    Box::pin($test(PLACE)).await;
                }
            )*
        }
    };
}

macro_rules! handshake_tests {
    ($version:ident, $text:literal) => {
        tests!($version, $text:
            requests = calls::requests,
            answers = calls::answers,
            long_answers = calls::long_answers,
            answered_here = calls::answered_here,
            introductions = calls::introductions,
            lists = lists::entries,
            notices_during_a_call = notices::during_a_call,
            notices_unasked = notices::unasked,
            notices_of_the_client = notices::of_the_client,
            cancellation = notices::cancelled_by_the_client,
            questions_during_a_call = questions::during_a_call,
            questions_unasked = questions::unasked,
            progress_on_questions = questions::progress,
            questions_withdrawn = questions::withdrawn,
        );
    };
}

handshake_tests!(v2025_03_26, "2025-03-26");
handshake_tests!(v2025_06_18, "2025-06-18");
handshake_tests!(v2025_11_25, "2025-11-25");

tests!(v2026_07_28, "2026-07-28":
    requests = calls::requests,
    answers = calls::answers,
    long_answers = calls::long_answers,
    answered_here = calls::answered_here,
    lists = lists::entries,
    notices_during_a_call = notices::during_a_call,
);

/// Over HTTP, closing the stream cancels a stateless request, so there is no notification to pass on.
mod stateless_cancellation {
    use super::*;

    const fn place(client: Over, upstream: Over) -> Place {
        Place { version: "2026-07-28", client, upstream }
    }

    #[tokio::test]
    async fn stdio_stdio() {
        Box::pin(notices::cancelled_by_the_client(place(Over::Stdio, Over::Stdio))).await;
    }

    #[tokio::test]
    async fn stdio_http() {
        Box::pin(notices::cancelled_in_words(place(Over::Stdio, Over::Http))).await;
    }

    #[tokio::test]
    async fn http_stdio() {
        Box::pin(notices::cancelled_by_closing(place(Over::Http, Over::Stdio))).await;
    }

    #[tokio::test]
    async fn http_http() {
        Box::pin(notices::cancelled_by_closing(place(Over::Http, Over::Http))).await;
    }
}

macro_rules! header_tests {
    ($($name:ident = $text:literal),*) => {
        $(
            #[tokio::test]
            async fn $name() {
                calls::mirrored_headers(Place { version: $text, client: Over::Http, upstream: Over::Http }).await;
            }
        )*
    };
}

header_tests!(
    headers_2025_03_26 = "2025-03-26",
    headers_2025_06_18 = "2025-06-18",
    headers_2026_07_28 = "2026-07-28"
);
