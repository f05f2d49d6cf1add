//! What a server offers, kept. It must not know who sees it.

pub mod offers;

pub use offers::{OfferCell, Offers};
