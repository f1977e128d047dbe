//! The scales of Q4_K and Q5_K: eight scales and eight minima of 6 bits in 12 bytes.
//!
//! | bytes | bits 0 to 5 | bits 6 and 7 |
//! |---|---|---|
//! | 0 to 3 | scales 0 to 3 | upper bits of scales 4 to 7 |
//! | 4 to 7 | minima 0 to 3 | upper bits of minima 4 to 7 |
//! | 8 to 11 | bits 0 to 3: low bits of scales 4 to 7; bits 4 to 7: low bits of minima 4 to 7 | |

/// Scales and minima.
pub(super) fn unpack(bytes: &[u8; 12]) -> ([u8; 8], [u8; 8]) {
    let (mut scales, mut mins) = ([0; 8], [0; 8]);
    for j in 0..4 {
        let (a, b, c) = (bytes[j], bytes[j + 4], bytes[j + 8]);
        (scales[j], mins[j]) = (a & 63, b & 63);
        scales[j + 4] = (c & 15) | ((a >> 6) << 4);
        mins[j + 4] = (c >> 4) | ((b >> 6) << 4);
    }
    (scales, mins)
}

/// The inverse of [`unpack`].
pub(super) fn pack(scales: &[u8; 8], mins: &[u8; 8]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for j in 0..4 {
        bytes[j] = (scales[j] & 63) | ((scales[j + 4] >> 4) << 6);
        bytes[j + 4] = (mins[j] & 63) | ((mins[j + 4] >> 4) << 6);
        bytes[j + 8] = (scales[j + 4] & 15) | (mins[j + 4] << 4);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_has_one_place() {
        for bit in 0..96 {
            let mut bytes = [0u8; 12];
            bytes[bit / 8] = 1 << (bit % 8);
            let (scales, mins) = unpack(&bytes);
            let ones: u32 = scales.iter().chain(&mins).map(|b| b.count_ones()).sum();
            assert_eq!(ones, 1, "bit {bit}");
            assert!(scales.iter().chain(&mins).all(|&v| v < 64), "bit {bit}");
            assert_eq!(pack(&scales, &mins), bytes, "bit {bit}");
        }
    }
}
