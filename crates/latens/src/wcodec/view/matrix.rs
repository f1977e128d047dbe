//! The shape of a tensor as rows and columns.

use super::super::dtype::{Dtype, elements};

/// Longest vector that is one row; longer ones are folded where they can be.
const LONGEST_ROW: u64 = 1 << 16;
/// What a folded vector has at most as columns, and at least.
const FOLD: (u64, u64) = (4096, 64);
/// Last dimensions from here on are rows of their own in tensors of three and more dimensions:
/// stacked matrices. Shorter ones are kernels of convolutions.
const STACKED: u64 = 64;

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Rows and columns of a tensor without empty dimensions.
///
/// | shape | rows × columns |
/// |---|---|
/// | `[]` | 1 × 1 |
/// | `[n]` | 1 × n, or n/c × c for long ones, c ≤ 4096 |
/// | `[a, b]` | a × b |
/// | `[out, in, k]`, `[out, in, k, k]`, a convolution | out × in·k·k |
/// | `[e, a, b]` with b ≥ 64, stacked matrices | e·a × b |
///
/// `None` when there are too many elements for 64 bits, or none.
pub(super) fn of(shape: &[u64]) -> Option<(u64, u64)> {
    let n = elements(shape)?;
    let (&last, before) = match shape {
        [] => return Some((1, 1)),
        _ if n == 0 => return None,
        [_] if n <= LONGEST_ROW => return Some((1, n)),
        [_] => {
            let cols = gcd(n, FOLD.0);
            return Some(if cols < FOLD.1 { (1, n) } else { (n / cols, cols) });
        }
        [before @ .., last] => (last, before),
    };
    if before.len() == 1 || last >= STACKED {
        Some((n / last, last))
    } else {
        let rows = *before.first()?;
        Some((rows, n / rows))
    }
}

/// Rows and columns of a tensor of `len` bytes taken as words of `width` bytes. Elements that are
/// packed in bytes count as bytes, complex numbers as two words.
pub(super) fn of_words(dtype: Dtype, shape: &[u64], len: u64, width: u64) -> Option<(u64, u64)> {
    (elements(shape).and_then(|n| dtype.bytes(n))? == len).then_some(())?;
    let (rows, cols) = of(shape)?;
    let row_bytes = if dtype.width().is_some() {
        cols.checked_mul(u64::from(dtype.width()?))?
    } else {
        (len.is_multiple_of(rows)).then_some(len / rows)?
    };
    (row_bytes.is_multiple_of(width)).then_some((rows, row_bytes / width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (shape, want) in [
            (&[][..], Some((1, 1))),
            (&[384], Some((1, 384))),
            (&[1 << 20], Some((256, 4096))),
            (&[(1 << 20) + 1], Some((1, (1 << 20) + 1))),
            (&[3 << 20], Some((768, 4096))),
            (&[30_522, 1], Some((30_522, 1))),
            (&[64, 3, 3, 3], Some((64, 27))),
            (&[96, 1, 3, 3], Some((96, 9))),
            (&[384, 80, 3], Some((384, 240))),
            (&[8, 512, 1024], Some((4096, 1024))),
            (&[5, 0], None),
            (&[u64::MAX, 2], None),
        ] {
            assert_eq!(of(shape), want, "{shape:?}");
        }
    }

    #[test]
    fn words_of_other_widths() {
        assert_eq!(of_words(Dtype::I32, &[3, 5], 60, 1), Some((3, 20)));
        assert_eq!(of_words(Dtype::U8, &[3, 8], 24, 4), Some((3, 2)));
        assert_eq!(of_words(Dtype::U8, &[3, 6], 18, 4), None);
        assert_eq!(of_words(Dtype::F16, &[3, 6], 35, 2), None);
        assert_eq!(of_words(Dtype::F4, &[3, 6], 9, 1), Some((3, 3)));
        assert_eq!(of_words(Dtype::Unknown, &[3, 6], 18, 1), None);
    }
}
