#![allow(clippy::unwrap_used, reason = "tests")]

use crate::wcodec::{Config, Reader, compress_checkpoint, made};
use crate::{Error, Limits};

/// A file of tensors that are coded in all ways: in pieces, joined from parts, as bytes, some of them small.
fn file() -> Vec<u8> {
    let tensors = [
        ("a.weight", "I8", "[96,64]", 96 * 64),
        ("a.weight_scale", "BF16", "[96,1]", 192),
        ("b.weight_packed", "I32", "[64,16]", 64 * 16 * 4),
        ("b.weight_scale", "BF16", "[64,1]", 128),
        ("c", "F32", "[300,8]", 9600),
        ("d", "U8", "[7,13]", 91),
        ("e", "F16", "[0,4]", 0),
        ("f", "I8", "[160,32]", 160 * 32),
        ("g", "I32", "[9]", 36),
        ("h", "U8", "[200000]", 200_000),
    ];
    let source = made::safetensors(&tensors, |name, start, i| {
        let noise = (i * i + start).wrapping_mul(0x9e37_79b9) >> 13 & 7;
        // The last one claims more than it has earned.
        if name == "h" { 0 } else { noise + i / 48 % 9 }
    });
    let config = Config::default().level(8).threads(1).group_symbols(512);
    compress_checkpoint(&made::checkpoint(source), None, &config, Vec::new()).unwrap()
}

/// What `for_each` hands over, and how it ends.
fn all(reader: &Reader<Vec<u8>>, numbers: &[usize], back: bool) -> (Vec<Vec<u8>>, Option<String>) {
    let mut found = Vec::new();
    let done = reader.for_each(numbers, |number, bytes| {
        assert_eq!(number, numbers[found.len()]);
        found.push(bytes.clone());
        Ok(back.then_some(bytes))
    });
    (found, done.err().map(|error| error.to_string()))
}

/// The same, one tensor after the other.
fn one_by_one(reader: &Reader<Vec<u8>>, numbers: &[usize]) -> (Vec<Vec<u8>>, Option<String>) {
    let mut found = Vec::new();
    for &number in numbers {
        match reader.tensor(number) {
            Ok(bytes) => found.push(bytes),
            Err(error) => return (found, Some(error.to_string())),
        }
    }
    (found, None)
}

fn orders(reader: &Reader<Vec<u8>>) -> [Vec<usize>; 3] {
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    let twice = numbers.iter().chain(&numbers).copied().collect();
    let back = numbers.iter().rev().copied().collect();
    [numbers, twice, back]
}

#[test]
fn all_tensors_come_in_order() {
    let file = file();
    for threads in [1, 2, 5] {
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(threads);
        for numbers in orders(&reader) {
            let wanted = one_by_one(&reader, &numbers);
            assert!(wanted.1.is_none());
            for back in [false, true, true] {
                assert!(all(&reader, &numbers, back) == wanted, "{threads} threads");
            }
        }
        assert!(all(&reader, &[99], false).1.is_some());
        assert_eq!(all(&reader, &[], false), (Vec::new(), None));
        // Whoever takes them may have enough.
        let numbers = &orders(&reader)[0];
        let (mut taken, enough) = (0, || Err(Error::invalid("enough")));
        let take = |_, _| {
            if taken == 3 {
                enough()
            } else {
                taken += 1;
                Ok(None)
            }
        };
        assert_eq!(reader.for_each(numbers, take).unwrap_err().what(), "enough");
        assert_eq!(taken, 3);
    }
}

/// Damage is told of as by `Reader::tensor`, and all that comes before it is handed over.
#[test]
fn what_is_wrong_is_told_in_order() {
    let sound = file();
    let mut wrong = 0;
    for at in (0..sound.len()).step_by(61) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x24;
        for threads in [1, 3] {
            let Ok(reader) = Reader::open(damaged.clone(), Limits::default()) else { continue };
            let reader = reader.threads(threads);
            for numbers in orders(&reader) {
                let wanted = one_by_one(&reader, &numbers);
                assert!(all(&reader, &numbers, true) == wanted, "byte {at}");
                wrong += usize::from(wanted.1.is_some());
            }
        }
    }
    assert!(wrong > 100, "{wrong}");
}

#[test]
fn limits_hold() {
    let file = file();
    for threads in [1, 3] {
        let limits = Limits::default().max_output(5000);
        let reader = Reader::open(file.clone(), limits).unwrap().threads(threads);
        for numbers in orders(&reader) {
            let wanted = one_by_one(&reader, &numbers);
            assert!(wanted.1.is_some());
            assert!(all(&reader, &numbers, true) == wanted);
        }
    }
}
