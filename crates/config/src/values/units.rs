//! Sizes and times as people write them.

use std::time::Duration;

/// The texts that [`parse_bytes`] accepts besides a bare number, as a JSON Schema pattern.
pub(crate) const BYTES_PATTERN: &str = r"^(\d+ ?([KMG]i?B|[KMGkmg]|B)?|.*\$\{.*)$";
/// The texts that [`parse_time`] accepts besides a bare number, as a JSON Schema pattern.
pub(crate) const TIME_PATTERN: &str = r"^(\d+(\.\d+)? ?(ms|s|m|min|h|d)?|.*\$\{.*)$";

/// The texts that [`parse_rate`] accepts, as a JSON Schema pattern.
pub(crate) const RATE_PATTERN: &str = r"^(\d+ ?/ ?(\d+(\.\d+)?)? ?(ms|s|m|min|h|d)|.*\$\{.*)$";

/// A number within a period: `60/1m`, `10/s`.
pub(crate) fn parse_rate(text: &str) -> Option<(u32, Duration)> {
    let (count, period) = text.split_once('/')?;
    let (count, period) = (count.trim(), period.trim());
    let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if !digits(count) || !period.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let period = if digits(period) { parse_time(period) } else { parse_time(&format!("1{period}")) };
    Some((count.parse().ok()?, period?))
}

/// A number of bytes: `65536`, `64KiB`, `64 KB`, `64k`; K, M and G are powers of 1024 in all spellings.
pub(crate) fn parse_bytes(text: &str) -> Option<u64> {
    let (digits, unit) = split_number(text)?;
    let number: u64 = digits.parse().ok()?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// A time: `30`, `1.5` (seconds), `500ms`, `30s`, `2m`, `1h`, `7d`. Fractions of a millisecond are cut off.
pub(crate) fn parse_time(text: &str) -> Option<Duration> {
    let (digits, unit) = split_number(text)?;
    let factor: u64 = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let of_fraction = fraction.parse::<u64>().ok()?.checked_mul(factor)? / scale;
    let millis = whole.parse::<u64>().ok()?.checked_mul(factor)?.checked_add(of_fraction)?;
    Some(Duration::from_millis(millis))
}

fn split_number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((digits, unit.trim_start()))
}

/// A number of bytes in the largest unit that divides it.
pub(crate) fn show_bytes(value: u64) -> String {
    for (factor, unit) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if value >= factor && value.is_multiple_of(factor) {
            return format!("{}{unit}", value / factor);
        }
    }
    format!("{value}B")
}

const DAY: u128 = 86_400_000;

/// A time in the largest unit that divides it; one day is `24h`.
pub(crate) fn show_time(value: Duration) -> String {
    let millis = value.as_millis();
    if millis > DAY && millis.is_multiple_of(DAY) {
        return format!("{}d", millis / DAY);
    }
    for (factor, unit) in [(3_600_000, "h"), (60_000, "m"), (1000, "s")] {
        if millis >= factor && millis.is_multiple_of(factor) {
            return format!("{}{unit}", millis / factor);
        }
    }
    format!("{millis}ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_and_shown() {
        let cases =
            [("0", 0), ("65536", 65_536), ("64KiB", 65_536), ("64 kb", 65_536), ("1g", 1 << 30), ("7B", 7)];
        for (text, wanted) in cases {
            assert_eq!(parse_bytes(text), Some(wanted), "{text}");
        }
        for text in ["", "-1", "1.5M", "4 TiB", "MiB", "99999999999999999999", "18446744073709551615k"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
        assert_eq!(show_bytes(65_536), "64KiB");
        assert_eq!(show_bytes(1000), "1000B");
    }

    #[test]
    fn rates_are_read() {
        let cases =
            [("60/1m", 60, 60_000), ("10/s", 10, 1000), ("5 / 2 h", 5, 7_200_000), ("1/500ms", 1, 500)];
        for (text, count, millis) in cases {
            assert_eq!(parse_rate(text), Some((count, Duration::from_millis(millis))), "{text}");
        }
        for text in ["", "60", "60/", "/m", "60/60", "-1/m", "+1/m", "60/1/m", "60/m1", "1.5/s", "60/year"] {
            assert_eq!(parse_rate(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_read_and_shown() {
        let cases = [
            ("30", 30_000),
            ("1.5", 1500),
            ("500ms", 500),
            ("30s", 30_000),
            ("2 m", 120_000),
            ("0.25h", 900_000),
            ("2d", 172_800_000),
        ];
        for (text, wanted) in cases {
            assert_eq!(parse_time(text), Some(Duration::from_millis(wanted)), "{text}");
        }
        for text in ["", "-1", "1.", ".5", "1.2.3", "3 days", "99999999999999999999", "18446744073709551615h"]
        {
            assert_eq!(parse_time(text), None, "{text}");
        }
        assert_eq!(show_time(Duration::from_secs(90)), "90s");
        assert_eq!(show_time(Duration::from_mins(10)), "10m");
        assert_eq!(show_time(Duration::from_millis(1500)), "1500ms");
    }
}
