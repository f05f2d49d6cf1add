//! The data of messages between eras. It must not know who asked, or why.
