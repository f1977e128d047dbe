//! What decoding costs in memory: next to nothing where the answer is an error, the output where
//! it is not.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod dbp_common;

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use dbp_common::{Page, noise};
use latens::Limits;
use latens::delta_binary_packed::{
    Layout, Options, decode, delta_byte_array, delta_length_byte_array, encode, inspect,
};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is passed on to the system's allocator; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        let now = NOW.fetch_add(memory.size(), Ordering::Relaxed) + memory.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(memory) }
    }
    unsafe fn dealloc(&self, at: *mut u8, memory: Memory) {
        NOW.fetch_sub(memory.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, memory) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn peak<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, PEAK.load(Ordering::Relaxed) - before)
}

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
        let (result, used) = peak(|| decode::<i64>(page, &limits, lenient).map(|(v, _)| v.len()));
        match result {
            Err(_) => assert!(used <= MIB, "{used} bytes for an error"),
            Ok(count) => assert!(used <= 16 * MIB + count * 10, "{used} bytes for {count} values"),
        }
        let (result, used) = peak(|| inspect(page).map(|_| ()));
        assert!(result.is_ok() || used <= MIB);
        let bound = 16 * MIB + 4 * page.len();
        let (result, used) =
            peak(|| delta_length_byte_array::decode(page, &limits, lenient).map(|_| ()));
        assert!(result.is_ok() || used <= bound, "{used} bytes for an error");
        let (result, used) = peak(|| delta_byte_array::decode(page, &limits, lenient).map(|_| ()));
        assert!(result.is_ok() || used <= bound, "{used} bytes for an error");
    }
    let ((read, _), used) =
        peak(|| decode::<i64>(&good, &Limits::default(), Options::STRICT).unwrap());
    assert_eq!(read, values);
    assert!(used <= 8 * values.len() + 4096, "{used} bytes");
}
