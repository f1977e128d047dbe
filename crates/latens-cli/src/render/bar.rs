//! A bar of eighths of a character.

/// `share` (0 to 1) of `width` characters; anything above 0 shows at least an eighth.
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !share.is_finite() || share <= 0.0 {
        return String::new();
    }
    let eighths = (share.min(1.0) * width as f64 * 8.0).round().max(1.0);
    let mut full = 0;
    while full < width && (full + 1) as f64 * 8.0 <= eighths {
        full += 1;
    }
    let rest = eighths - full as f64 * 8.0;
    let part = PARTS.iter().enumerate().rfind(|(i, _)| *i as f64 <= rest).map_or("", |(_, p)| p);
    format!("{}{}", "█".repeat(full), if full < width { part } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighths() {
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(1e-9, 4), "▏");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.53125, 4), "██▏");
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(7.0, 4), "████");
        assert_eq!(bar(f64::NAN, 4), "");
    }
}
