//! The port for sealing states and names that pass through clients. This module must not know their meaning.

/// The services that an exchange needs from the process: authenticated encryption with the gateway's key, and fresh
/// ids.
pub trait Sealer {
    /// Seals `plain`; opening the result requires the same `bound`. The result is safe in JSON and in headers.
    fn seal(&self, plain: &[u8], bound: &[u8]) -> String;

    /// Seals `plain` like [`Sealer::seal`], but deterministically, so the text can serve as a name.
    fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
        self.seal(plain, bound)
    }

    /// Opens a text from [`Sealer::seal`]; `None` for anything else.
    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>>;

    /// A number that is unique in the process: the id of a new request to an upstream.
    fn fresh_key(&self) -> u64;

    /// The number of this process. Each sealed text that refers to something in the process's memory contains this number,
    /// because the sealing key outlives the process, and the next process numbers its state from the beginning again.
    fn epoch(&self) -> u64;
}
