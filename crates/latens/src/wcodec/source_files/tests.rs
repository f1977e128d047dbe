#![allow(clippy::unwrap_used, reason = "tests")]

use crate::Limits;
use crate::wcodec::{BaseFile, Config, Reader, compress_checkpoint, made};

/// The head is there whatever there is of the rest: tensors that are damaged, a base that is missing, files above the
/// limit.
#[test]
fn heads_are_read_without_tensors() {
    let tensors = [("a", "I8", "[160,32]", 160 * 32), ("b", "U8", "[3]", 3)];
    let make = |salt: usize| {
        made::safetensors(&tensors, move |_, start, i| {
            (((i + salt) * (i + salt) + start).wrapping_mul(0x9e37_79b9) >> 13) & 7
        })
    };
    let source = make(0);
    let header = source.len() - 160 * 32 - 3;
    let config = Config::default().threads(1);
    let plain = compress_checkpoint(&made::checkpoint(source.clone()), None, &config, Vec::new());
    let plain = plain.unwrap();
    let reader = |file: &[u8], limits| Reader::open(file.to_vec(), limits).unwrap();

    let whole = reader(&plain, Limits::default());
    for most in [0, 1, 8, 9, header as u64, u64::MAX] {
        let wanted = &source[..usize::try_from(most).map_or(header, |most| most.min(header))];
        assert_eq!(whole.file_head(0, most).unwrap(), wanted, "{most}");
    }
    assert!(whole.file_head(1, 8).unwrap_err().to_string().contains("no file 1"));

    let limited = reader(&plain, Limits::default().max_output(header as u64));
    assert!(limited.write_file(0, &mut Vec::new()).unwrap_err().is_limit());
    assert_eq!(limited.file_head(0, u64::MAX).unwrap(), source[..header]);
    let less = reader(&plain, Limits::default().max_output(header as u64 - 1));
    assert!(less.file_head(0, u64::MAX).unwrap_err().is_limit());

    // Every byte of the data in turn: where tensors cannot be read, the head is there or said to be damaged.
    let mut spared = 0;
    for at in (64..plain.len() / 2).step_by(7) {
        let mut bad = plain.clone();
        bad[at] ^= 0x10;
        let Ok(bad) = Reader::open(bad, Limits::default()) else { continue };
        if bad.tensor(0).is_err() {
            assert_eq!(bad.file_head(0, u64::MAX).unwrap(), source[..header], "byte {at}");
            spared += 1;
        }
    }
    assert!(spared > 10);

    let base = Reader::open(plain, Limits::default()).unwrap();
    let against = Some(BaseFile { base: &base, name: "base" });
    let next = make(160 * 32 + 1);
    let coded = compress_checkpoint(&made::checkpoint(next.clone()), against, &config, Vec::new());
    let coded = reader(&coded.unwrap(), Limits::default());
    assert_eq!(coded.file_head(0, u64::MAX).unwrap(), next[..header]);
}
