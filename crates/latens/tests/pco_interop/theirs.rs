//! What pco writes, read by latens; and files of the two, side by side.

use crate::common::Both;
use crate::common::numbers::{Shape, make};
use crate::{SIZES, ours_to_both, pco_deltas, pco_modes, pco_panics, theirs_to_ours};
use latens::pco::{Config, DeltaEncoding};
use latens::{NumberType, with_number_type};

/// What `Limits::max_spare_slots` says of encoders: pco has 3.4 slots a number at most, of 8 that are
/// earned.
#[test]
fn pco_has_tables_that_few_numbers_earn() {
    fn check<T: Both>() {
        for (i, n) in (1..=96).chain([120, 127, 150, 200, 250, 255, 400, 777, 1500]).enumerate() {
            for level in 0..=12 {
                let shape = Shape::ALL[(i + level) % Shape::ALL.len()];
                let numbers = make::<T>(shape, n, (i + level) as u64);
                let config = pco::ChunkConfig::default()
                    .with_compression_level(level)
                    .with_enable_8_bit(true);
                let what = format!("{} {shape:?} n={n} level {level}", T::TYPE);
                assert!(theirs_to_ours(&numbers, &config, &what), "{what}: pco does not write it");
            }
        }
    }
    for ty in [NumberType::U8, NumberType::I16, NumberType::U32, NumberType::I64, NumberType::F64] {
        with_number_type!(ty, T => check::<T>());
    }
}

/// Bytes of ten numbers or fewer are hardly more than the reference's.
#[test]
fn few_numbers_take_few_bytes() {
    for ty in NumberType::ALL {
        with_number_type!(ty, T => for (i, n) in [1, 2, 5, 10].into_iter().enumerate() {
            for (level, shape) in [1, 4, 8].into_iter().cycle().zip(Shape::ALL) {
                let numbers = make::<T>(shape, n, i as u64);
                let config = Config::default().level(level).checksum(false);
                let ours = latens::pco::compress(&numbers, &config).unwrap().len();
                let config = pco::ChunkConfig::default()
                    .with_compression_level(level as usize)
                    .with_enable_8_bit(true);
                let theirs = pco::standalone::simple_compress(&numbers, &config).unwrap().len();
                let what = format!("{ty} {shape:?} n={n} level {level}");
                assert!(ours <= theirs + theirs / 50 + 4, "{what}: {ours} over {theirs}");
            }
        });
    }
}

#[test]
fn what_pco_writes_we_read() {
    fn check<T: Both>() -> (usize, usize) {
        let (mut turn, mut read) = (0, 0);
        for mode in pco_modes(T::TYPE) {
            for delta in pco_deltas() {
                turn += 1;
                let shape = Shape::ALL[turn % Shape::ALL.len()];
                let n = SIZES[turn * 5 % SIZES.len()];
                let too_wide = matches!(delta, pco::DeltaSpec::TryConv1(_)) && T::TYPE.bits() > 32;
                if pco_panics(&delta, n) || too_wide {
                    continue;
                }
                let config = pco::ChunkConfig::default()
                    .with_compression_level(turn % 13)
                    .with_mode_spec(mode.clone())
                    .with_delta_spec(delta)
                    .with_paging_spec(pco::PagingSpec::EqualPagesUpTo(if turn % 7 == 3 {
                        256
                    } else {
                        1 << 18
                    }))
                    .with_enable_8_bit(true);
                let numbers = make::<T>(shape, n, turn as u64);
                let what = format!("{} {shape:?} n={n} {config:?}", T::TYPE);
                read += usize::from(theirs_to_ours(&numbers, &config, &what));
            }
        }
        (turn, read)
    }
    std::panic::set_hook(Box::new(|info| {
        // Panics inside of pco are caught; those of this test are told.
        if !info.location().is_some_and(|l| l.file().contains("pco-")) {
            eprintln!("{info}");
        }
    }));
    let mut read = 0;
    for ty in NumberType::ALL {
        read += with_number_type!(ty, T => check::<T>()).1;
    }
    println!("{read} files of pco");
    assert!(read > 1000, "{read} only");
}

#[test]
fn large_files_of_pco() {
    fn check<T: Both>(turn: usize) {
        let modes = pco_modes(T::TYPE);
        for (step, n) in [(1 << 18) - 1, 1 << 18, (1 << 18) + 1].into_iter().enumerate() {
            let turn = turn * 3 + step;
            let config = pco::ChunkConfig::default()
                .with_compression_level([8, 12, 4][turn % 3])
                .with_mode_spec(modes[turn % modes.len()].clone())
                .with_delta_spec(if turn.is_multiple_of(2) {
                    pco::DeltaSpec::Auto
                } else {
                    pco::DeltaSpec::TryLookback
                })
                .with_enable_8_bit(true);
            let numbers = make::<T>(Shape::ALL[turn % 10], n, turn as u64);
            let what = format!("{} n={n} {config:?}", T::TYPE);
            assert!(theirs_to_ours(&numbers, &config, &what), "{what}: pco does not write it");
        }
    }
    for (turn, ty) in NumberType::ALL.into_iter().enumerate() {
        with_number_type!(ty, T => check::<T>(turn));
    }
}

/// The reference stops at its terminator.
/// Numbers that come back later than a stretch of a chunk shows, or far from 0 and close together.
#[test]
fn columns_that_repeat_are_no_larger_than_those_of_pco() {
    fn check<T: Both>(what: &str, numbers: &[T]) {
        let ours = latens::pco::compress(numbers, &Config::default()).unwrap().len();
        let theirs = pco::standalone::simple_compress(numbers, &pco::ChunkConfig::default());
        let theirs = theirs.unwrap().len();
        assert!(ours * 100 <= theirs * 101, "{what}: {ours} bytes, pco {theirs}");
        ours_to_both(numbers, &Config::default(), what);
    }
    const N: usize = 200_000;
    let mut state = 1u64;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    };
    let mut uniform = |below: u64| noise() % below;
    let table: Vec<f64> = (0..1000).map(|_| uniform(1 << 30) as f64 / 7.0).collect();
    check("a table again and again", &table.repeat(N / 1000));
    let table: Vec<i32> = (0..30_000).map(|_| uniform(1 << 31) as i32).collect();
    check("a long table", &table.repeat(N / 30_000));
    let season: Vec<i32> = (0..1440).map(|_| uniform(10_000) as i32).collect();
    let noisy = (0..N).map(|i| season[i % 1440] + uniform(4) as i32).collect::<Vec<_>>();
    check("a season with noise", &noisy);
    let mut walks = [0.0f32; 3];
    let beside = (0..N).map(|i| {
        walks[i % 3] += (uniform(2001) as f32 - 1000.0) / 50_000.0;
        walks[i % 3]
    });
    check("walks side by side", &beside.collect::<Vec<_>>());
    let mut at = 1_700_000_000_000_000i64;
    let steps = (0..N).map(|_| {
        at += 1_000_000 + uniform(4000) as i64;
        at
    });
    let steps: Vec<i64> = steps.collect();
    check("steps with jitter", &steps);
    let chunk = latens::pco::standalone::encode_chunk(&steps, &Config::default()).unwrap();
    let chosen = chunk.summary().delta;
    assert!(matches!(chosen, DeltaEncoding::Consecutive { order: 1, .. }), "{chosen:?}");
}
