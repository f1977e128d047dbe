//! The symbol that others lie around, on a circle.

use crate::wcodec::encode::cost::Histogram;

/// The mean symbol of `bits`, around the circle.
pub(crate) fn centre(histogram: &Histogram, bits: u32) -> u8 {
    u8::try_from(circular_mean(histogram, 1 << bits)).unwrap_or(0)
}

/// The middle of the alphabet, of numbers with a sign or without, unless values around [`centre`] take fewer bits: then
/// they end where numbers do, and without their lowest planes the largest are still near.
pub(crate) fn centre_of_planes(histogram: &Histogram, bits: u32) -> u8 {
    const WORTH: f64 = 0.02;
    let size = 1i32 << bits;
    // Of each bit of a magnitude, and the sign, about.
    let cost = |centre: u8| -> f64 {
        let of = |(s, &n): (i32, &u32)| {
            let d = (s - i32::from(centre) + size / 2).rem_euclid(size) - size / 2;
            f64::from(n) * f64::from(d.abs() + 1).log2()
        };
        (0..size).zip(histogram).map(of).sum()
    };
    let [low, high] = [0, 1 << (bits - 1)];
    let middle = if cost(low) <= cost(high) { low } else { high };
    let mean = centre(histogram, bits);
    if cost(middle) <= cost(mean) * (1.0 + WORTH) { middle } else { mean }
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
