//! Floats as planes of bytes.
//!
//! A float is turned left by one bit, so that its sign comes last, and cut into bytes from the top:
//!
//! | type | exponent plane | mantissa planes |
//! |---|---|---|
//! | BF16 | 8 bits of exponent | 7 of mantissa, sign |
//! | F16 | 5 of exponent, 3 of mantissa | 7 of mantissa, sign |
//! | F32 | 8 of exponent | 8 of mantissa; 8; 7 and sign |
//! | F64 | upper 8 of exponent | 3 of exponent and 5 of mantissa; 5 × 8; 7 and sign |

use super::super::plane::{Part, Role};
use super::parts::{self, Form, PartLayout};
use latens_kernels::dispatch::Present;

fn role(index: usize) -> Role {
    if index == 0 { Role::Exponent } else { Role::Mantissa }
}

pub(super) fn parts(width: u8, cols: u64) -> Vec<PartLayout> {
    let form = Form::Symbols { bits: 8, cols };
    (0..usize::from(width)).map(|i| PartLayout { role: role(i), form }).collect()
}

/// A plane of floats of one width.
macro_rules! for_width {
    ($plane:ident, $word:ty, $width:literal) => {
        #[inline(always)]
        fn $plane(bytes: &[u8], index: usize, out: &mut [u8]) {
            let shift = 8 * ($width - 1 - index);
            for (out, word) in out.iter_mut().zip(bytes.as_chunks::<$width>().0) {
                [*out, ..] = (<$word>::from_le_bytes(*word).rotate_left(1) >> shift).to_le_bytes();
            }
        }
    };
}

for_width!(plane2, u16, 2);
for_width!(plane4, u32, 4);
for_width!(plane8, u64, 8);

/// The plane at `index`, below `width`: a byte of each float.
pub(crate) fn plane(bytes: &[u8], width: u8, index: usize, out: &mut [u8]) {
    Present::in_use().call(
        #[inline(always)]
        || match width {
            2 => plane2(bytes, index, out),
            4 => plane4(bytes, index, out),
            _ => plane8(bytes, index, out),
        },
    );
}

pub(super) fn split(bytes: &[u8], width: u8, rows: usize, cols: usize) -> Vec<Part> {
    let part = |i| {
        let mut data = vec![0; bytes.len() / usize::from(width)];
        plane(bytes, width, i, &mut data);
        parts::plane(role(i), rows, cols, 8, data)
    };
    (0..usize::from(width)).map(part).collect()
}

/// Floats of `planes`, to where there is room for them.
pub(super) fn join(planes: &[&[u8]], out: &mut [u8]) {
    Present::in_use().call(
        #[inline(always)]
        || join_planes(planes, out),
    );
}

#[inline(always)]
fn join_planes(planes: &[&[u8]], out: &mut [u8]) {
    match *planes {
        [a, b] => {
            for ((out, a), b) in out.as_chunks_mut().0.iter_mut().zip(a).zip(b) {
                *out = u16::from_be_bytes([*a, *b]).rotate_right(1).to_le_bytes();
            }
        }
        [a, b, c, d] => {
            let words = out.as_chunks_mut().0.iter_mut();
            for ((((out, a), b), c), d) in words.zip(a).zip(b).zip(c).zip(d) {
                *out = u32::from_be_bytes([*a, *b, *c, *d]).rotate_right(1).to_le_bytes();
            }
        }
        _ => {
            out.fill(0);
            for (plane, k) in planes.iter().zip(0u32..) {
                for (out, byte) in out.as_chunks_mut().0.iter_mut().zip(*plane) {
                    let part = (u64::from(*byte) << (56 - 8 * k)).rotate_right(1);
                    *out = (u64::from_le_bytes(*out) | part).to_le_bytes();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::plane::Content;
    use super::*;

    #[test]
    fn exponent_and_mantissa() {
        // BF16 −1.5: sign 1, exponent 127, mantissa 1000000.
        let parts = split(&0xbfc0u16.to_le_bytes(), 2, 1, 1);
        assert_eq!(parts::data(&parts[0]), [127]);
        assert_eq!(parts::data(&parts[1]), [0b1000_0001]);
        assert!(matches!(&parts[0].content, Content::Symbols(p) if p.bits == 8));
        let parts = split(&(-1.5f32).to_le_bytes(), 4, 1, 1);
        let planes: Vec<u8> = parts.iter().flat_map(|p| parts::data(p).to_vec()).collect();
        assert_eq!(planes, [127, 128, 0, 1]);
    }
}
