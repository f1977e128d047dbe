//! What the tests of DELTA_BINARY_PACKED share: a model of the format, written bit by bit, that
//! shares no code with the library; noise.
#![allow(unreachable_pub, dead_code, reason = "no test file uses all of it")]
#![allow(clippy::cast_possible_truncation, clippy::unwrap_used, reason = "tests")]

/// Numbers that look random, the same on every run.
pub fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

pub fn uleb(mut value: u128, out: &mut Vec<u8>) {
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { byte } else { byte | 0x80 });
        if value == 0 {
            return;
        }
    }
}

pub fn zigzag(value: i64, out: &mut Vec<u8>) {
    let value = i128::from(value);
    uleb(if value < 0 { (-2 * value - 1) as u128 } else { (2 * value) as u128 }, out);
}

/// A stream put together by hand: the header, then blocks as they are given.
pub struct Page {
    pub bytes: Vec<u8>,
}

impl Page {
    pub fn new(block_size: u64, miniblocks: u64, count: u64, first: i64) -> Self {
        let mut bytes = Vec::new();
        uleb(block_size.into(), &mut bytes);
        uleb(miniblocks.into(), &mut bytes);
        uleb(count.into(), &mut bytes);
        zigzag(first, &mut bytes);
        Page { bytes }
    }

    /// A block: its minimum, its widths, and the fields of each body.
    pub fn block(mut self, min: i64, widths: &[u8], bodies: &[&[u64]]) -> Self {
        zigzag(min, &mut self.bytes);
        self.bytes.extend(widths);
        for (fields, &width) in bodies.iter().zip(widths) {
            self.bytes.extend(pack(fields, width));
        }
        self
    }
}

pub fn pack(fields: &[u64], width: u8) -> Vec<u8> {
    let width = usize::from(width);
    let mut bytes = vec![0u8; (fields.len() * width).div_ceil(8)];
    for (i, field) in fields.iter().enumerate() {
        for bit in 0..width {
            let at = i * width + bit;
            bytes[at / 8] |= ((field >> bit & 1) as u8) << (at % 8);
        }
    }
    bytes
}

/// The model's decoder: values mod 2^`bits` and the bytes consumed, or `None` for what it refuses.
/// Lenient as `Options::default()` is. At most `most` values.
pub fn model_decode(bytes: &[u8], bits: u32, most: u64) -> Option<(Vec<u64>, usize)> {
    fn uleb(bytes: &[u8], at: &mut usize) -> Option<u64> {
        let mut value = 0u128;
        for i in 0..10 {
            let byte = *bytes.get(*at)?;
            *at += 1;
            value |= u128::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                return u64::try_from(value).ok();
            }
        }
        None
    }
    fn zigzag(bytes: &[u8], at: &mut usize) -> Option<i64> {
        let image = i128::from(uleb(bytes, at)?);
        Some((if image % 2 == 0 { image / 2 } else { -(image + 1) / 2 }) as i64)
    }
    if bytes.is_empty() {
        return Some((Vec::new(), 0));
    }
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let mut at = 0;
    let block_size = uleb(bytes, &mut at)?;
    let miniblocks = uleb(bytes, &mut at)?;
    if block_size == 0 || block_size % 128 != 0 || miniblocks == 0 || block_size % miniblocks != 0 {
        return None;
    }
    let step = block_size / miniblocks;
    if step % 32 != 0 {
        return None;
    }
    let count = uleb(bytes, &mut at)?;
    let first = zigzag(bytes, &mut at)?;
    if count > most {
        return None;
    }
    let mut values = Vec::new();
    if count > 0 {
        values.push(first as u64 & mask);
    }
    while (values.len() as u64) < count {
        let min = zigzag(bytes, &mut at)?;
        let miniblocks = usize::try_from(miniblocks).ok()?;
        let widths = bytes.get(at..)?.get(..miniblocks)?;
        at += miniblocks;
        for &width in widths {
            let left = count - values.len() as u64;
            if left == 0 {
                break;
            }
            if width > 64 {
                return None;
            }
            let size = u128::from(step) * u128::from(width) / 8;
            let here = left.min(step);
            let body = &bytes[at..];
            let needed = (u128::from(here) * u128::from(width)).div_ceil(8);
            let ends_here = left <= step;
            if (body.len() as u128) < if ends_here { needed } else { size } {
                return None;
            }
            for i in 0..here as usize {
                let mut field = 0u64;
                for bit in 0..usize::from(width) {
                    let at = i * usize::from(width) + bit;
                    field |= u64::from(body[at / 8] >> (at % 8) & 1) << bit;
                }
                let last = values[values.len() - 1];
                values.push(last.wrapping_add(min as u64).wrapping_add(field) & mask);
            }
            at += size.min(body.len() as u128) as usize;
        }
    }
    Some((values, at))
}
