//! Values without their lowest planes: whether the numbers that they stand for are still near.

/// Where the residuals of symbols end, around a centre. Residuals lie on a circle, the numbers that symbols stand for do
/// not: somewhere on that circle the least and the greatest of them are neighbours, and it is cut there.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    size: i16,
    /// The least number's residual is the first of these or, where that is none, the second.
    low: i16,
    high: i16,
}

impl Ends {
    /// Of symbols of up to eight bits around `centre`; `least` is the symbol of the least number.
    pub fn new(bits: u32, least: u8, centre: u8) -> Self {
        let size = 1i16 << bits.min(8);
        let high = (i16::from(least) - i16::from(centre)).rem_euclid(size);
        Self { size, low: high - size, high }
    }

    /// A residual whose `missing` lowest planes are the middle of what they can be, no farther than residuals go and, where
    /// it was not predicted, on its side of the cut.
    pub fn keep(self, x: i16, missing: usize, predicted: bool) -> i16 {
        // Planes of strangers hold the least number of 16 bits, too.
        let whole = i32::from(x);
        let known = (whole.abs() >> missing << missing) * whole.signum();
        let x = x.clamp(-self.size / 2, self.size / 2 - 1);
        let within = i32::from(self.low)..i32::from(self.high);
        if within.contains(&known) && !predicted { x.clamp(self.low, self.high - 1) } else { x }
    }

    /// Whether each residual that `occurs` stands for a number less than 2^k away without its lowest k planes. Two next to
    /// the cut may have all but these in common, one on each side: no reader can know them apart.
    pub fn are_kept(self, occurs: impl Fn(i16) -> bool) -> bool {
        let number = |x: i16| (x - self.high).rem_euclid(self.size);
        let all = -self.size / 2..self.size / 2;
        all.filter(|&x| occurs(x)).all(|x| {
            (1..8).all(|k| {
                let near = self.keep(without_planes(x, k), k, false);
                number(x).abs_diff(number(near)) < 1 << k
            })
        })
    }
}

/// What [`decode`](super::decode) makes of a residual whose `missing` lowest planes it is not given.
fn without_planes(x: i16, missing: usize) -> i16 {
    let known = x.abs() >> missing << missing;
    let magnitude = if known == 0 { 0 } else { known | 1 << (missing - 1) };
    magnitude * x.signum()
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn numbers_around_the_middle_are_always_kept_and_around_others_where_none_is_over_the_cut() {
        for bits in 1..=8 {
            let size = 1i16 << bits;
            for least in [0, (size / 2) as u8] {
                for off in -size / 2..size / 2 {
                    let centre = (i16::from(least) + size / 2 + off).rem_euclid(size) as u8;
                    let ends = Ends::new(bits, least, centre);
                    // The least number alone is over the cut in the plane of the greatest magnitude.
                    let all = ends.are_kept(|_| true);
                    assert!(all || !(-1..=0).contains(&off), "{bits} bits, {least}, off by {off}");
                    assert!(!all || bits < 4 || off < 1, "{bits} bits, {least}, off by {off}");
                    let on_one_side = |x: i16| (-size / 2 - off..size / 2 - off).contains(&x);
                    assert!(ends.are_kept(on_one_side), "{bits} bits, {least}, off by {off}");
                }
            }
        }
    }
}
