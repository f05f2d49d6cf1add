//! Resumes the streams of a session: streams of this process, and the standing stream of another one.

use bytes::Bytes;
use engine::session::EventId;
use transport::net::Body;

use super::{BEHIND, STANDING, StreamFault, Streams, Table};

impl Streams {
    /// Reopens a stream after the last event that the client has received.
    pub(crate) fn resume(&self, last: EventId) -> Result<Body, StreamFault> {
        let mut table = self.table.lock();
        if last.epoch != table.epoch {
            return Err(StreamFault::Lost);
        }
        let stream = table.streams.get(&last.stream).ok_or(StreamFault::Gap)?;
        let (next, is_done) = (stream.next, stream.done);
        if table.log.has_gap(last, next) {
            // A client may miss notifications of a call, but not its answer.
            let has_answer = !is_done || table.log.after(last).next().is_some();
            if last.stream == STANDING || last.event >= next || !has_answer {
                return Err(StreamFault::Gap);
            }
            tracing::debug!(
                stream = last.stream,
                "a client resumed a call but missed some of its notifications"
            );
        }
        let missed: Vec<(EventId, Bytes)> = table.log.after(last).collect();
        // The missed events wait for their reader together, however many they are; they are kept in memory anyway.
        let body = table.attach(last.stream, missed.len() + BEHIND);
        let mut are_written = false;
        if let Some(stream) = table.streams.get_mut(&last.stream) {
            for (id, data) in missed {
                stream.write(id, &data);
            }
            are_written = stream.live.is_some();
            if stream.done {
                stream.live = None;
            }
        }
        if are_written {
            table.log.note_fetched(last.stream);
        }
        if last.stream == STANDING {
            table.send_pending();
        }
        Ok(body)
    }

    /// Opens the standing stream as the continuation of another process's standing stream: `missed` are the events there after `last`.
    /// Returns true with it if this process has not sent what followed them; the client then may have missed something.
    pub(crate) fn continue_standing(
        &self,
        last: EventId,
        missed: Vec<(u64, Bytes)>,
        primed: bool,
    ) -> Result<(Body, bool), StreamFault> {
        let mut table = self.table.lock();
        if !table.streams.contains_key(&STANDING) {
            table.make_room(self.max)?;
        }
        let own = table.own_after(last.epoch);
        let behind = missed.len() + own.as_ref().map_or(0, Vec::len) + BEHIND;
        let body = table.attach(STANDING, behind);
        if let Some(stream) = table.streams.get_mut(&STANDING) {
            for (event, data) in missed {
                stream.write(EventId { event, ..last }, &data);
            }
            for (id, data) in own.iter().flatten() {
                stream.write(*id, data);
            }
        }
        let is_new = own.is_none();
        if is_new {
            table.note_continued(last.epoch);
            if primed {
                table.prime(STANDING, None);
            }
        }
        table.send_pending();
        Ok((body, is_new))
    }
}

impl Table {
    /// Returns all events of the standing stream since it continued the standing stream of this epoch; `None` if it did not, or if some
    /// of them are no longer kept. A client that names an event of that epoch has received none of them.
    fn own_after(&self, epoch: u32) -> Option<Vec<(EventId, Bytes)>> {
        let (_, first) = self.continued().filter(|(continued, _)| *continued == epoch)?;
        let next = self.streams.get(&STANDING)?.next;
        let events = self.log.since(0).into_iter().map(|(id, data, _)| (id, data));
        let own: Vec<_> = events.filter(|(id, _)| id.stream == STANDING && id.event >= first).collect();
        own.iter().map(|(id, _)| id.event).eq(first..next).then_some(own)
    }
}
