//! Tables of CRC-32 for the kernels: by a byte, and by 128 bytes for each byte of the sum.

/// The polynomial of IEEE 802.3, reflected.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// Five tables of 256 numbers, little-endian.
pub(crate) fn tables() -> Vec<u8> {
    let by_bit = |crc: u32| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    let by_byte: Vec<u32> = (0..256).map(|byte| (0..8).fold(byte, |crc, _| by_bit(crc))).collect();
    let step = |crc: u32| by_byte[usize::from(crc.to_le_bytes()[0])] ^ crc >> 8;
    // Sums of bits are sums of their sums: 32 powers of two give all of them.
    let powers: Vec<u32> = (0..32).map(|bit| (0..128).fold(1 << bit, |crc, _| step(crc))).collect();
    let row = |crc: u32| {
        let set = powers.iter().enumerate().filter(|(bit, _)| crc >> bit & 1 == 1);
        set.fold(0, |sum, (_, power)| sum ^ power)
    };
    let by_row = (0..4).flat_map(|shift| (0..256u32).map(move |byte| row(byte << (8 * shift))));
    by_byte.iter().copied().chain(by_row).flat_map(u32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_128_bytes() {
        let tables = tables();
        let at = |table: usize, byte: u32| {
            let start = 4 * (256 * table + byte as usize);
            u32::from_le_bytes(tables[start..][..4].try_into().unwrap_or_default())
        };
        for crc in [1u32, 0xdead_beef, u32::MAX] {
            let row: u32 = (0..4).fold(0, |sum, k| sum ^ at(1 + k, crc >> (8 * k) & 255));
            let bytes = (0..128).fold(crc, |crc, _| at(0, crc & 255) ^ crc >> 8);
            assert_eq!(row, bytes);
        }
        let crc = b"123456789"
            .iter()
            .fold(u32::MAX, |crc, &b| at(0, (crc ^ u32::from(b)) & 255) ^ crc >> 8);
        assert_eq!(!crc, 0xcbf4_3926);
    }
}
