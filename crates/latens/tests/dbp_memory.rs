//! What decoding costs in memory: next to nothing where the answer is an error, the output where
//! it is not.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod common;
mod dbp_common;

use common::counting::{Counting, peak_of as peak};
use dbp_common::{Page, noise};
use latens::delta_binary_packed::{
    Layout, Options, decode, decode_with, delta_byte_array, delta_length_byte_array, encode,
    inspect,
};
use latens::{Limits, Watch};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;

#[test]
fn errors_cost_no_memory_and_values_no_more_than_themselves() {
    // A constant stretch of 2^40 values, then nothing: the count is borne out but for the last.
    let liar = Page::new(1 << 40, 1, (1 << 40) + 2, 0).block(1, &[0], &[]).bytes;
    let mut pages = vec![
        liar,
        Page::new(128, 4, u64::MAX, 0).block(1, &[0; 4], &[]).bytes,
        Page::new(1 << 62, 1 << 57, 1 << 40, 0).block(1, &[64], &[]).bytes,
    ];
    let mut next = noise(21);
    let values: Vec<i64> = (0..100_000).map(|_| (next() >> 40).cast_signed()).collect();
    let good = encode(&values, Layout::default_for::<i64>());
    for _ in 0..200 {
        let mut page = good.clone();
        let at = next() as usize % 64;
        page[at] ^= 1 << (next() % 8);
        pages.push(page);
    }
    for page in &pages {
        let limits = Limits::default().max_output(1 << 45);
        let lenient = Options::default();
        let (result, used) = peak(|| decode::<i64>(page, limits, lenient).map(|(v, _)| v.len()));
        match result {
            Err(_) => assert!(used <= MIB, "{used} bytes for an error"),
            Ok(count) => assert!(used <= 16 * MIB + count * 10, "{used} bytes for {count} values"),
        }
        let (result, used) = peak(|| inspect(page).map(|_| ()));
        assert!(result.is_ok() || used <= MIB);
        let bound = 16 * MIB + 4 * page.len();
        let (result, used) =
            peak(|| delta_length_byte_array::decode(page, limits, lenient).map(|_| ()));
        assert!(result.is_ok() || used <= bound, "{used} bytes for an error");
        let (result, used) = peak(|| delta_byte_array::decode(page, limits, lenient).map(|_| ()));
        assert!(result.is_ok() || used <= bound, "{used} bytes for an error");
    }
    strings_cost_no_more_than_themselves();
    let ((read, _), used) =
        peak(|| decode::<i64>(&good, Limits::default(), Options::STRICT).unwrap());
    assert_eq!(read, values);
    assert!(used <= 8 * values.len() + 4096, "{used} bytes");
}

/// Two bytes that stand for 2^16 values each, again and again, and none for the last ones: where
/// threads would begin is known before that is.
#[test]
fn errors_cost_no_memory_on_threads() {
    const BLOCKS: u64 = 200_000;
    let mut liar = Page::new(1 << 16, 1, (BLOCKS << 16) + 2, 0);
    for _ in 0..BLOCKS {
        liar = liar.block(1, &[0], &[]);
    }
    let limits = Limits::default().max_output(1 << 45);
    let (result, used) =
        peak(|| decode_with::<i64>(&liar.bytes, limits, Options::default(), 2, &Watch::NONE));
    assert!(result.is_err() && used <= MIB, "{used} bytes for an error");
}

/// Lengths in a few bytes that stand for very many strings, and their ends, which are handed out.
fn strings_cost_no_more_than_themselves() {
    const COUNT: u64 = 1 << 24;
    let empty = || Page::new(1 << 24, 1, COUNT, 0).block(0, &[0], &[]).bytes;
    let limits = Limits::default();
    let lenient = Options::default();
    // As many empty strings: eight bytes each, for where they end.
    let (strings, used) = peak(|| {
        delta_length_byte_array::decode(&empty(), limits, lenient)
            .map(|(strings, _)| strings.len())
            .unwrap()
    });
    assert_eq!(strings as u64, COUNT);
    assert!(used <= 16 * MIB + strings * 10, "{used} bytes");
    let prefixes_then_nothing = empty();
    let both = [empty(), empty()].concat();
    let other_count = [empty(), Page::new(128, 1, 1, 0).bytes].concat();
    let (strings, used) =
        peak(|| delta_byte_array::decode(&both, limits, lenient).map(|(s, _)| s.len()).unwrap());
    assert!(used <= 16 * MIB + strings * 10, "{used} bytes");
    // One that is negative, at the end: an error, which costs nothing.
    let late = Page::new(1 << 24, 1, COUNT + 2, 0).block(0, &[0], &[]).block(-1, &[0], &[]).bytes;
    for page in [&late, &[empty(), late.clone()].concat(), &prefixes_then_nothing, &other_count] {
        let (result, used) = peak(|| delta_byte_array::decode(page, limits, lenient).map(drop));
        assert!(result.is_err() && used <= MIB, "{used} bytes for an error");
    }
    let (result, used) = peak(|| delta_length_byte_array::decode(&late, limits, lenient).map(drop));
    assert!(result.is_err() && used <= MIB, "{used} bytes for an error");
}
