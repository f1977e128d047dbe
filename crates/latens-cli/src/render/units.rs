//! Numbers as people read them.

/// Bytes with three digits: `44 B`, `1.04 MB`, `131 kB`.
pub fn bytes(n: u64) -> String {
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = n as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        // 999.5 kB would round to 1000 kB.
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{} {unit}", digits(value))
}

/// `4.3×`, `131×`; a dash where there is nothing to divide.
pub fn ratio(before: u64, after: u64) -> String {
    if before == 0 || after == 0 {
        return "-".into();
    }
    let value = before as f64 / after as f64;
    match value {
        v if v < 99.95 => format!("{v:.1}×"),
        v => format!("{v:.0}×"),
    }
}

/// `336 776`: groups of three, by thin spaces that do not break.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(c);
    }
    text
}

/// The noun for so many: `tensor` for 1, `tensors` for others.
pub fn noun(n: u64, one: &str) -> String {
    format!("{one}{}", if n == 1 { "" } else { "s" })
}

/// `1 tensor`, `336 776 tensors`.
pub fn counted(n: u64, one: &str) -> String {
    format!("{} {}", count(n), noun(n, one))
}

/// `3 ms`, `0.4 s`, `12 s`, `3 min 20 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 0.0995 => format!("{:.0} ms", (s * 1000.0).max(1.0)),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s => format!("{} min {:.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

fn digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (n, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (12_345, "12.3 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(seconds(0.0004), "1 ms");
        assert_eq!(seconds(0.0996), "0.1 s");
        assert_eq!(seconds(200.2), "3 min 20 s");
        assert_eq!(ratio(10, 3), "3.3×");
        assert_eq!(ratio(9999, 100), "100×");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
