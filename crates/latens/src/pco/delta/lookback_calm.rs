//! When a search for lookbacks may be sparing.

/// How long no lookbacks were chosen but those used last, nor any seen that might pay. Then most blocks are not
/// searched for others.
#[derive(Default)]
pub(crate) struct Calm {
    /// Blocks in a row that were searched in vain.
    searched: u32,
    /// Blocks since the last one that was searched.
    glossed_over: u32,
}

impl Calm {
    /// Blocks searched in vain for each that is then passed over, and how many those are at most in a row.
    const EACH: u32 = 8;
    const MOST: u32 = 7;

    /// Whether the next block is to be passed over.
    pub(crate) fn is_glossed_over(&mut self) -> bool {
        let is = self.glossed_over < (self.searched / Self::EACH).min(Self::MOST);
        self.glossed_over = if is { self.glossed_over + 1 } else { 0 };
        is
    }

    /// Notes whether a block had any other lookbacks.
    pub(crate) fn note(&mut self, has_others: bool) {
        if has_others {
            self.searched = 0;
        } else if self.glossed_over == 0 {
            self.searched += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_in_vain_is_searched_less() {
        let mut calm = Calm::default();
        let mut searched = |blocks: u32, has_others: bool| {
            let mut searched = 0;
            for _ in 0..blocks {
                let is_searched = !calm.is_glossed_over();
                searched += u32::from(is_searched);
                calm.note(has_others && is_searched);
            }
            searched
        };
        assert_eq!(searched(8, false), 8);
        assert_eq!(searched(16, false), 8);
        assert!((120..150).contains(&searched(1000, false)));
        // One is left to be passed over, the next one is searched and finds something.
        assert!(searched(20, true) >= 13);
    }
}
