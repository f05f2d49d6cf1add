//! A checksum that exposes mistyped keys: CRC-32, and numbers in base 62.

/// The digits of base 62.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The CRC-32 of ISO 3309, as in gzip and Ethernet. It detects every change within 32 bits: any mistyped character,
/// and any two swapped neighbors.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xEDB8_8320;
            }
        }
    }
    !crc
}

/// A number of any size, most significant byte first, in `N` digits of base 62; excess leading digits are cut off.
pub(super) fn base62<const N: usize>(number: &[u8]) -> [u8; N] {
    let mut rest = number.to_vec();
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u32;
        for byte in &mut rest {
            let value = remainder << 8 | u32::from(*byte);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a remainder is below 62, so this is below 256"
            )]
            {
                *byte = (value / 62) as u8;
            }
            remainder = value % 62;
        }
        *digit = DIGITS[remainder as usize];
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        // The check value that catalogues of CRC algorithms list for this one.
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn numbers_in_base_62() {
        assert_eq!(&base62::<3>(&[0]), b"000");
        assert_eq!(&base62::<3>(&[61]), b"00z");
        assert_eq!(&base62::<3>(&[0, 62]), b"010");
        assert_eq!(&base62::<6>(&u32::MAX.to_be_bytes()), b"4gfFC3");
        // 2^256 - 1 has 43 digits.
        assert_ne!(base62::<43>(&[255; 32])[0], b'0');
        assert_eq!(base62::<44>(&[255; 32])[0], b'0');
    }
}
