//! The supported signature algorithms (RFC 7518, 3.1; RFC 8037), all of them with public keys, and the kind of key
//! that each requires. This module must not know tokens.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, VerificationAlgorithm,
};
use config::Algorithm;

/// The type of key that an algorithm needs.
#[derive(Clone, Copy)]
pub(super) enum KeyType {
    /// RSA with 2 048 to 8 192 bits.
    Rsa(&'static RsaParameters),
    /// A point on this curve, with coordinates of this many bytes.
    Curve(&'static str, usize, &'static dyn VerificationAlgorithm),
    /// Ed25519.
    Edwards(&'static dyn VerificationAlgorithm),
}

/// Returns the type of key that `algorithm` needs.
pub(super) fn kind(algorithm: Algorithm) -> KeyType {
    match algorithm {
        Algorithm::Rs256 => KeyType::Rsa(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => KeyType::Rsa(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => KeyType::Rsa(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => KeyType::Rsa(&RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => KeyType::Rsa(&RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => KeyType::Rsa(&RSA_PSS_2048_8192_SHA512),
        Algorithm::Es256 => KeyType::Curve("P-256", 32, &ECDSA_P256_SHA256_FIXED),
        Algorithm::Es384 => KeyType::Curve("P-384", 48, &ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDsa => KeyType::Edwards(&ED25519),
    }
}
