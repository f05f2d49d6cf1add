//! A socket for packets in a runtime. It must not know what a packet says.

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    os::unix::net::UnixDatagram as StdSocket,
};

use rustix::net::{Shutdown, shutdown};
use tokio::{io::Interest, net::UnixDatagram};

use super::super::guardian::{message::Frame, socket};

/// One end of [`socket::pair`]. The type that it is made of knows packets without order; the calls on it are those of `socket`.
pub(super) struct PacketSocket(UnixDatagram);

impl PacketSocket {
    /// Makes the socket part of the calling runtime.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        UnixDatagram::from_std(StdSocket::from(socket)).map(Self)
    }

    /// The next packet; `None` when the other end is gone or sends what is no packet. Safe to drop and call again.
    pub(super) async fn receive(&self) -> Option<Frame> {
        loop {
            self.0.readable().await.ok()?;
            match self.0.try_io(Interest::READABLE, || socket::receive(&self.0)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return Some(received.ok()??.frame),
            }
        }
    }

    /// Sends a packet, with at most five descriptors, as soon as there is room.
    ///
    /// # Errors
    /// The other end is gone.
    pub(super) async fn send(&self, frame: &Frame, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        loop {
            self.0.writable().await?;
            match self.0.try_io(Interest::WRITABLE, || socket::send(&self.0, frame, descriptors)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return sent,
            }
        }
    }

    /// Sends a packet if there is room now.
    ///
    /// # Errors
    /// There is none, or the other end is gone.
    pub(super) fn send_now(&self, frame: &Frame) -> io::Result<()> {
        socket::send(&self.0, frame, &[])
    }

    /// Tells the other end that nothing will come any more.
    pub(super) fn close(&self) {
        // An end that is gone knows.
        let _ = shutdown(&self.0, Shutdown::Write);
    }
}
