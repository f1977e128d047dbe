//! DELTA_BINARY_PACKED on several threads: bytes, values, errors and what they leave alone are those of
//! one thread.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

use latens::delta_binary_packed::{
    Element, Layout, Options, decode, decode_into, decode_into_with, decode_with, encode,
    encode_with,
};
use latens::{Error, Limits, Watch};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const N: usize = 300_007;
const THREADS: [usize; 4] = [0, 2, 3, 9];

/// Steps of all widths, and stretches of none.
fn steps() -> impl Iterator<Item = u64> {
    let mut state = 1u64;
    let mut last = 0u64;
    (0..N as u32).map(move |i| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        last = last.wrapping_add(state.rotate_left(17) >> (i / 3000 % 65).min(63));
        last
    })
}

fn check<T: Element + Debug + Default + PartialEq>(values: &[T], layout: Layout) {
    let stream = encode(values, layout);
    for threads in THREADS {
        assert_eq!(encode_with(values, layout, threads, &Watch::NONE).unwrap(), stream);
        for options in [Options::default(), Options::STRICT] {
            let mut out = vec![T::default(); values.len() + 5];
            let done = decode_into_with(&stream, &mut out, options, threads, &Watch::NONE).unwrap();
            assert_eq!((done.count, done.consumed), (values.len(), stream.len()));
            assert!(out[..values.len()] == *values && out[values.len()..] == [T::default(); 5]);
            let all = decode_with::<T>(&stream, Limits::default(), options, threads, &Watch::NONE);
            assert!(all.unwrap() == (values.to_vec(), stream.len()));
        }
    }
}

#[test]
fn the_same_on_any_number_of_threads() {
    let wide: Vec<u64> = steps().collect();
    let narrow: Vec<i32> = wide.iter().map(|&x| x as i32).collect();
    for n in [0, 1, 2, 65_536, 65_537, 65_538, 131_073, N] {
        check(&wide[..n], Layout::default_for::<u64>());
        check(&narrow[..n], Layout::default_for::<i32>());
    }
    check(&wide, Layout::new(1 << 17, 2).unwrap());
    check(&wide, Layout::new(640, 4).unwrap());
    check(&[7i64; N], Layout::default_for::<i64>());
}

#[test]
fn damage_is_told_as_on_one_thread() {
    let values: Vec<u64> = steps().collect();
    let stream = encode(&values, Layout::default_for::<u64>());
    let same = |bytes: &[u8], options: Options| {
        let (mut one, mut many) = (vec![3u64; N], vec![3u64; N]);
        let told = decode_into(bytes, &mut one, options);
        let found = decode_into_with(bytes, &mut many, options, 3, &Watch::NONE);
        assert_eq!(format!("{found:?}"), format!("{told:?}"));
        // What has changed, and what has not.
        assert!(one == many);
        let told = decode::<u64>(bytes, Limits::default(), options);
        let found = decode_with::<u64>(bytes, Limits::default(), options, 3, &Watch::NONE);
        assert!(format!("{found:?}") == format!("{told:?}"));
    };
    for at in (0..stream.len()).step_by(99_991).chain([1, 5, 10, stream.len() - 1]) {
        same(&stream[..at], Options::default());
        let mut flipped = stream.clone();
        flipped[at] ^= 0x55;
        same(&flipped, Options::default());
        same(&flipped, Options::STRICT);
        same(&flipped, Options::default().expect_count(5));
    }
}

#[test]
fn a_watch_is_told_of_all_and_ends_it() {
    let values: Vec<u64> = steps().collect();
    let layout = Layout::default_for::<u64>();
    let stream = encode(&values, layout);
    for last in [1, 2, 4, u64::MAX] {
        let (told, calls) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (sum, count) = (Arc::clone(&told), Arc::clone(&calls));
        let watch = Watch::new(move |step| {
            sum.fetch_add(step.done, Ordering::Relaxed);
            match count.fetch_add(1, Ordering::Relaxed) + 1 == last {
                true => Err(Error::stopped()),
                false => Ok(()),
            }
        });
        let mut out = vec![0; N];
        match decode_into_with(&stream, &mut out, Options::default(), 2, &watch) {
            Ok(_) => assert!(told.load(Ordering::Relaxed) == N as u64 && out == values),
            Err(error) => {
                assert!(error.is_stopped() && calls.load(Ordering::Relaxed) >= last);
                let sound = error.values_before().unwrap() as usize;
                assert_eq!(sound as u64, told.load(Ordering::Relaxed));
                assert!(out[..sound] == values[..sound] && out[sound..].iter().all(|&x| x == 0));
            }
        }
        calls.store(0, Ordering::Relaxed);
        told.store(0, Ordering::Relaxed);
        match encode_with(&values, layout, 2, &watch) {
            Ok(bytes) => assert!(told.load(Ordering::Relaxed) == N as u64 && bytes == stream),
            Err(error) => assert!(error.is_stopped() && last != u64::MAX),
        }
    }
}
