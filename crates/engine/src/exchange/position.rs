//! The position of a request that waits for its client: where its server's messages continue. It travels in the client's sealed
//! state, so that another process can continue the request if the process with the connection has ended. This module must not know
//! connections.

use bytes::Bytes;
use proto::bridge::input::OpenQuestion;
use proto::era::{self, Asks, Era};
use proto::mcp::Method;
use proto::rpc::Id;

/// The form of the position in a state. Positions in another form are ignored.
const FORM: u8 = 1;

/// The maximum length of a position, in bytes. Longer ones are left out, because the client sends the state with its request.
const LONGEST: usize = 1024;

/// The methods of questions, by their numbers in a state.
const METHODS: [Method; 3] = [Method::Elicit, Method::CreateMessage, Method::RootsList];

/// The place in a server's event stream after which the messages for a request follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPosition {
    /// The version in use with the server.
    pub era: &'static Era,
    /// A digest of the server's address.
    pub address: [u8; 8],
    /// The id of the server's session, if the server has sessions.
    pub session: Option<Bytes>,
    /// The id of the last event.
    pub event: Bytes,
}

/// A request that any process can continue: it waits for answers to questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumableRequest {
    /// The request's id at its server.
    pub key: u64,
    /// The number of times that the client was asked.
    pub round: u32,
    /// The place from which its messages continue.
    pub position: StreamPosition,
    /// The questions that the client has to answer.
    pub questions: Vec<OpenQuestion>,
}

impl ResumableRequest {
    /// Appends the request to a state, unless it would be too long.
    pub(super) fn write(&self, state: &mut Vec<u8>) {
        let StreamPosition { era, address, session, event } = &self.position;
        let Some(era) = era::number(era) else { return };
        let mut out = vec![FORM];
        out.extend_from_slice(&self.key.to_be_bytes());
        out.push(era);
        out.extend_from_slice(address);
        put(&mut out, session.as_deref().unwrap_or_default());
        put(&mut out, event);
        for OpenQuestion { number, id, method } in &self.questions {
            let Some(place) = METHODS.iter().position(|known| known == method) else { return };
            out.extend_from_slice(&number.to_be_bytes());
            out.push(u8::try_from(place).unwrap_or(u8::MAX));
            put(&mut out, id.json());
        }
        if out.len() <= LONGEST {
            state.extend_from_slice(&out);
        }
    }

    /// Reads a request; `None` for an empty text, and for any other form.
    pub(super) fn read(mut text: &[u8], round: u32) -> Option<Self> {
        let text = &mut text;
        let ([FORM], key, [era]) = (take(text)?, take(text)?, take(text)?) else { return None };
        let era = era::by_number(era).filter(|era| era.resumable && era.asks == Asks::Requests)?;
        let (address, session, event) = (take(text)?, get(text)?, get(text)?);
        let session = (!session.is_empty()).then_some(session);
        let mut questions = Vec::new();
        while !text.is_empty() {
            let (number, [method]) = (take(text)?, take(text)?);
            let (method, id) = (*METHODS.get(usize::from(method))?, Id::from_json(get(text)?).ok()?);
            questions.push(OpenQuestion { number: u32::from_be_bytes(number), id, method });
        }
        let position = StreamPosition { era, address, session, event };
        Some(Self { key: u64::from_be_bytes(key), round, position, questions })
    }
}

/// Appends a text with its length.
fn put(out: &mut Vec<u8>, text: &[u8]) {
    // A text that is longer makes the whole position too long.
    out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(text);
}

fn take<const N: usize>(text: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = text.split_first_chunk()?;
    *text = rest;
    Some(*taken)
}

fn get(text: &mut &[u8]) -> Option<Bytes> {
    let length = usize::from(u16::from_be_bytes(take(text)?));
    let (taken, rest) = text.split_at_checked(length)?;
    *text = rest;
    Some(Bytes::copy_from_slice(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(session: Option<&'static str>, event: Bytes) -> ResumableRequest {
        let question = |number, id: &'static str, method| OpenQuestion {
            number,
            id: Id::from_json(Bytes::from_static(id.as_bytes())).unwrap(),
            method,
        };
        ResumableRequest {
            key: 7,
            round: 3,
            position: StreamPosition {
                era: era::newest_handshake(),
                address: [9; 8],
                session: session.map(|id| Bytes::from_static(id.as_bytes())),
                event,
            },
            questions: vec![question(1, "\"a\"", Method::Elicit), question(4, "-5", Method::RootsList)],
        }
    }

    fn written(request: &ResumableRequest) -> Vec<u8> {
        let mut state = Vec::new();
        request.write(&mut state);
        state
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        for session in [None, Some("session-1")] {
            let request = request(session, Bytes::from_static(b"event-7"));
            let state = written(&request);
            assert_eq!(ResumableRequest::read(&state, 3), Some(request));
            assert!(state.len() < 80, "{}", state.len());
            for end in 0..state.len() {
                // A cut between two questions is a shorter request; the seal prevents it.
                let read = ResumableRequest::read(&state[..end], 3);
                assert!(read.is_none_or(|read| read.questions.len() < 2), "{end}");
            }
        }
    }

    #[test]
    fn long_positions_are_left_out_and_other_forms_are_ignored() {
        assert_eq!(written(&request(None, Bytes::from(vec![b'x'; LONGEST]))), b"");
        assert_eq!(written(&request(None, Bytes::from(vec![b'x'; 70_000]))), b"");
        let mut state = written(&request(None, Bytes::from_static(b"1")));
        state[0] = 2;
        assert_eq!(ResumableRequest::read(&state, 3), None);
        let mut other = request(None, Bytes::from_static(b"1"));
        other.position.era = era::newest_stateless();
        assert_eq!(ResumableRequest::read(&written(&other), 3), None, "a version without event ids");
    }
}
