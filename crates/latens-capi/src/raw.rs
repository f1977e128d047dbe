//! The caller's pointers: checked as far as they can be, then slices and references.
//!
//! What cannot be checked the caller promises, and every unsafe block of the crate relies on it: a
//! pointer that is neither NULL nor beside memory of no elements points to as many elements as it is
//! said to, nobody else writes there during the call, and nobody else reads what the call writes.

use crate::failure::Failure;
use latens::{AnySlice, AnySliceMut, NumberType, with_number_type};
use std::ffi::{CStr, c_char, c_void};

pub(crate) type Checked<T> = Result<T, Failure>;

fn check<T>(data: *const T, n: usize, name: &str) -> Checked<()> {
    if data.is_null() {
        return Err(Failure::invalid(format!("{name} is NULL")));
    }
    if !data.is_aligned() {
        let align = align_of::<T>();
        return Err(Failure::invalid(format!("{name} is not aligned to {align} bytes")));
    }
    let bytes = n.checked_mul(size_of::<T>());
    if bytes.is_none_or(|bytes| bytes > isize::MAX.unsigned_abs()) {
        return Err(Failure::invalid(format!("{name} has {n} elements, more than memory holds")));
    }
    Ok(())
}

/// `n` elements to read; NULL will do for none.
///
/// # Safety
/// The promise at the head of this module, for as long as the slice is used; `T` is a plain number.
pub(crate) unsafe fn input<'a, T>(data: *const T, n: usize, name: &str) -> Checked<&'a [T]> {
    if n == 0 {
        return Ok(&[]);
    }
    check(data, n, name)?;
    // SAFETY: not NULL, aligned, of a length that a slice may have; the rest is promised.
    Ok(unsafe { std::slice::from_raw_parts(data, n) })
}

/// `n` elements to write; NULL will do for none. The library writes to such slices and reads back
/// only what it wrote, so that what they hold before does not matter.
///
/// # Safety
/// As [`input`].
pub(crate) unsafe fn output<'a, T>(data: *mut T, n: usize, name: &str) -> Checked<&'a mut [T]> {
    if n == 0 {
        return Ok(&mut []);
    }
    check(data, n, name)?;
    // SAFETY: not NULL, aligned, of a length that a slice may have; the rest is promised.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, n) })
}

/// `n` numbers of a type to read.
///
/// # Safety
/// As [`input`].
pub(crate) unsafe fn numbers<'a>(
    ty: NumberType,
    data: *const c_void,
    n: usize,
    name: &str,
) -> Checked<AnySlice<'a>> {
    // SAFETY: promised.
    Ok(with_number_type!(ty, T => unsafe { input::<T>(data.cast(), n, name)? }.into()))
}

/// `n` numbers of a type to write.
///
/// # Safety
/// As [`input`].
pub(crate) unsafe fn numbers_mut<'a>(
    ty: NumberType,
    data: *mut c_void,
    n: usize,
    name: &str,
) -> Checked<AnySliceMut<'a>> {
    // SAFETY: promised.
    Ok(with_number_type!(ty, T => unsafe { output::<T>(data.cast(), n, name)? }.into()))
}

/// Bytes of `n` numbers of a type, as far as memory goes.
pub(crate) fn size_of_numbers(ty: NumberType, n: usize) -> usize {
    n.saturating_mul(ty.bytes())
}

/// Input and output must not share memory; of no elements there is none to share, wherever the
/// pointer leads.
pub(crate) fn apart<A, B>(src: *const A, src_n: usize, dst: *const B, dst_n: usize) -> Checked<()> {
    if src_n == 0 || dst_n == 0 {
        return Ok(());
    }
    let end = |start: usize, n: usize, size: usize| start.saturating_add(n.saturating_mul(size));
    let (a, b) = (src.addr(), dst.addr());
    if a < end(b, dst_n, size_of::<B>()) && b < end(a, src_n, size_of::<A>()) {
        return Err(Failure::invalid("input and output overlap"));
    }
    Ok(())
}

/// Writes where the caller wants to know.
///
/// # Safety
/// `out` is NULL, or may be written to; it need be neither aligned nor initialised.
pub(crate) unsafe fn store<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: promised.
        unsafe { out.write_unaligned(value) };
    }
}

/// An output that cannot be left out.
pub(crate) fn required<T>(out: *mut T, name: &str) -> Checked<()> {
    check(out.cast_const(), 1, name)
}

/// A string of the caller; `None` for NULL.
///
/// # Safety
/// It ends with a NUL, and the promise at the head of this module.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Checked<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL; the rest is promised.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str().map_err(|_| Failure::invalid(format!("{name} is not UTF-8")))?;
    Ok(Some(text))
}

/// An object that this library made, or a structure of the caller.
///
/// # Safety
/// `object` is NULL or points to a `T` that is alive.
pub(crate) unsafe fn reference<'a, T>(object: *const T, name: &str) -> Checked<&'a T> {
    check(object, 1, name)?;
    // SAFETY: not NULL, aligned; the rest is promised.
    Ok(unsafe { &*object })
}

/// Drops an object that this library made; NULL is none.
///
/// # Safety
/// NULL, or what `Box::into_raw` gave, not dropped yet and not in use.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: promised.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// A structure whose first field is its size in bytes, and in which every byte may be anything.
///
/// # Safety
/// Only for structures of plain integers and pointers that begin with a `size_t`.
pub(crate) unsafe trait Options: Copy {}

/// The caller's options. Those that an older header does not have keep their defaults; those that
/// this library does not know must be 0.
///
/// # Safety
/// `options` is NULL or points to as many bytes as its first field says.
pub(crate) unsafe fn options<T: Options>(options: *const T, default: T, name: &str) -> Checked<T> {
    /// What no structure of options comes near to: its size was not set.
    const MOST: usize = 4096;
    if options.is_null() {
        return Ok(default);
    }
    check(options, 1, name)?;
    // SAFETY: not NULL, aligned; the first field is there, as promised.
    let size = unsafe { options.cast::<usize>().read() };
    if !(size_of::<usize>()..=MOST).contains(&size) {
        let what = format!("{name} says to have {size} bytes; lt_{name}_init was not called");
        return Err(Failure::invalid(what));
    }
    // SAFETY: `size` bytes are there, as promised.
    let bytes = unsafe { std::slice::from_raw_parts(options.cast::<u8>(), size) };
    if bytes.iter().skip(size_of::<T>()).any(|byte| *byte != 0) {
        let what = format!("{name} sets what only a newer version of latens has");
        return Err(Failure::invalid(what));
    }
    let mut out = default;
    let known = size.min(size_of::<T>());
    // SAFETY: both have `known` bytes, and a `T` may hold any, as its trait promises.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut out).cast::<u8>(), known);
    }
    Ok(out)
}

/// Fills the caller's structure of `size` bytes with defaults.
///
/// # Safety
/// `options` is NULL or has room for `size` bytes. `default.size` is as the caller's should be.
pub(crate) unsafe fn init<T: Options>(options: *mut T, size: usize, default: T) {
    if options.is_null() || size < size_of::<usize>() {
        return;
    }
    let known = size.min(size_of::<T>());
    // SAFETY: there is room, as promised, and `default` has `known` bytes.
    unsafe {
        std::ptr::write_bytes(options.cast::<u8>(), 0, size);
        std::ptr::copy_nonoverlapping((&raw const default).cast::<u8>(), options.cast(), known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::lt_decode_options;

    #[test]
    fn pointers_that_cannot_be() {
        let numbers = [1u32, 2, 3];
        let odd = numbers.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
        // SAFETY: refused before it is read, or of `numbers`.
        unsafe {
            assert!(input::<u32>(std::ptr::null(), 1, "x").is_err());
            assert!(input::<u32>(odd, 1, "x").is_err());
            assert!(input(numbers.as_ptr(), usize::MAX, "x").is_err());
            assert!(input(numbers.as_ptr(), usize::MAX / 4, "x").is_err());
            assert_eq!(input(numbers.as_ptr(), 3, "x").unwrap(), numbers);
            assert!(input::<u32>(std::ptr::null(), 0, "x").unwrap().is_empty());
            assert!(output::<u32>(odd.cast_mut(), 0, "x").unwrap().is_empty());
            assert!(reference::<u32>(odd, "x").is_err());
        }
    }

    #[test]
    fn shared_memory() {
        let bytes = [0u8; 64];
        let at = |i: usize| bytes.as_ptr().wrapping_add(i);
        assert!(apart(at(0), 8, at(8).cast::<u32>(), 2).is_ok());
        assert!(apart(at(0), 9, at(8).cast::<u32>(), 2).is_err());
        assert!(apart(at(15), 1, at(8).cast::<u32>(), 2).is_err());
        assert!(apart(at(16), 1, at(8).cast::<u32>(), 2).is_ok());
        assert!(apart(at(8), 0, at(8).cast::<u32>(), 2).is_ok());
        assert!(apart(at(12), 0, at(8).cast::<u32>(), 2).is_ok());
        assert!(apart(at(8), 8, at(12).cast::<u32>(), 0).is_ok());
    }

    /// Callers with headers older and newer than the library.
    #[test]
    fn options_of_other_sizes() {
        #[repr(C)]
        struct Newer {
            now: lt_decode_options,
            then: u64,
        }
        let default = lt_decode_options::new(size_of::<lt_decode_options>());
        let mut older = default;
        (older.size, older.max_output, older.threads) = (16, 5, 77);
        let mut newer = Newer { now: default, then: 0 };
        newer.now.size = size_of::<Newer>();
        // SAFETY: all are as large as they say.
        unsafe {
            let found = options(&raw const older, default, "decode_options").unwrap();
            assert_eq!((found.max_output, found.threads), (5, default.threads));
            assert!(options(&raw const newer.now, default, "decode_options").is_ok());
            newer.then = 1;
            let newer = (&raw const newer).cast::<lt_decode_options>();
            assert!(options(newer, default, "decode_options").is_err());
            older.size = 0;
            assert!(options(&raw const older, default, "decode_options").is_err());
        }
        let mut filled = [0xffu8; 200];
        // SAFETY: there is room for as many.
        unsafe { init(filled.as_mut_ptr().cast(), 100, lt_decode_options::new(100)) };
        assert_eq!(filled[..8], 100usize.to_ne_bytes());
        assert!(filled[size_of::<lt_decode_options>()..100].iter().all(|byte| *byte == 0));
        assert!(filled[100..].iter().all(|byte| *byte == 0xff));
    }
}
