//! The symbol that others lie around, on a circle.

use crate::wcodec::bitplane::Ends;
use crate::wcodec::encode::cost::Histogram;

/// The mean symbol of `bits`, around the circle.
pub(crate) fn centre(histogram: &Histogram, bits: u32) -> u8 {
    u8::try_from(circular_mean(histogram, 1 << bits)).unwrap_or(0)
}

/// The symbol in the middle of the numbers, of which `least` stands for the least; or, where values around it take fewer
/// bits, the one nearest to [`centre`] around which all that occur are still near [without their lowest
/// planes](Ends::are_kept).
pub(crate) fn centre_of_planes(histogram: &Histogram, bits: u32, least: u8) -> u8 {
    const WORTH: f64 = 0.02;
    let size = 1i32 << bits;
    let distance = |s: i32, from: i32| (s - from + size / 2).rem_euclid(size) - size / 2;
    // Of each bit of a magnitude, and the sign, about.
    let cost = |centre: i32| -> f64 {
        let of =
            |(s, &n): (i32, &u32)| f64::from(n) * f64::from(distance(s, centre).abs() + 1).log2();
        (0..size).zip(histogram).map(of).sum()
    };
    let symbol = |s: i32| s.rem_euclid(size).to_le_bytes()[0];
    let occurs = |s: i32| histogram[usize::from(symbol(s))] > 0;
    let is_kept = |centre: i32| {
        let ends = Ends::new(bits, least, symbol(centre));
        ends.are_kept(|residual| occurs(centre + i32::from(residual)))
    };
    let middle = i32::from(least) + size / 2;
    let off = distance(i32::from(centre(histogram, bits)), middle);
    let nearer = (0..off.abs()).map(|d| middle + off - d * off.signum());
    match nearer.into_iter().find(|&centre| is_kept(centre)) {
        Some(near) if cost(near) * (1.0 + WORTH) < cost(middle) => symbol(near),
        _ => symbol(middle),
    }
}

/// The mean symbol of a histogram on a circle of `size` symbols: about the most common one.
fn circular_mean(histogram: &Histogram, size: i32) -> i32 {
    let mode = (0..).zip(histogram).max_by_key(|(s, n)| (**n, -*s)).map_or(0, |(s, _)| s);
    let (mut sum, mut n) = (0i64, 0i64);
    for (s, &count) in (0..size).zip(histogram) {
        let d = (s - mode + size / 2).rem_euclid(size) - size / 2;
        sum += i64::from(d) * i64::from(count);
        n += i64::from(count);
    }
    let mean = (2 * sum + n).div_euclid(2 * n.max(1));
    (mode + i32::try_from(mean).unwrap_or(0)).rem_euclid(size)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test")]
mod tests {
    use super::*;

    /// Symbols from `from` to `to`, mostly near `around`.
    fn counts(size: i32, [from, to, around]: [i32; 3]) -> Histogram {
        let mut counts = [0; 256];
        for s in from..=to {
            let distance = (s - around).unsigned_abs();
            counts[s.rem_euclid(size) as usize] = 1 + 1000 / (1 + distance * distance);
        }
        counts
    }

    #[test]
    fn planes_have_a_centre_around_which_all_are_near() {
        for bits in 2..=8 {
            let size = 1i32 << bits;
            for least in [0, size / 2] {
                for around in 0..size {
                    for [from, to] in
                        [[0, size - 1], [1, size - 1], [0, size / 2], [size / 3, size - 2]]
                    {
                        let counts = counts(size, [least + from, least + to, least + around]);
                        let least = least as u8;
                        let centre = centre_of_planes(&counts, bits, least);
                        let ends = Ends::new(bits, least, centre);
                        let occurs = |residual: i16| {
                            let symbol = (i32::from(centre) + i32::from(residual)).rem_euclid(size);
                            counts[symbol as usize] > 0
                        };
                        assert!(
                            ends.are_kept(occurs),
                            "{bits} bits, {least}, {around}, {from} to {to}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_centre_of_planes_is_where_most_are_if_no_number_is_far() {
        assert_eq!(
            centre_of_planes(&counts(256, [0, 60, 20]), 8, 0),
            centre(&counts(256, [0, 60, 20]), 8)
        );
        assert_eq!(centre_of_planes(&counts(256, [0, 255, 20]), 8, 0), 128);
        let small = centre_of_planes(&counts(256, [0, 160, 20]), 8, 0);
        assert_eq!(small, 160 - 128);
    }
}
