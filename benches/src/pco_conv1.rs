//! Decoding Conv1, which few whole columns take.

use crate::{Failure, timing};
use latens::Limits;
use latens::Number;
use latens::pco as ours;
use std::hint::black_box;

/// A made-up signal of 16 and 32 bits, encoded by the reference with Conv1 of each order.
///
/// # Errors
/// What either library says, and numbers that differ.
pub fn conv1(rounds: usize) -> Result<(), Failure> {
    // The reference panics where the count mod 256 is below the order.
    const N: usize = 1 << 18;
    let wave = |i: usize| {
        let t = i as f64;
        let noise = (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as f64;
        9000.0 * (t * 0.013).sin() + 5000.0 * (t * 0.071).sin() + noise
    };
    #[expect(clippy::cast_possible_truncation, reason = "a wave within 16 bits")]
    let small: Vec<i16> = (0..N).map(|i| wave(i) as i16).collect();
    #[expect(clippy::cast_possible_truncation, reason = "a wave within 32 bits")]
    let large: Vec<i32> = (0..N).map(|i| (wave(i) * 1000.0) as i32).collect();
    for order in [1, 2, 4, 8, 12, 16, 24, 32] {
        let (a, b) = (conv1_ratio(&small, order, rounds)?, conv1_ratio(&large, order, rounds)?);
        println!(
            "order {order:2}: i16 {:5.0} / {:5.0} MB/s {:5.2} ×   i32 {:5.0} / {:5.0} MB/s {:5.2} ×",
            a.0,
            a.1,
            a.0 / a.1,
            b.0,
            b.1,
            b.0 / b.1
        );
    }
    Ok(())
}

/// MB/s of ours and theirs.
fn conv1_ratio<T: Number + ::pco::data_types::Number>(
    numbers: &[T],
    order: usize,
    rounds: usize,
) -> Result<(f64, f64), Failure> {
    let config = ::pco::ChunkConfig::default()
        .with_delta_spec(::pco::DeltaSpec::TryConv1(order))
        .with_mode_spec(::pco::ModeSpec::Classic);
    let file = ::pco::standalone::simple_compress(numbers, &config)?;
    let delta = ours::inspect(&file[..], Limits::default())?;
    if !delta.chunks.iter().all(|c| c.info.delta.to_string().starts_with("conv1")) {
        return Err(format!("the reference did not take Conv1 of order {order}").into());
    }
    let mut a = vec![T::default(); numbers.len()];
    let mut b = a.clone();
    let times = timing::medians(
        rounds,
        &mut [
            &mut || {
                black_box(ours::decompress_into(&file, &mut a).is_ok());
            },
            &mut || {
                black_box(::pco::standalone::simple_decompress_into(&file, &mut b).is_ok());
            },
        ],
    );
    if a.iter().zip(numbers).any(|(x, y)| x.to_latent() != y.to_latent()) {
        return Err("the numbers differ".into());
    }
    let megabytes = std::mem::size_of_val(numbers) as f64 / 1e6;
    Ok((megabytes / times[0], megabytes / times[1]))
}
