use bytes::Bytes;
use http_body::Body as _;
use tokio::time::{Duration, Instant};

use crate::budget::Part;
use crate::net::collect::CollectError;
use crate::net::{Body, BodyError, collect};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

#[tokio::test]
async fn one_piece_is_not_copied() {
    let piece = Bytes::from(vec![b'x'; 5000]);
    let got = collect(Body::Full(piece.clone()), Part::Answers, 5000, soon()).await.unwrap();
    assert_eq!(got.as_ptr(), piece.as_ptr());
}

#[tokio::test]
async fn a_rope_says_its_length_and_keeps_its_order() {
    let rope = Body::rope(["ab", "", "cd", "e"].map(Bytes::from));
    assert_eq!(rope.size_hint().exact(), Some(5));
    assert_eq!(collect(rope, Part::Answers, 5, soon()).await.unwrap(), "abcde");
    assert!(Body::rope([]).is_end_stream());
}

#[tokio::test]
async fn the_cap_holds_for_declared_and_for_undeclared_lengths() {
    let declared = collect(Body::from("123456"), Part::Answers, 5, soon()).await;
    assert!(matches!(declared, Err(CollectError::TooLarge { cap: 5 })));
    let (sender, body) = Body::channel(2);
    sender.try_send(Bytes::from_static(b"123")).unwrap();
    sender.try_send(Bytes::from_static(b"456")).unwrap();
    let undeclared = collect(body, Part::Answers, 5, soon()).await;
    assert!(matches!(undeclared, Err(CollectError::TooLarge { cap: 5 })));
    assert!(sender.is_gone(), "a refused body's writer is told");
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_body_ends_at_the_deadline() {
    let (sender, body) = Body::channel(2);
    sender.try_send(Bytes::from_static(b"123")).unwrap();
    let error = collect(body, Part::Answers, 5, soon()).await.unwrap_err();
    assert!(matches!(error, CollectError::TimedOut { got: 3 }), "{error}");
    sender.gone().await;
}

#[tokio::test]
async fn an_aborted_body_is_not_taken_for_whole() {
    let (sender, body) = Body::channel(4);
    sender.send(Bytes::from_static(b"half")).await.unwrap();
    sender.abort("upstream went away").await;
    let error = collect(body, Part::Answers, 100, soon()).await.unwrap_err();
    assert!(matches!(error, CollectError::Broken(BodyError::Aborted("upstream went away"))));
}

#[tokio::test]
async fn empty_pieces_do_not_end_a_stream() {
    let (sender, body) = Body::channel(4);
    for piece in ["", "a", "", "b"] {
        sender.try_send(Bytes::from_static(piece.as_bytes())).unwrap();
    }
    drop(sender);
    assert_eq!(collect(body, Part::Answers, 100, soon()).await.unwrap(), "ab");
}
