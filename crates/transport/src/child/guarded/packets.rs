//! An async socket for packets. This module must not know what a packet means.

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    os::unix::net::UnixDatagram as StdSocket,
};

use rustix::net::{Shutdown, shutdown};
use tokio::{io::Interest, net::UnixDatagram};

use super::super::guardian::{message::Frame, socket};

/// One end of [`socket::pair`]. The inner type is intended for datagram sockets; packets are sent and received only
/// by the functions of [`socket`].
pub(super) struct PacketSocket(UnixDatagram);

impl PacketSocket {
    /// Registers the socket with the calling runtime.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        UnixDatagram::from_std(StdSocket::from(socket)).map(Self)
    }

    /// Returns the next packet; `None` if the other end is gone or sends something that is not a packet. It is safe to
    /// drop the future and call this function again.
    pub(super) async fn receive(&self) -> Option<Frame> {
        loop {
            self.0.readable().await.ok()?;
            match self.0.try_io(Interest::READABLE, || socket::receive(&self.0)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return Some(received.ok()??.frame),
            }
        }
    }

    /// Sends a packet, with at most five descriptors, as soon as the socket accepts it.
    ///
    /// # Errors
    /// Fails if the other end is gone.
    pub(super) async fn send(&self, frame: &Frame, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        loop {
            self.0.writable().await?;
            match self.0.try_io(Interest::WRITABLE, || socket::send(&self.0, frame, descriptors)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return sent,
            }
        }
    }

    /// Sends a packet if the socket accepts it now.
    ///
    /// # Errors
    /// Fails if the socket is full, or if the other end is gone.
    pub(super) fn send_now(&self, frame: &Frame) -> io::Result<()> {
        socket::send(&self.0, frame, &[])
    }

    /// Signals to the other end that nothing more will follow.
    pub(super) fn close(&self) {
        // If the other end is gone, it needs no signal.
        let _ = shutdown(&self.0, Shutdown::Write);
    }
}
