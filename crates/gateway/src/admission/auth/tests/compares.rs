//! Comparing two secrets takes the same time regardless of the position at which they differ. As a control, each
//! measurement includes a comparison that stops at the first difference, which shows that the method detects one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use engine::credential::Basic;

use super::super::digest::{Digest, Digests};
use super::super::users::Users;
use super::rig::config;
use super::users::hash;

/// The number of measurements of each side; the two sides are measured alternately.
const ROUNDS: usize = 200;
/// The number of comparisons in one measurement.
const BATCH: usize = 100;
/// The factor by which one side may be slower. A comparison that stops early exceeds it by far.
const ALIKE: f64 = 1.25;

/// The ratio of the slower side's time to the faster side's, computed from the fastest quarter of all measurements, because
/// disturbances only add time.
fn ratio(rounds: usize, mut early: impl FnMut(), mut late: impl FnMut()) -> f64 {
    let timed = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            first.push(timed(&mut early));
            second.push(timed(&mut late));
        } else {
            second.push(timed(&mut late));
            first.push(timed(&mut early));
        }
    }
    let quiet = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        let quarter = &times[..times.len() / 4];
        quarter.iter().sum::<Duration>().as_secs_f64()
    };
    let (first, second) = (quiet(&mut first), quiet(&mut second));
    first.max(second) / first.min(second)
}

/// Returns the smallest of a few measurements, because a busy machine may disturb an entire measurement. Stops at
/// the first measurement without a difference; a real difference shows up in every measurement.
fn least(measure: impl Fn() -> f64) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..8 {
        least = measure().min(least);
        if least < ALIKE {
            break;
        }
    }
    least
}

/// Checks that two comparisons take the same time. Each measurement also times a third comparison, which stops
/// early, to show that it can detect a difference. A busy machine can spoil single measurements, so several are
/// made.
fn alike(measure: impl Fn() -> (f64, f64)) -> Result<(), String> {
    let mut all = Vec::new();
    for _ in 0..12 {
        let (alike, differs) = measure();
        if differs > 2.0 * ALIKE && alike < ALIKE {
            return Ok(());
        }
        all.push(format!("{alike:.2} times as long, and what stops early {differs:.2} times as short"));
    }
    Err(all.join("; "))
}

fn batch(mut compare: impl FnMut() -> bool) {
    for _ in 0..BATCH {
        black_box(compare());
    }
}

#[test]
fn a_difference_in_the_first_byte_takes_as_long_as_one_in_the_last() {
    let digests = Digests::new().unwrap();
    let secret = digests.of(b"secret");
    let (mut early, mut late) = (secret, secret);
    early.flip(0);
    late.flip(31);
    let compares = |other: Digest| {
        let (secret, other) = (black_box(secret), black_box(other));
        move || batch(|| black_box(&secret).same(black_box(&other)))
    };
    let alike = least(|| ratio(ROUNDS, compares(early), compares(late)));
    assert!(alike < ALIKE, "one takes {alike:.2} times as long");
    let same = least(|| ratio(ROUNDS, compares(secret), compares(early)));
    assert!(same < ALIKE, "the right one takes {same:.2} times as long or as short");
}

#[test]
fn a_token_that_is_nearly_right_takes_as_long_as_one_that_is_not() {
    let digests = Digests::new().unwrap();
    let right = "a-token-of-a-usual-length-0123456789abcdef-0123456789abcdef".repeat(8);
    let (mut early, mut late) = (right.clone(), right.clone());
    early.replace_range(..1, "b");
    late.replace_range(right.len() - 1.., "0");
    let expected = digests.of(right.as_bytes());
    let compares = |token: &str| {
        let token = token.to_owned();
        let (digests, expected) = (&digests, &expected);
        move || batch(|| expected.same(&digests.of(black_box(token.as_bytes()))))
    };
    let stops = |token: &str| {
        let (token, right) = (token.to_owned(), right.clone());
        move || batch(|| black_box(token.bytes()).zip(black_box(right.bytes())).all(|(a, b)| a == b))
    };
    let measured = alike(|| {
        let alike = ratio(ROUNDS, compares(&early), compares(&late));
        (alike, ratio(ROUNDS, stops(&early), stops(&late)))
    });
    assert_eq!(measured, Ok(()));
}

#[test]
fn a_name_that_nobody_has_takes_as_long_as_a_wrong_password() {
    let config = config(&format!("{{ users: {{ ann: '{}' }} }}", hash("right")));
    let users = Users::new(&config.users).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tries = |user: &'static str| {
        let (users, runtime) = (&users, &runtime);
        move || {
            runtime.block_on(async {
                let basic = Basic { user: user.to_owned(), password: "wrong".into() };
                let turn = users.turns.take(None).await.unwrap();
                assert!(users.check(basic, turn).await.is_err());
            });
        }
    };
    // Without any user there is nothing to compare with, and the measurement must detect that.
    let empty = Users::new(&config::Auth::default().users).unwrap();
    let checks_nothing = || {
        runtime.block_on(async {
            let basic = Basic { user: "bob".to_owned(), password: "wrong".into() };
            let turn = empty.turns.take(None).await.unwrap();
            assert!(empty.check(basic, turn).await.is_err());
        });
    };
    let measured =
        alike(|| (ratio(100, tries("ann"), tries("bob")), ratio(100, tries("ann"), checks_nothing)));
    assert_eq!(measured, Ok(()));
}
