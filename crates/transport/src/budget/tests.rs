//! Tests of buffers that wait for one another, and of reservations that grow, are kept and are dropped in random
//! order.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const MIB: usize = 1 << 20;

fn budget() -> &'static ByteBudget {
    let budget = Box::leak(Box::new(ByteBudget::unlimited()));
    budget.set_total(LEAST);
    budget
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(1)
}

#[tokio::test(start_paused = true)]
async fn small_buffers_are_not_counted() {
    let budget = budget();
    let mut small = budget.reservation(Part::Requests);
    small.grow(FREE, soon()).await.unwrap();
    assert_eq!(budget.used(Part::Requests), 0);
    let bytes = small.keep(Bytes::from_static(b"x"));
    assert_eq!(bytes, "x");
}

#[tokio::test(start_paused = true)]
async fn bytes_are_given_back_with_the_last_slice() {
    let budget = budget();
    let mut one = budget.reservation(Part::Answers);
    one.grow(MIB, soon()).await.unwrap();
    assert_eq!(budget.used(Part::Answers), MIB);
    let bytes = one.keep(Bytes::from(vec![7; MIB]));
    let slice = bytes.slice(5..10);
    drop(bytes);
    assert_eq!(budget.used(Part::Answers), MIB);
    assert_eq!(slice[..], [7; 5]);
    drop(slice);
    assert_eq!(budget.used(Part::Answers), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_without_room_waits_and_is_refused() {
    let budget = budget();
    let mut first = budget.reservation(Part::Requests);
    first.grow(LEAST / 10 * 4 / FREE * FREE, soon()).await.unwrap();
    let mut second = budget.reservation(Part::Requests);
    assert_eq!(second.grow(MIB, soon()).await, Err(OutOfMemory));
    let waits = async { second.grow(MIB, soon()).await };
    let gives = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(first);
    };
    assert_eq!(tokio::join!(waits, gives).0, Ok(()));
    drop(second);
    assert_eq!(budget.used(Part::Requests), 0);
}

#[tokio::test(start_paused = true)]
async fn answers_that_hold_pieces_of_the_whole_end_one_after_the_other() {
    let budget = budget();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..30 {
        all.spawn(async move {
            let mut answer = budget.reservation(Part::Answers);
            for mib in 1..=50 {
                answer.grow(mib * MIB, Instant::now() + Duration::from_mins(10)).await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            drop(answer.keep(Bytes::from_static(b"an answer")));
        });
    }
    while let Some(ended) = all.join_next().await {
        ended.unwrap();
    }
    assert_eq!(budget.used(Part::Answers), 0);
}

#[tokio::test(start_paused = true)]
async fn what_exists_already_is_counted_beyond_the_limit_and_closes_the_lane() {
    let budget = budget();
    let little = budget.count(Part::Answers, Bytes::from(vec![0; LEAST / 5]));
    let mut lane = budget.reservation(Part::Answers);
    assert_eq!(lane.grow(LEAST, soon()).await, Ok(()), "one goes on in the lane");
    let translated = budget.count(Part::Answers, Bytes::from(vec![0; 2 * LEAST]));
    assert_eq!(budget.used(Part::Answers), 2 * LEAST + LEAST / 5);
    drop(lane);
    let mut next = budget.reservation(Part::Answers);
    assert_eq!(next.grow(MIB, soon()).await, Err(OutOfMemory), "the lane waits for what is not delivered");
    let waits = async { next.grow(LEAST, soon()).await };
    let delivers = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(translated);
    };
    assert_eq!(tokio::join!(waits, delivers).0, Ok(()));
    drop((little, next));
    assert_eq!(budget.used(Part::Answers), 0);
}

/// One step of the test, which concerns one buffer.
#[derive(Debug, Clone)]
enum Step {
    Grow(usize, usize),
    /// The buffer waits, and gives up before it is served.
    GiveUp(usize, usize),
    Drop(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..6usize, 0..60 * MIB).prop_map(|(which, bytes)| Step::Grow(which, bytes)),
        (0..6usize, 0..60 * MIB).prop_map(|(which, bytes)| Step::GiveUp(which, bytes)),
        (0..6usize).prop_map(Step::Drop),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Tests that counts return to zero, that only the lane exceeds the limit, and that no bytes stay counted for a
    /// buffer that gives up.
    #[test]
    fn counts_return_to_zero(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let budget = budget();
            let mut buffers: Vec<_> = (0..6).map(|_| budget.reservation(Part::Answers)).collect();
            for step in steps {
                match step {
                    Step::Grow(which, bytes) => {
                        let covered = buffers[which].grow(bytes, soon()).await.is_ok();
                        prop_assert_eq!(covered, buffers[which].covers(bytes));
                    }
                    Step::GiveUp(which, bytes) => {
                        let never = std::future::ready(());
                        tokio::select! { biased; _ = buffers[which].grow(bytes, soon()) => {}, () = never => {} }
                    }
                    Step::Drop(which) => buffers[which] = budget.reservation(Part::Answers),
                }
                let held: usize = buffers.iter().map(|one| one.held).sum();
                prop_assert_eq!(budget.used(Part::Answers), held);
                prop_assert!(held <= LEAST / 10 * 5);
                prop_assert!(buffers.iter().filter(|one| one.in_lane).count() <= 1);
            }
            drop(buffers);
            prop_assert_eq!(budget.used(Part::Answers), 0);
            let mut last = budget.reservation(Part::Answers);
            prop_assert!(last.grow(LEAST, soon()).await.is_ok(), "the lane is free again");
            Ok(())
        })?;
    }
}
