//! Introductions and envelopes between eras. It must not know what a result holds.
