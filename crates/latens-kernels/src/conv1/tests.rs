use super::*;
use crate::dispatch::Simd;

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 31).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 8
}

/// Weights that keep sums within `2 · bits` bits; small ones, large ones, extremes.
#[expect(clippy::cast_possible_truncation, reason = "random bits are wanted")]
fn weights(order: usize, bits: u32, seed: u64) -> Vec<i32> {
    let most = (1i64 << (bits - 2)) / order as i64;
    let weight = |i: u64| match seed % 3 {
        0 => (mix(i + seed) % 16) as i32 - 8,
        1 => ((mix(i + seed) as i64 % most) - most / 2) as i32,
        _ => {
            if i.is_multiple_of(2) {
                most as i32
            } else {
                -most as i32
            }
        }
    };
    (0..order as u64).map(weight).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "random bits are wanted")]
fn residuals(n: usize, seed: u64) -> Vec<u32> {
    (0..n as u64)
        .map(|i| if seed.is_multiple_of(4) { u32::MAX } else { mix(i ^ seed << 20) as u32 })
        .collect()
}

/// The definition, one latent at a time.
fn slow<L: Latent>(shift: u32, bias: i64, weights: &[i32], all: &mut Vec<L>, residual: L) {
    let before = &all[all.len() - weights.len()..];
    let products = weights.iter().zip(before).map(|(&w, x)| i128::from(w) * i128::from(x.widen()));
    let sum = i128::from(bias) + products.sum::<i128>();
    let prediction = u64::try_from(sum.max(0)).unwrap() >> shift;
    all.push(residual.plus_low(prediction));
}

fn check<L: Latent>(simd: Simd, order: usize, seed: u64) -> Vec<L> {
    let weights = weights(order, L::WIDTH, seed);
    let (shift, bias) = ((seed % 16) as u32, mix(seed) as i64 % 100 - 50);
    let low = |x: u32| L::from_low(x.into());
    let before: Vec<L> = residuals(order, seed + 1).into_iter().map(low).collect();
    let mut predictor = Predictor::new(shift, bias, &weights, &before);
    let mut expected = before;
    let mut found = Vec::new();
    for (i, n) in [256, 1, 255, 7, 8, 0, 9].into_iter().enumerate() {
        let batch = residuals(n, seed + 2 + i as u64);
        let mut batch: Vec<L> = batch.into_iter().map(low).collect();
        for &residual in &batch {
            slow(shift, bias, &weights, &mut expected, residual);
        }
        predictor.undo(Present::new(simd), &mut batch);
        found.extend(batch);
    }
    assert_eq!(found, expected[..found.len()], "order {order} seed {seed}");
    found
}

fn cases() -> impl Iterator<Item = (usize, u64)> {
    (1..=MAX_ORDER).flat_map(|order| (0..12).map(move |seed| (order, seed)))
}

crate::twin_test!(predictions_agree, cases(), |simd, case| {
    let &(order, seed) = case;
    let wide = check::<u32>(simd, order, seed);
    (wide, check::<u16>(simd, order, seed), check::<u8>(simd, order.min(8), seed))
});
