//! Parts of equal size.

/// One of the parts of equal size that latents are cut to, which end at (number + 1) · total / most, rounded up:
/// without a division for each.
pub(super) struct Part {
    pub(super) number: u64,
    /// The end rounded down, and what is left of the division by `most`.
    whole: u64,
    rest: u64,
}

impl Part {
    pub(super) fn first(total: u64, most: u64) -> Self {
        Self { number: 0, whole: total / most, rest: total % most }
    }

    #[inline(always)]
    pub(super) fn end(&self) -> u64 {
        self.whole + u64::from(self.rest > 0)
    }

    /// To the next one, where [`Part::first`] has the size.
    #[inline(always)]
    pub(super) fn advance(&mut self, size: &Part, most: u64) {
        self.number += 1;
        self.whole += size.whole;
        self.rest += size.rest;
        if self.rest >= most {
            self.rest -= most;
            self.whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Ends of parts are those that a division says.
        #[test]
        fn parts_end_where_they_should(total in 1..100_000u64, most in 1..5000u64, step in 1..3000u64) {
            let (size, mut part) = (Part::first(total, most), Part::first(total, most));
            for i in (0..total).step_by(usize::try_from(step).unwrap()) {
                while part.end() <= i {
                    part.advance(&size, most);
                }
                prop_assert_eq!(part.number, i * most / total);
                prop_assert_eq!(part.end(), ((part.number + 1) * total).div_ceil(most));
            }
        }
    }
}
