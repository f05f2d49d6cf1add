//! Packets over a socket, with descriptors attached. It must not know what a packet means.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::message::{FRAME, Frame};

/// The maximum number of descriptors in a packet.
const DESCRIPTORS: usize = 5;

/// Creates two connected ends of a socket for packets. They are non-blocking, and executed programs do not inherit
/// them.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends a packet, with at most five descriptors.
///
/// # Errors
/// Returns `WouldBlock` while the socket is full; `BrokenPipe` or a similar error if the other end is gone.
pub(crate) fn send(socket: impl AsFd, frame: &Frame, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    loop {
        match sendmsg(&socket, &[IoSlice::new(frame)], &mut beside, flags) {
            Err(rustix::io::Errno::INTR) => {}
            sent => return sent.map(drop).map_err(Into::into),
        }
    }
}

/// A packet with its descriptors.
pub(crate) struct Packet {
    pub(crate) frame: Frame,
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// Receives a packet; `None` if the other end is gone.
///
/// # Errors
/// Returns `WouldBlock` while there is no packet; `InvalidData` for a packet with another length or with more
/// descriptors.
pub(crate) fn receive(socket: impl AsFd) -> io::Result<Option<Packet>> {
    let mut frame = [0; FRAME];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(&mut frame)], &mut beside, flags) {
            Err(rustix::io::Errno::INTR) => {}
            // The other process was killed before it had read all packets.
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            received => break received?,
        }
    };
    let descriptors = beside
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if received.bytes == 0 {
        return Ok(None);
    }
    if received.bytes != FRAME || received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(Packet { frame, descriptors }))
}

#[cfg(test)]
mod tests {
    use rustix::io::{FdFlags, fcntl_getfd};

    use super::*;

    #[test]
    fn packets_keep_their_borders_and_their_descriptors() {
        let (one, other) = pair().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        send(&one, &[1; FRAME], &[writer.as_fd(), reader.as_fd()]).unwrap();
        send(&one, &[2; FRAME], &[]).unwrap();
        let first = receive(&other).unwrap().unwrap();
        assert_eq!((first.frame, first.descriptors.len()), ([1; FRAME], 2));
        for descriptor in &first.descriptors {
            assert!(fcntl_getfd(descriptor).unwrap().contains(FdFlags::CLOEXEC));
        }
        let second = receive(&other).unwrap().unwrap();
        assert_eq!((second.frame, second.descriptors.len()), ([2; FRAME], 0));
        assert_eq!(receive(&other).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(one);
        assert!(receive(&other).unwrap().is_none());
        assert!(send(&other, &[3; FRAME], &[]).is_err());
    }

    #[test]
    fn a_packet_of_another_length_is_refused() {
        let (one, other) = pair().unwrap();
        for length in [1, FRAME - 1, FRAME + 1] {
            rustix::net::send(&one, &vec![1; length], SendFlags::NOSIGNAL).unwrap();
            assert_eq!(receive(&other).err().unwrap().kind(), io::ErrorKind::InvalidData, "{length} bytes");
        }
    }
}
