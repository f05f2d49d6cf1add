//! Every client era against every upstream era, feature by feature, message by message.
//!
//! Each pair is played twice: over HTTP in each version's way, and over pipes. Both must produce the same transcript,
//! which must equal the one in `transcripts/`. Each feature's outcome is also checked, so that a wrong transcript
//! cannot be kept. `DRAGOMAN_BLESS=1 cargo test -p dragoman --test eras` writes the transcripts and `docs/eras.md`.
//!
//! | file | is for |
//! |---|---|
//! | `version` | the versions, and their properties that the test needs |
//! | `cells` | impossible features, and why |
//! | `stage` | one pair: client, gateway, upstream, one feature after the other |
//! | `place`, `record` | an upstream of one version, and its record |
//! | `section`, `order`, `normal`, `transcript` | the messages that a transcript keeps, and their form |
//! | `page` | `docs/eras.md` |
//! | `opening`, `tools`, `structured`, `offers`, `during`, `errors`, `changes`, `asking`, `tasks` | the features |

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod cells;
mod changes;
mod during;
mod errors;
mod normal;
mod offers;
mod opening;
mod order;
mod page;
mod place;
mod record;
mod section;
mod stage;
mod structured;
mod tasks;
mod tools;
mod transcript;
mod version;

use stage::{Feature, Stage};
use support::Over;
use version::{Pair, Version};

/// All features, in the order in which they are played.
const FEATURES: &[&[Feature]] = &[
    opening::FEATURES,
    tools::FEATURES,
    structured::FEATURES,
    during::FEATURES,
    errors::FEATURES,
    offers::FEATURES,
    changes::FEATURES,
    asking::FEATURES,
    tasks::FEATURES,
];

/// Plays a pair over both transports and compares.
async fn check(client: Version, upstream: Version) {
    let pair = Pair { client, upstream };
    let (web, pipes) =
        tokio::join!(Box::pin(Stage::play(pair, Over::Http)), Box::pin(Stage::play(pair, Over::Stdio)));
    let mut wrong: Vec<String> = web.1.into_iter().chain(pipes.1).collect();
    if wrong.is_empty() {
        wrong.extend(transcript::check(pair, &web.0, &pipes.0).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

macro_rules! pairs {
    ([$($module:ident = $client:ident),* $(,)?] $upstreams:tt) => {
        $(mod $module {
            use super::{Version, check};

            pairs!(@tests $client $upstreams);
        })*
    };
    (@tests $client:ident [$($test:ident = $upstream:ident),* $(,)?]) => {
        $(#[tokio::test]
        async fn $test() {
            Box::pin(check(Version::$client, Version::$upstream)).await;
        })*
    };
}

pairs! {
    [
        from_1 = First,
        from_2024_10_07 = October2024,
        from_2024_11_05 = November2024,
        from_2025_03_26 = March2025,
        from_2025_06_18 = June2025,
        from_2025_11_25 = November2025,
        from_2026_07_28 = July2026,
    ]
    [
        to_1 = First,
        to_2024_10_07 = October2024,
        to_2024_11_05 = November2024,
        to_2025_03_26 = March2025,
        to_2025_06_18 = June2025,
        to_2025_11_25 = November2025,
        to_2026_07_28 = July2026,
    ]
}
