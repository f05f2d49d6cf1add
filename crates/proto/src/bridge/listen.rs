//! Notices of changes between eras that subscribe in a session and eras that ask for a stream.
