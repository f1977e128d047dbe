//! Fetching memory into the cache ahead of time.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Has the memory of `slice` fetched, to be written soon. It stays as it is.
#[inline]
pub fn to_write<T>(slice: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    {
        let start = slice.as_mut_ptr().cast::<u8>();
        for byte in (0..size_of_val(slice)).step_by(LINE) {
            // SAFETY: the instruction changes nothing that a program can see, whatever the address;
            // processors of 64 bits that do not have it pass over it.
            unsafe {
                std::arch::asm!(
                    "prefetchw [{0}]",
                    in(reg) start.wrapping_add(byte),
                    options(nostack, preserves_flags, readonly),
                );
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_changes() {
        let mut numbers = [1u64, 2, 3];
        super::to_write(&mut numbers);
        super::to_write(&mut numbers[..0]);
        assert_eq!(numbers, [1, 2, 3]);
    }
}
