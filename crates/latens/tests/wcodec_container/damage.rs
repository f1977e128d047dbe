//! Damage anywhere is found.

use crate::mixed;
use crate::wcodec_common::{Random, back, open};
use latens::Limits;
use latens::wcodec::{Config, Fault, Reader, compress_checkpoint, compress_checkpoint_to_file};
use std::io::Cursor;

#[test]
fn every_flipped_bit_is_found() {
    let source = mixed(12, 16);
    let checkpoint = open(source);
    let streamed = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
    let file = Cursor::new(Vec::new());
    let complete =
        compress_checkpoint_to_file(&checkpoint, None, &Config::default(), file).unwrap();
    for file in [streamed, complete.into_inner()] {
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(back(&damaged).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}

#[test]
fn flipped_bits_of_stored_groups_are_named() {
    let source = mixed(200, 256);
    let config = Config::default().group_symbols(1 << 10);
    let file = compress_checkpoint(&open(source), None, &config, Vec::new()).unwrap();
    let mut random = Random(1);
    for _ in 0..300 {
        let at = usize::try_from(random.next()).unwrap() % file.len();
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        let error = back(&damaged).unwrap_err();
        assert!(error.at().is_some(), "{error}");
        // What is found first is among all that is found.
        if let Ok(reader) = Reader::open(damaged, Limits::default()) {
            let faults = reader.faults().unwrap();
            let same = |fault: &Fault| fault.error.to_string() == error.to_string();
            assert!(faults.iter().any(same), "{error}: {faults:?}");
        }
    }
    assert!(Reader::open(file.clone(), Limits::default()).unwrap().faults().unwrap().is_empty());
    // In the middle of the first tensor's groups.
    let mut damaged = file;
    damaged[1000] ^= 4;
    let error = back(&damaged).unwrap_err().to_string();
    assert!(error.contains("tensor \"a.weight\"") && error.contains("group "), "{error}");
    assert!(error.contains("(byte "), "{error}");
    // The others can still be read.
    let reader = Reader::open(damaged, Limits::default()).unwrap();
    let good = reader.tensors().filter(|(i, _)| reader.tensor(*i).is_ok()).count();
    assert_eq!(good, 9);
    let faults = reader.faults().unwrap();
    // Its copy is lost with it.
    let bad = reader.tensors().map(|(i, _)| i).filter(|i| reader.tensor(*i).is_err());
    assert!(faults.iter().filter_map(|fault| fault.tensor).eq(bad), "{faults:?}");
    assert_eq!(faults[0].tensor, reader.find("a.weight"));
}

#[test]
fn every_damaged_group_is_named() {
    let source = mixed(200, 256);
    let config = Config::default().group_symbols(1 << 10);
    let file = compress_checkpoint(&open(source), None, &config, Vec::new()).unwrap();
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    let number = reader.find("a.weight").unwrap();
    let groups: usize = reader.inspect(number).unwrap().parts.iter().map(|p| p.groups).sum();
    assert!(groups > 10, "{groups}");
    let stored = reader.entry(number).unwrap().stored;
    let mut damaged = file;
    for at in [200, stored / 2, stored - 1500] {
        damaged[128 + at] ^= 4;
    }
    let reader = Reader::open(damaged, Limits::default()).unwrap();
    let faults = reader.faults().unwrap();
    let own: Vec<&Fault> = faults.iter().filter(|f| f.tensor == Some(number)).collect();
    let mut named: Vec<&str> =
        own.iter().filter_map(|f| f.error.places().last()).map(|p| &p[..]).collect();
    assert!(named.len() == 3 && named.iter().all(|name| name.starts_with("group ")), "{named:?}");
    named.dedup();
    assert_eq!(named.len(), 3, "{named:?}");
    assert!(own.is_sorted_by_key(|f| f.error.at()));
}

#[test]
fn every_truncation_is_found() {
    let file =
        compress_checkpoint(&open(mixed(12, 16)), None, &Config::default(), Vec::new()).unwrap();
    for end in 0..file.len() {
        assert!(Reader::open(file[..end].to_vec(), Limits::default()).is_err(), "{end}");
    }
    let mut longer = file;
    longer.push(0);
    assert!(Reader::open(longer, Limits::default()).is_err());
}
