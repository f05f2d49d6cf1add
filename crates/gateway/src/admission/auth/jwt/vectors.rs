//! Test vectors: the examples of RFC 7515 (A.2, A.3) and RFC 8037 (A.4).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use config::Algorithm;
use serde_json::{Value, json};

use super::keys::{KeyMatch, KeySet};

const JOE: &str =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

/// Checks that a key accepts its signature, and rejects an altered one.
fn verifies(key: &Value, algorithm: Algorithm, signed: &str, signature: &str) {
    let set = KeySet::read(json!({ "keys": [key] }).to_string().as_bytes(), &[algorithm]).unwrap();
    let KeyMatch::Key(key) = set.find(None, algorithm) else { panic!("no key") };
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
    assert!(key.verify_sig(signed.as_bytes(), &signature).is_ok(), "{algorithm:?}");
    assert!(key.verify_sig(format!("{signed}x").as_bytes(), &signature).is_err());
    for bit in 0..8 * signature.len() {
        let mut other = signature.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(key.verify_sig(signed.as_bytes(), &other).is_err(), "{algorithm:?}: bit {bit}");
    }
    assert!(key.verify_sig(signed.as_bytes(), &signature[1..]).is_err());
    assert!(key.verify_sig(signed.as_bytes(), &[]).is_err());
}

#[test]
fn rsa_of_rfc_7515() {
    let key = json!({
        "kty": "RSA",
        "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
        "e": "AQAB",
    });
    let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    verifies(&key, Algorithm::Rs256, &format!("eyJhbGciOiJSUzI1NiJ9.{JOE}"), signature);
}

#[test]
fn a_curve_of_rfc_7515() {
    let key = json!({
        "kty": "EC",
        "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    });
    let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    verifies(&key, Algorithm::Es256, &format!("eyJhbGciOiJFUzI1NiJ9.{JOE}"), signature);
}

#[test]
fn edwards_of_rfc_8037() {
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
    let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    verifies(&key, Algorithm::EdDsa, signed, signature);
}

#[test]
fn keys_that_are_none_are_left_out() {
    let curve = json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    });
    let mut off = curve.clone();
    off["y"] = curve["x"].clone();
    let mut short = curve.clone();
    short["x"] = json!("AAAA");
    let mut other = curve.clone();
    other["crv"] = json!("P-384");
    let mut unsigned = curve.clone();
    unsigned["alg"] = json!("none");
    let mut even = json!({ "kty": "RSA", "e": "AQAB" });
    even["n"] = json!(BASE64_URL_SAFE_NO_PAD.encode([0xfe; 256]));
    let mut weak = even.clone();
    weak["n"] = json!(BASE64_URL_SAFE_NO_PAD.encode([0xff; 255]));
    let mut huge = even.clone();
    huge["n"] = json!(BASE64_URL_SAFE_NO_PAD.encode([0xff; 1025]));
    let mut one = json!({ "kty": "RSA", "n": BASE64_URL_SAFE_NO_PAD.encode([0xff; 256]) });
    one["e"] = json!("AQ");
    let all: Vec<Algorithm> = Algorithm::ALL.iter().map(|(_, algorithm)| *algorithm).collect();
    let set = json!({ "keys": [off, short, other, unsigned, weak, huge, 7, null, {}, [], { "kty": 1 }] });
    assert!(KeySet::read(set.to_string().as_bytes(), &all).unwrap().is_empty());
    // Numbers that are invalid for RSA are rejected, or verify nothing.
    for odd in [one, even] {
        let set = KeySet::read(json!({ "keys": [odd] }).to_string().as_bytes(), &[Algorithm::Rs256]).unwrap();
        let verifies = |signature: &[u8]| match set.find(None, Algorithm::Rs256) {
            KeyMatch::Key(key) => key.verify_sig(b"x", signature).is_ok(),
            _ => false,
        };
        assert!(!verifies(&[0; 256]) && !verifies(&[1; 256]));
    }
    for bad in ["", "[]", "{}", "{\"keys\":{}}", "{\"keys\":7}", "nonsense"] {
        assert!(KeySet::read(bad.as_bytes(), &all).is_none(), "{bad}");
    }
}
