#![allow(clippy::unwrap_used, reason = "tests")]

use crate::Limits;
use crate::wcodec::decode::part::most_together;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::{Config, Reader, compress_checkpoint, made};

/// While there is a tensor for each thread, pieces are as large as they are for one alone.
#[test]
fn tensors_that_others_wait_behind_are_in_large_pieces() {
    let source = made::safetensors(&[("f", "I8", "[160,32]", 160 * 32)], |_, start, i| {
        ((i * i + start).wrapping_mul(0x9e37_79b9) >> 13 & 7) + i / 48 % 9
    });
    let config = Config::default().level(8).threads(1).group_symbols(512);
    let file = compress_checkpoint(&made::checkpoint(source), None, &config, Vec::new()).unwrap();
    let pieces = |threads: usize, behind: usize| {
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(threads);
        let (number, _) = reader.tensors().next().unwrap();
        let open = OpenTensor::open(&reader, number).unwrap().before(behind);
        open.pieces().unwrap().unwrap().len()
    };
    let alone = pieces(1, 0);
    assert_eq!(alone, 10usize.div_ceil(most_together()));
    assert_eq!(pieces(2, 1), alone);
    assert_eq!(pieces(4, 3), alone);
    assert_eq!(pieces(4, 2), pieces(4, 0));
    if most_together() > 1 {
        assert!(pieces(4, 0) > alone);
    }
}
