//! The port to what seals states and names that go through clients. It must not know what they say.

/// What an exchange needs of the process around it: authenticated encryption with the gateway's key, and fresh ids.
pub trait Sealer {
    /// Seals `plain` for whoever shows the same `bound` again; the text is safe in JSON and headers.
    fn seal(&self, plain: &[u8], bound: &[u8]) -> String;

    /// As [`Sealer::seal`], but the same text each time for the same, so that it can serve as a name.
    fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
        self.seal(plain, bound)
    }

    /// Opens what [`Sealer::seal`] sealed; `None` for anything else.
    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>>;

    /// A number that nothing else in the process has: the id of another request to an upstream.
    fn fresh_key(&self) -> u64;
}
