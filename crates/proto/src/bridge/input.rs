//! Questions while a request is worked on, between eras that ask by requests and eras that ask by results.
