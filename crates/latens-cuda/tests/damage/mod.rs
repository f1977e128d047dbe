//! Files of some kilobytes, and what is done to them.

#![allow(dead_code, unreachable_pub, clippy::cast_possible_truncation, reason = "tests")]

use super::wcodec_common::Random;
use super::wcodec_common::mend::Parts;
use super::wcodec_common::samples::{self, Sample};

/// Changes some bytes; the length stays.
fn damage(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        // Records of tiles and states come first.
        let at = if random.below(3) == 0 { random.below(bytes.len().min(140)) } else { at };
        match random.below(5) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            3 => bytes[at..].fill(0),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

fn havoc(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    if random.below(6) == 0 && !bytes.is_empty() {
        let at = random.below(bytes.len());
        if random.below(2) == 0 {
            let _ = bytes.remove(at);
        } else {
            bytes.insert(at, random.next() as u8);
        }
    }
    damage(bytes, random);
}

/// Samples of some kilobytes, in groups of a few hundred symbols; every coder.
pub fn grounds() -> Vec<Sample> {
    let mut all = samples::all(28);
    all.iter_mut().for_each(|s| s.config = s.config.clone().group_symbols(700));
    all
}

/// The grounds taken apart.
pub fn apart() -> Vec<(&'static str, Parts)> {
    grounds().iter().map(|s| (s.name, Parts::of(&s.compress()))).collect()
}

/// Damaged file number `case`, its checksums right, and what it was made of.
pub fn damaged(grounds: &[(&'static str, Parts)], case: usize) -> (&'static str, Vec<u8>) {
    let mut random = Random(case as u64);
    let (name, parts) = &grounds[case % grounds.len()];
    let mut parts = parts.clone();
    let other = &grounds[random.below(grounds.len())].1;
    parts.mutate(other, &mut random, havoc);
    (name, parts.bytes())
}

/// How many files are damaged.
pub fn cases(default: usize) -> usize {
    std::env::var("LATENS_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
