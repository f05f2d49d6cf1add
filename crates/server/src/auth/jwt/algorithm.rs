//! Signature algorithms (RFC 7518, 3.1; RFC 8037), all of them with a public key: what each needs of a key. It must not
//! know tokens.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, VerificationAlgorithm,
};
use engine::config::Algorithm;

/// What a key must be for an algorithm.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// RSA of 2 048 to 8 192 bits.
    Rsa(&'static RsaParameters),
    /// A point on this curve, with coordinates of so many bytes.
    Curve(&'static str, usize, &'static dyn VerificationAlgorithm),
    /// Ed25519.
    Edwards(&'static dyn VerificationAlgorithm),
}

/// What a key must be for `algorithm`.
pub(super) fn kind(algorithm: Algorithm) -> Kind {
    match algorithm {
        Algorithm::Rs256 => Kind::Rsa(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => Kind::Rsa(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => Kind::Rsa(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => Kind::Rsa(&RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => Kind::Rsa(&RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => Kind::Rsa(&RSA_PSS_2048_8192_SHA512),
        Algorithm::Es256 => Kind::Curve("P-256", 32, &ECDSA_P256_SHA256_FIXED),
        Algorithm::Es384 => Kind::Curve("P-384", 48, &ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDsa => Kind::Edwards(&ED25519),
    }
}
