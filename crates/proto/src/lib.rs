//! The Model Context Protocol on bytes: frames, splices, codecs, eras. Pure.

pub mod codec;
