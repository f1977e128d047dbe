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

/// Which sums are to be negative.
const SIGNS: [fn(usize) -> bool; 7] = [
    |_| false,
    |_| true,
    |i| i % 2 == 1,
    |i| i % 8 == 7,
    |i| i % 256 == 255,
    |i| i % 300 == 5,
    |i| mix(i as u64).is_multiple_of(500),
];

/// Latents of which the newest alone decides on the sign of a sum: those above the middle make it negative.
fn check_signs<L: Latent>(simd: Simd, order: usize, shift: u32, is_negative: fn(usize) -> bool) {
    let middle = 1u64 << (L::WIDTH - 1);
    let newest = 1i64 << (L::WIDTH - 3);
    let mut weights: Vec<i32> = (0..order).map(|i| [1, 0, 0, -1, 0, 0][i % 6]).collect();
    weights[order - 1] = i32::try_from(-newest).unwrap();
    let bias = newest << (L::WIDTH - 1);
    let latent = |i: usize| {
        let x = mix(i as u64) % (middle / 4);
        L::from_low(if is_negative(i + 1) { u64::MAX - x } else { x })
    };
    let latents: Vec<L> = (0..9000).map(latent).collect();
    let residual = |i: usize| {
        let before = latents[i..i + order].iter();
        let products = weights.iter().zip(before).map(|(&w, x)| i64::from(w) * x.widen() as i64);
        let sum = bias + products.sum::<i64>();
        assert_eq!(sum < 0, is_negative(i + order));
        let prediction = L::from_low(sum.max(0) as u64 >> shift);
        L::from_low(latents[i + order].widen().wrapping_sub(prediction.widen()))
    };
    let mut residuals: Vec<L> = (0..latents.len() - order).map(residual).collect();
    let mut predictor = Predictor::new(shift, bias, &weights, &latents[..order]);
    residuals.chunks_mut(MOST).for_each(|batch| predictor.undo(Present::new(simd), batch));
    assert_eq!(residuals, latents[..residuals.len()], "order {order} shift {shift}");
}

fn signs() -> impl Iterator<Item = (usize, u32, usize)> {
    let orders = [1, 2, 3, 4, 5, 8, 9, 17, 32];
    let all = orders.into_iter().flat_map(|order| (0..SIGNS.len()).map(move |i| (order, i)));
    all.flat_map(|(order, i)| [0, 1, 7, 15, 16, 31].map(|shift| (order, shift, i)))
}

crate::twin_test!(negative_sums_count_nothing, signs(), |simd, case| {
    let &(order, shift, i) = case;
    check_signs::<u32>(simd, order, shift, SIGNS[i]);
    check_signs::<u16>(simd, order, shift, SIGNS[i]);
    check_signs::<u8>(simd, order, shift.min(15), SIGNS[i]);
});
