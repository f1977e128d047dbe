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

fn role(index: usize) -> Role {
    if index == 0 { Role::Exponent } else { Role::Mantissa }
}

pub(super) fn parts(width: u8, cols: u64) -> Vec<PartLayout> {
    let form = Form::Symbols { bits: 8, cols };
    (0..usize::from(width)).map(|i| PartLayout { role: role(i), form }).collect()
}

/// Calls the body with the integer type of a width.
macro_rules! with_word {
    ($width:expr, $word:ident => $body:expr) => {
        match $width {
            2 => {
                type $word = u16;
                $body
            }
            4 => {
                type $word = u32;
                $body
            }
            _ => {
                type $word = u64;
                $body
            }
        }
    };
}

pub(super) fn split(bytes: &[u8], width: u8, rows: usize, cols: usize) -> Vec<Part> {
    let mut planes = vec![Vec::with_capacity(rows * cols); usize::from(width)];
    with_word!(width, Word => {
        for bytes in bytes.as_chunks().0 {
            let turned = Word::from_le_bytes(*bytes).rotate_left(1);
            for (plane, byte) in planes.iter_mut().zip(turned.to_be_bytes()) {
                plane.push(byte);
            }
        }
    });
    let part = |(i, data)| parts::plane(role(i), rows, cols, 8, data);
    planes.into_iter().enumerate().map(part).collect()
}

pub(super) fn join(parts: &[Part], width: u8) -> Vec<u8> {
    let planes: Vec<&[u8]> = parts.iter().map(parts::data).collect();
    let mut out = vec![0; parts.iter().map(|p| parts::data(p).len()).sum()];
    with_word!(width, Word => {
        for (i, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let mut turned = Word::default().to_be_bytes();
            for (byte, plane) in turned.iter_mut().zip(&planes) {
                *byte = plane[i];
            }
            *out = Word::from_be_bytes(turned).rotate_right(1).to_le_bytes();
        }
    });
    out
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
