//! The room of a request's headers, used again for the headers of an answer: making it anew was a twentieth of what a call
//! costs beyond its bytes. One map circulates on each thread: with a request, here, with an answer, and on with the next
//! request of that connection. It must not know what headers say.

use std::cell::Cell;

use http::HeaderMap;

/// A map with more room than this goes back to the allocator, so that nobody's long headers are kept room for.
const MOST: usize = 64;

thread_local! {
    static SPARE: Cell<Option<HeaderMap>> = const { Cell::new(None) };
}

/// Keeps the room of headers that nobody looks at any more.
pub(super) fn give(mut headers: HeaderMap) {
    if headers.capacity() <= MOST {
        headers.clear();
        SPARE.set(Some(headers));
    }
}

/// No headers, with room for some.
pub(super) fn take() -> HeaderMap {
    SPARE.take().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{AUTHORIZATION, HeaderValue};

    #[test]
    fn room_is_used_again_and_what_was_in_it_is_gone() {
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
        let room = headers.capacity();
        give(headers);
        let again = take();
        assert_eq!((again.len(), again.capacity()), (0, room));
        assert_eq!(take().capacity(), 0, "there is one on a thread");
        give(HeaderMap::with_capacity(1000));
        assert_eq!(take().capacity(), 0, "what is large is not kept");
    }
}
