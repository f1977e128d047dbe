//! Bytes that were put in or taken out, and lengths that are only claimed.

use super::*;

/// Tensors of several kinds in the data, each of a few groups.
fn large() -> (Vec<u8>, Tensors) {
    let mut random = Random(5);
    let mut noise = |n: usize| (0..n).map(|_| random.next() as u8).collect::<Vec<u8>>();
    let (a, d) = (noise(5001), noise(3333));
    let mut random = Random(6);
    let mut weights = |n: usize| (0..n).map(|_| random.int8(6.0)).collect::<Vec<u8>>();
    let (b, c) = (weights(128 * 64), weights(64 * 63));
    let file = safetensors(&[
        ("a", "U8", &[5001], a),
        ("b", "I8", &[128, 64], b),
        ("c", "I8", &[64, 63], c),
        ("d", "U8", &[3333], d),
        ("e", "F32", &[1], vec![1, 2, 3, 4]),
    ]);
    let config = Config::default().group_symbols(1024);
    let file = compress_checkpoint(&open(file), None, &config, Vec::new()).unwrap();
    let tensors = whole(&salvage(&file).unwrap().reader);
    assert_eq!(stored_records(&file).len(), 4);
    (file, tensors)
}

#[test]
fn bytes_that_were_put_in_are_left_out() {
    let (file, tensors) = large();
    let (index, end) = (index_of(&file), file.len() - 32);
    let mut random = Random(31);
    for put in [1, 2, 3, 128, 1000] {
        let step = if put == 1 { 5 } else { 97 };
        let all = (0..end).step_by(step).chain(index - 3..index + 3).chain(end - 3..=end);
        for at in all {
            let bytes: Vec<u8> = (0..put).map(|_| random.word() as u8).collect();
            let longer = [&file[..at], &bytes, &file[at..]].concat();
            let found = salvage(&longer).unwrap();
            assert!(!found.damage.is_empty() && found.lost.is_none(), "{put} at {at}");
            assert!(whole(&found.reader) == tensors, "{put} at {at}: {:?}", found.damage);
            assert!(found.whole_index, "{put} at {at}: {:?}", found.damage);
        }
    }
    // In the footer: as if there were none.
    for at in end + 1..file.len() {
        let longer = [&file[..at], &[9], &file[at..]].concat();
        assert!(whole(&salvage(&longer).unwrap().reader) == tensors, "{at}");
    }
}

/// A bit of the tables that was flipped as well is put right, and told.
#[test]
fn a_bit_of_the_tables_is_put_right_besides() {
    let (file, tensors) = large();
    let bank = index_of(&file) - Parts::of(&file).bank.1.len().next_multiple_of(128);
    let mut bad = [&file[..5000], b"put in", &file[5000..]].concat();
    bad[bank + 6 + 9] ^= 16;
    let found = salvage(&bad).unwrap();
    assert!(found.whole_index && whole(&found.reader) == tensors, "{:?}", found.damage);
    let told = |what: &str| found.damage.iter().filter(|d| d.what.contains(what)).count();
    assert_eq!((told("put in"), told("a bit of the tables"), found.damage.len()), (1, 1, 2));
}

#[test]
fn bytes_that_are_gone_cost_the_tensor_that_they_were_of() {
    let (file, tensors) = large();
    let index = index_of(&file);
    let bank = index - Parts::of(&file).bank.1.len().next_multiple_of(128);
    for gone in [1, 2, 5, 300] {
        for at in (0..index - gone).step_by(7) {
            let shorter = [&file[..at], &file[at + gone..]].concat();
            let found = salvage(&shorter).unwrap();
            let back = whole(&found.reader);
            assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{gone} at {at}");
            let lost = tensors.len() - back.len();
            // Several bytes may be of two.
            let most = match at {
                // The index has the tables.
                at if at >= bank => 0,
                at if at + gone > bank => 4,
                _ => 1 + usize::from(gone > 1),
            };
            assert!(lost <= most, "{gone} at {at}: {lost} are lost");
            assert!(found.damage.iter().any(|d| d.what.contains("taken out")), "{gone} at {at}");
        }
    }
    // Of the index what comes before is left.
    for at in (index + 60..file.len() - 33).step_by(9) {
        let shorter = [&file[..at], &file[at + 1..]].concat();
        let Ok(found) = salvage(&shorter) else { continue };
        let back = whole(&found.reader);
        assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{at}");
    }
}

/// Of an index that is long enough for sums and parity, at any place of it, what its parity tells of; of more, what comes
/// before.
#[test]
fn bytes_that_were_taken_out_of_a_long_index_come_back() {
    let names: Vec<String> = (0..300).map(|i| format!("layers.{}.weight {i}", i * 7919)).collect();
    let made = |(i, name)| (name, "U8", &[6u64][..], vec![i as u8; 6]);
    let all: Vec<_> = (0..).zip(names.iter().map(|name| &**name)).map(made).collect();
    let file = compress_checkpoint(&open(safetensors(&all)), None, &Config::default(), Vec::new());
    let file = file.unwrap();
    let tensors = whole(&salvage(&file).unwrap().reader);
    let (index, end) = (index_of(&file), file.len() - 32);
    let sums = end - (end - index).div_ceil(4096) * 4 - 2;
    let parity = sums - 512 - 3;
    for gone in [1, 7, 100, 512] {
        // Of parity and sums, too, which follow from the rest.
        let behind = (parity..end - gone).step_by(97).chain([end - gone]);
        for at in (index..=parity - gone).step_by(211).chain([parity - gone]).chain(behind) {
            let found = salvage(&[&file[..at], &file[at + gone..]].concat()).unwrap();
            assert!(whole(&found.reader) == tensors, "{gone} at {at}: {:?}", found.damage);
            assert!(found.whole_index && found.proved && found.lost.is_none(), "{gone} at {at}");
            let told = found.damage.iter().any(|d| d.what.contains("which is whole again"));
            assert!(told && found.damage.len() == 1, "{:?}", found.damage);
        }
    }
    for gone in [513, 3000] {
        for at in (index + 4096..=parity - gone).step_by(997) {
            let found = salvage(&[&file[..at], &file[at + gone..]].concat()).unwrap();
            let back = whole(&found.reader);
            assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{gone} at {at}");
            let stretches = (at - index) / 4096;
            assert!(back.len() * (end - index) > (stretches * 4096 - 100) * tensors.len());
            let place = found.damage.iter().find(|d| d.what.contains("taken out here or shortly"));
            let place = place.unwrap().at as usize;
            assert!(at < place && place <= at + gone + 4096, "{gone} at {at}: {place}");
        }
    }
}

/// What is stated of lengths is not believed: files of any claims, read within their bytes.
#[test]
fn a_footer_may_claim_any_length() {
    let (file, _) = large();
    let foot = file.len() - 32;
    let lengths = [0, 1, 31, 32, 160, 1 << 20, 1 << 62, u64::MAX / 2, u64::MAX - 1, u64::MAX];
    let near = (0..400).map(|d| (file.len() + 200 - d) as u64);
    for length in lengths.into_iter().chain(near) {
        for index in [0, 128, index_of(&file) as u64, 1 << 40, u64::MAX - 127] {
            let mut bad = file.clone();
            bad[foot..foot + 8].copy_from_slice(&index.to_le_bytes());
            bad[foot + 8..foot + 16].copy_from_slice(&length.to_le_bytes());
            let crc = wcodec_common::mend::crc(&bad[foot..foot + 20]);
            bad[foot + 20..foot + 24].copy_from_slice(&crc.to_le_bytes());
            let (_, peak) = peak_of(|| Reader::salvage(bad, Limits::default()).map(|_| ()));
            assert!(peak < (8 << 20) + 8 * file.len(), "{index}, {length}: {peak}");
        }
    }
}
