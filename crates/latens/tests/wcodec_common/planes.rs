//! A checkpoint of planes of symbols, of each number of bits.

use super::{Random, safetensors};

/// Eight, four, three and two bits, smooth and not, of the largest steps too.
pub fn planes(rows: usize, cols: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let (r, c) = (rows as u64, cols as u64);
    let plain = |random: &mut Random| -> Vec<u8> {
        (0..rows * cols).map(|i| random.int8(5.0 + (i % cols) as f64)).collect()
    };
    let smooth: Vec<u8> = (0..rows * cols)
        .map(|i| ((i / cols * 3 + i % cols * 2) & 0xff) as u8 ^ (random.next() & 1) as u8)
        .collect();
    let extreme: Vec<u8> =
        (0..rows * cols).map(|_| if random.next() & 1 == 0 { 0x80 } else { 0x7f }).collect();
    let nibbles: Vec<u8> = (0..rows * cols.div_ceil(8) * 4)
        .map(|_| (random.int8(1.5) & 15) | (random.int8(2.5) << 4))
        .collect();
    // GPTQ's, whose bits follow from its indices.
    let words = r.div_ceil(16);
    let crumbs: Vec<u8> = (0..4 * words * c).map(|_| random.next() as u8).collect();
    let runs = r.div_ceil(32);
    let threes: Vec<u8> = (0..12 * runs * c).map(|_| random.next() as u8).collect();
    safetensors(&[
        ("g.qweight", "I32", &[words, c], crumbs),
        ("g.scales", "F16", &[1, c], 0x3c00u16.to_le_bytes().repeat(cols)),
        ("g.g_idx", "I32", &[16 * words], vec![0; 64 * words as usize]),
        ("three.qweight", "I32", &[3 * runs, c], threes),
        ("three.scales", "F16", &[1, c], 0x3c00u16.to_le_bytes().repeat(cols)),
        ("three.g_idx", "I32", &[32 * runs], vec![0; 128 * runs as usize]),
        ("plain", "I8", &[r, c], plain(&mut random)),
        ("smooth", "U8", &[r, c], smooth),
        ("extreme", "I8", &[r, c], extreme),
        ("n.weight_packed", "I32", &[r, c.div_ceil(8)], nibbles),
    ])
}
