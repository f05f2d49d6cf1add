//! The context of a trace in a request to an upstream, for traced requests: the gateway's own span takes the place of the
//! client's. This module must not know which requests are traced.

use proto::json::{Span, Splice};
use proto::mcp::meta;
use proto::rpc::{Frame, Params};

/// The length of a `traceparent`.
const LENGTH: usize = 55;

const START: &[u8] = b"{\"_meta\":{\"traceparent\":\"";
const END: &[u8] = b"\"}}";

/// The length of params that contain nothing but the context.
const PARAMS: usize = START.len() + LENGTH + END.len();

/// The text of a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent([u8; LENGTH]);

impl TraceParent {
    /// The text.
    pub fn as_bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

/// The context that a request carries to its upstream.
#[derive(Debug, Clone)]
pub struct TraceHop {
    /// Params that contain nothing but the context.
    params: [u8; PARAMS],
    /// The member `_meta` of these params, for params that contain other members: with a comma instead of the last brace.
    member: [u8; PARAMS - 1],
    /// True if the client's `baggage` is not forwarded.
    drops_baggage: bool,
}

impl TraceHop {
    /// Creates the context with this `traceparent`. With `drops_baggage`, the request loses the client's `baggage`.
    pub fn new(traceparent: &[u8; LENGTH], drops_baggage: bool) -> Self {
        let mut params = [0; PARAMS];
        params[..START.len()].copy_from_slice(START);
        params[START.len()..START.len() + LENGTH].copy_from_slice(traceparent);
        params[START.len() + LENGTH..].copy_from_slice(END);
        let mut member = [b','; PARAMS - 1];
        member[..PARAMS - 2].copy_from_slice(&params[1..PARAMS - 1]);
        Self { params, member, drops_baggage }
    }

    /// The `traceparent`.
    pub fn traceparent(&self) -> TraceParent {
        let mut text = [0; LENGTH];
        text.copy_from_slice(&self.params[START.len()..START.len() + LENGTH]);
        TraceParent(text)
    }

    /// The `traceparent` as a JSON string.
    fn value(&self) -> &[u8] {
        &self.params[START.len() - 1..=START.len() + LENGTH]
    }

    /// Writes the context into a request.
    pub(super) fn write<'a>(&'a self, frame: &'a Frame, splice: &mut Splice<'a>) {
        match frame.params() {
            // Nearly every request has params and no `_meta`, so the member is inserted without a search for another one.
            Some(Params { members, meta: None }) => {
                let start = members.span().start() + 1;
                let comma = usize::from(!members.is_empty());
                splice.replace(Span::new(start, start), &self.member[..PARAMS - 2 + comma])
            }
            None => splice.set(frame.members(), b"params", &self.params),
            Some(Params { meta: Some(members), .. }) => {
                if self.drops_baggage {
                    splice.remove(members, meta::BAGGAGE.as_bytes());
                }
                splice.set(members, meta::TRACEPARENT.as_bytes(), self.value())
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proto::rpc::FrameLimits;

    use super::*;

    const OWN: &[u8; LENGTH] = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn written(text: &'static str, drops_baggage: bool) -> String {
        let frame = Frame::parse(text.into(), FrameLimits::default()).unwrap();
        let hop = TraceHop::new(OWN, drops_baggage);
        let mut splice = Splice::new(frame.text());
        hop.write(&frame, &mut splice);
        let text = String::from_utf8(splice.finish().to_vec()).unwrap();
        let read = Frame::parse(text.clone().into(), FrameLimits::default()).unwrap();
        let span = read.meta(meta::TRACEPARENT).unwrap().unwrap();
        let own = std::str::from_utf8(OWN).unwrap();
        assert_eq!(hop.traceparent().as_bytes(), OWN);
        assert_eq!(read.string(span).unwrap(), own);
        text.replace(own, "OWN")
    }

    #[test]
    fn a_request_carries_the_own_context_wherever_it_had_another_or_none() {
        for (before, after) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
                r#"{"params":{"_meta":{"traceparent":"OWN"}},"jsonrpc":"2.0","id":1,"method":"a"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"traceparent":"OWN"}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"b": 1}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"traceparent":"OWN"},"b": 1}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"c":1}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"traceparent":"OWN","c":1}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"tracestate":"x=1","traceparent":"other","baggage":"d=e"}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"tracestate":"x=1","traceparent":"OWN","baggage":"d=e"}}}"#,
            ),
        ] {
            assert_eq!(written(before, false), after);
        }
    }

    #[test]
    fn baggage_can_stay_behind() {
        let before = r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"baggage":"d=e"}}}"#;
        let after = r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"traceparent":"OWN"}}}"#;
        assert_eq!(written(before, true), after);
    }
}
