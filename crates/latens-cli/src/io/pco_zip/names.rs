//! Names of members: safe on every system, unique in every case, close to the column's own.

use std::collections::{HashMap, HashSet};

/// Longest stem; the true name stands in `schema.json`.
const MAX: usize = 48;
/// Names that Windows keeps for devices.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Hands out stems.
#[derive(Default)]
pub(super) struct Stems {
    /// In lower case: some file systems see no difference.
    taken: HashSet<String>,
    /// The last number that was put behind a name: a table may have one name for all of its columns.
    numbers: HashMap<String, u64>,
}

impl Stems {
    /// A stem for a column: ASCII letters, digits, `_` and `-`, no dot, so that suffixes such as
    /// `.valid.pco` never meet another column's.
    pub(super) fn stem(&mut self, name: &str) -> String {
        let keep = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let mut base: String = name.chars().take(MAX).map(keep).collect();
        let bare = base.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        let odd = base.is_empty() || base.starts_with('-') || DEVICES.contains(&bare.as_str());
        if odd || base.eq_ignore_ascii_case("schema") {
            base.insert(0, '_');
        }
        let mut stem = base.clone();
        if self.taken.insert(stem.to_ascii_lowercase()) {
            return stem;
        }
        let number = self.numbers.entry(base.to_ascii_lowercase()).or_insert(1);
        while !self.taken.insert(stem.to_ascii_lowercase()) {
            *number += 1;
            stem = format!("{base}-{number}");
        }
        stem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_safe_and_unique() {
        let mut stems = Stems::default();
        let names = ["a", "A", "a", "a-2", "../../etc/passwd", "", "", "é.b", "con", "LPT1", "-x"];
        let stems: Vec<String> = names.iter().map(|name| stems.stem(name)).collect();
        let expected = [
            "a",
            "A-2",
            "a-3",
            "a-2-2",
            "______etc_passwd",
            "_",
            "_-2",
            "__b",
            "_con",
            "_LPT1",
            "_-x",
        ];
        assert_eq!(stems, expected);
        let long = Stems::default().stem(&"x".repeat(1000));
        assert_eq!(long.len(), MAX);
    }

    #[test]
    fn one_name_for_many_columns_takes_no_longer_than_many_names() {
        let mut stems = Stems::default();
        let last = (0..1_000_000).map(|_| stems.stem("x")).last();
        assert_eq!(last.as_deref(), Some("x-1000000"));
    }
}
