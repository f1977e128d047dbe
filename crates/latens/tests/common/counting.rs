//! An allocator that counts what each thread holds, what the process holds, and the most of both.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// To be made the global allocator of a test.
pub struct Counting;

thread_local! {
    // Without destructors and initialised at compile time: touching them allocates nothing.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

static ALL_HELD: AtomicIsize = AtomicIsize::new(0);
static ALL_PEAK: AtomicIsize = AtomicIsize::new(0);

fn add(bytes: isize) {
    let now = ALL_HELD.fetch_add(bytes, Relaxed) + bytes;
    if now > ALL_PEAK.load(Relaxed) {
        ALL_PEAK.fetch_max(now, Relaxed);
    }
    // A thread that is being torn down is not counted any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

#[allow(unsafe_code, reason = "an allocator can only be counted by being one")]
// SAFETY: every method hands its arguments unchanged to `System`, whose contract is the same, and
// returns what it returns. Counting touches thread-local cells only and neither allocates nor
// panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size().cast_signed());
        // SAFETY: the caller keeps `alloc`'s contract, which is that of `System`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size().cast_signed());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        add(-layout.size().cast_signed());
        // SAFETY: `ptr` comes from `System` with this layout, as all methods here hand it on.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Where old and new stand side by side, both count, as they do in the worst allocator.
        add(new_size.cast_signed());
        add(-layout.size().cast_signed());
        // SAFETY: as in `dealloc`; the caller vouches for `new_size`.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// Runs `f` and says how many bytes this thread held at most, beyond what it held before.
pub fn peak_of<V>(f: impl FnOnce() -> V) -> (V, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let value = f();
    (value, usize::try_from(PEAK.get() - before).unwrap_or(0))
}

/// Runs `f` and says how many bytes more this thread holds when it is done.
pub fn held_by<V>(f: impl FnOnce() -> V) -> (V, usize) {
    let before = HELD.get();
    let value = f();
    (value, usize::try_from(HELD.get() - before).unwrap_or(0))
}

/// Runs `f` and says how many bytes all threads together held at most, with what they held before.
/// For a process that does nothing else meanwhile.
pub fn most_of_process<V>(f: impl FnOnce() -> V) -> (V, usize) {
    ALL_PEAK.store(ALL_HELD.load(Relaxed), Relaxed);
    let value = f();
    (value, usize::try_from(ALL_PEAK.load(Relaxed)).unwrap_or(0))
}

/// Runs `f` and says how many bytes all threads together held at most, beyond what they held
/// before. For a process that does nothing else meanwhile.
pub fn peak_of_process<V>(f: impl FnOnce() -> V) -> (V, usize) {
    let before = ALL_HELD.load(Relaxed);
    ALL_PEAK.store(before, Relaxed);
    let value = f();
    (value, usize::try_from(ALL_PEAK.load(Relaxed) - before).unwrap_or(0))
}
