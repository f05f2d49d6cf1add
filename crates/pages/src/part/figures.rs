//! Numbers, sizes and durations for people. This module must not know what they count.

/// A number with commas: `12,345`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun in the singular or plural: `1 call`, `2 calls`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A number in few characters: `999`, `12.3k`, `4.0M`.
pub(crate) fn compact(number: u64) -> String {
    match number {
        0..10_000 => count(number),
        10_000..1_000_000 => tenths(number, 1_000, "k"),
        1_000_000..1_000_000_000 => tenths(number, 1_000_000, "M"),
        _ => tenths(number, 1_000_000_000, "G"),
    }
}

/// A size: `512 B`, `1.2 kB`.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => tenths(number, 1_000, " kB"),
        1_000_000..1_000_000_000 => tenths(number, 1_000_000, " MB"),
        _ => tenths(number, 1_000_000_000, " GB"),
    }
}

/// A duration in microseconds: `80 µs`, `12 ms`, `1.5 s`, `2 min 5 s`.
pub(crate) fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => tenths(us, 1_000, " ms"),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        1_000_000..60_000_000 => tenths(us, 1_000_000, " s"),
        60_000_000..3_600_000_000 => format!("{} min {} s", us / 60_000_000, us / 1_000_000 % 60),
        3_600_000_000..86_400_000_000 => format!("{} h {} min", us / 3_600_000_000, us / 60_000_000 % 60),
        _ => format!("{} d {} h", us / 86_400_000_000, us / 3_600_000_000 % 24),
    }
}

/// A share: `0 %`, `0.4 %`, `12 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0 %".to_owned();
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    let rounded = |units: u128| (part * units * 2 + whole) / (whole * 2);
    match rounded(1000) {
        0 => "< 0.1 %".to_owned(),
        thousandths @ 1..100 => format!("{}.{} %", thousandths / 10, thousandths % 10),
        // A part is never shown as 100 %.
        _ if part < whole => format!("{} %", rounded(100).min(99)),
        _ => format!("{} %", rounded(100)),
    }
}

/// A number of events within a time, as a rate: `0.2`, `3.4`, `120`.
pub(crate) fn per_second(events: u64, millis: u64) -> String {
    let tenths_per_second = u128::from(events) * 10_000 / u128::from(millis.max(1));
    match tenths_per_second {
        0 if events > 0 => "< 0.1".to_owned(),
        0 => "0".to_owned(),
        1..1_000 => format!("{}.{}", tenths_per_second / 10, tenths_per_second % 10),
        _ => count(u64::try_from(tenths_per_second / 10).unwrap_or(u64::MAX)),
    }
}

fn tenths(number: u64, unit: u64, name: &str) -> String {
    format!("{}.{}{name}", number / unit, number % unit * 10 / unit)
}

#[cfg(test)]
mod tests {
    use super::{bytes, compact, count, duration, per_second, percent};

    #[test]
    fn numbers_are_short() {
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([compact(9_999), compact(12_345), compact(4_000_000)], ["9,999", "12.3k", "4.0M"]);
        assert_eq!([bytes(999), bytes(1_250), bytes(3_400_000)], ["999 B", "1.2 kB", "3.4 MB"]);
        assert_eq!([duration(80), duration(1_500), duration(12_900)], ["80 µs", "1.5 ms", "12 ms"]);
        assert_eq!([duration(1_520_000), duration(125_000_000)], ["1.5 s", "2 min 5 s"]);
        assert_eq!(
            [percent(0, 0), percent(1, 100_000), percent(4, 1_000), percent(1, 2)],
            ["0 %", "< 0.1 %", "0.4 %", "50 %"]
        );
        assert_eq!(
            [
                percent(948, 200_000),
                percent(99, 1_000),
                percent(996, 1_000),
                percent(3, 3),
                percent(125, 1_000)
            ],
            ["0.5 %", "9.9 %", "99 %", "100 %", "13 %"]
        );
        assert_eq!(
            [per_second(0, 1_000), per_second(1, 60_000), per_second(34, 10_000)],
            ["0", "< 0.1", "3.4"]
        );
    }
}
