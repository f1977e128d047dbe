//! Memory that the library hands out.

use crate::error::quiet;
use crate::raw;
use latens::{AnyNumbers, with_number_type};
use std::alloc::{Layout, dealloc};
use std::ffi::c_void;
use std::mem::ManuallyDrop;

/// Memory that the library allocated and the caller owns, until lt_buffer_free. Of its fields only
/// what `data` points to may be changed.
#[repr(C)]
pub struct lt_buffer {
    /// The bytes, or the numbers, aligned as these; NULL where there are none.
    pub data: *mut c_void,
    /// Bytes.
    pub size: usize,
    /// Bytes allocated; for lt_buffer_free.
    pub capacity: usize,
    /// Their alignment; for lt_buffer_free.
    pub alignment: usize,
}

impl lt_buffer {
    /// No memory: freeing it does nothing.
    pub(crate) const EMPTY: Self =
        Self { data: std::ptr::null_mut(), size: 0, capacity: 0, alignment: 1 };

    /// The memory of numbers, without a copy.
    pub(crate) fn from_numbers(numbers: AnyNumbers) -> Self {
        with_number_type!(numbers.number_type(), T => {
            Self::from_vec(numbers.into_vec::<T>().unwrap_or_default())
        })
    }

    /// The vector's memory, without a copy.
    pub(crate) fn from_vec<T: Copy>(numbers: Vec<T>) -> Self {
        if numbers.capacity() == 0 || numbers.is_empty() {
            return Self::EMPTY;
        }
        let mut numbers = ManuallyDrop::new(numbers);
        // A vector is never larger than memory.
        Self {
            data: numbers.as_mut_ptr().cast(),
            size: numbers.len() * size_of::<T>(),
            capacity: numbers.capacity() * size_of::<T>(),
            alignment: align_of::<T>(),
        }
    }
}

/// Frees what a function of this library has put into `buffer`, and empties it, so that freeing it
/// again does nothing. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_buffer_free(buffer: *mut lt_buffer) {
    quiet((), || {
        if buffer.is_null() || !buffer.is_aligned() {
            return;
        }
        // SAFETY: not NULL, aligned, and a buffer of ours, as the caller promises.
        let held = unsafe { std::mem::replace(&mut *buffer, lt_buffer::EMPTY) };
        if let Ok(layout) = Layout::from_size_align(held.capacity, held.alignment)
            && held.capacity > 0
            && !held.data.is_null()
        {
            // SAFETY: `from_vec` took these from a vector, whose memory has this layout.
            unsafe { dealloc(held.data.cast(), layout) };
        }
    });
}

/// Empties an output, whatever lay there: a failing call leaves something that may be freed.
///
/// # Safety
/// As [`raw::store`].
pub(crate) unsafe fn clear(buffer: *mut lt_buffer) {
    // SAFETY: promised.
    unsafe { raw::store(buffer, lt_buffer::EMPTY) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_once() {
        for numbers in [Vec::new(), vec![1u64, 2, 3], Vec::with_capacity(9)] {
            let mut buffer = lt_buffer::from_vec(numbers.clone());
            assert_eq!(buffer.size, numbers.len() * 8);
            assert_eq!(buffer.data.is_null(), numbers.is_empty());
            // SAFETY: a buffer of ours; then an empty one.
            unsafe {
                lt_buffer_free(&raw mut buffer);
                lt_buffer_free(&raw mut buffer);
                lt_buffer_free(std::ptr::null_mut());
            }
            assert!(buffer.data.is_null() && buffer.capacity == 0);
        }
    }
}
