//! Rare pairs are said apart, where some are rare.

use super::wcodec_common::{Random, safetensors};
use super::{BLOCK, WEIGHTS, coding, comes_back, encode};
use latens::Limits;
use latens::wcodec::Reader;

const SIDE: usize = 512;

/// Weights of which symbol s comes as often as `weights` say.
fn drawn(weights: [usize; 16]) -> Vec<u8> {
    let mut random = Random(8);
    let slots: Vec<u8> =
        (0..16u8).zip(weights).flat_map(|(symbol, n)| std::iter::repeat_n(symbol, n)).collect();
    let mut nibble = || slots[random.below(slots.len())];
    let packed = (0..SIDE * SIDE / 2).map(|_| nibble() | nibble() << 4).collect();
    let side = SIDE as u64;
    let scales = [0x80, 0x3f].repeat(SIDE * SIDE / BLOCK);
    safetensors(&[
        (WEIGHTS, "I32", &[side, side / 8], packed),
        ("w.weight_scale", "BF16", &[side, side / BLOCK as u64], scales),
    ])
}

#[test]
fn rare_pairs_are_said_apart() {
    let bell = [1, 2, 5, 12, 25, 45, 65, 80, 80, 65, 45, 25, 12, 5, 2, 1];
    // Of one symbol in twenty, an escape would cost more than the slots of all pairs.
    let flat = [6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 16, 16, 6];
    for (weights, apart) in [(bell, true), (flat, false)] {
        let source = drawn(weights);
        let reader = Reader::open(encode(&source, 8, 2), Limits::default()).unwrap();
        let coding = coding(&reader, 0..SIDE as u64);
        assert_eq!((coding.pairs, coding.escape.is_some()), (true, apart), "{weights:?}");
        comes_back(&reader, &source, SIDE, &[0..3, 100..101, 300..SIDE as u64]);
    }
}
