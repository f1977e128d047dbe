//! Much damage may look like one flipped bit to a checksum.

use super::index::many_and;
use super::*;
use wcodec_common::mend::crc;

/// Changes five bytes in such a way that no CRC of what holds them changes: by its polynomial.
fn change_unseen(bytes: &mut [u8], at: usize) {
    let before = crc(bytes);
    bytes[at..].iter_mut().zip([0x41, 0x06, 0x71, 0xdb, 0x01]).for_each(|(byte, by)| *byte ^= by);
    assert_eq!(crc(bytes), before);
}

/// Where `bytes` are in a file, which has them once.
fn place(file: &[u8], bytes: &[u8]) -> usize {
    let mut places = file.windows(bytes.len()).enumerate().filter(|(_, window)| *window == bytes);
    let (at, _) = places.next().unwrap();
    assert_eq!(places.count(), 0);
    at
}

/// Two tensors that stand in the index, and one in the data.
pub(super) fn short() -> (Vec<u8>, Tensors) {
    let mut random = Random(8);
    let mut noise = |n: usize| (0..n).map(|_| random.next() as u8).collect::<Vec<u8>>();
    let tensors = [("a", noise(24)), ("b", noise(24)), ("c", noise(9000))];
    let all: Vec<_> =
        tensors.iter().map(|(name, data)| (*name, "U8", data.len() as u64, data.clone())).collect();
    let shaped: Vec<(&str, &str, &[u64], Vec<u8>)> = all
        .iter()
        .map(|(name, dtype, n, data)| (*name, *dtype, std::slice::from_ref(n), data.clone()))
        .collect();
    let config = Config::default().threads(1);
    let file = compress_checkpoint(&open(safetensors(&shaped)), None, &config, Vec::new()).unwrap();
    let tensors = tensors.into_iter().map(|(name, data)| (name.to_owned(), data)).collect();
    (file, tensors)
}

/// Two bytes of a short index, one after the other: the model hash says which they were, and nothing is believed without.
#[test]
fn some_bits_of_a_short_index_are_put_right_with_the_model_hash() {
    let (file, tensors) = short();
    let (index, end) = (index_of(&file), file.len() - 32);
    let (mut mended, mut all) = (0, 0);
    for at in index..end - 1 {
        let mut bad = file.clone();
        bad[at] ^= 0x5a;
        bad[at + 1] ^= 0xa5;
        let found = salvage(&bad).unwrap();
        all += 1;
        if found.whole_index {
            mended += 1;
            assert!(found.proved && found.lost.is_none(), "{at}");
            assert_eq!(whole(&found.reader), tensors);
            assert!(found.damage.iter().any(|d| d.at == at as u64 && d.what.contains("2 bytes")));
        }
        bad[place(&file, &tensors["c"]) + 100] ^= 1;
        let Ok(found) = salvage(&bad) else { continue };
        assert!(!found.whole_index && !found.proved, "{at}");
        assert!(whole(&found.reader).iter().all(|(name, bytes)| tensors[name] == *bytes));
    }
    // But where others come first by chance.
    assert!(mended * 100 > all * 97, "{mended} of {all}");
}

#[test]
fn a_short_index_is_believed_only_with_the_model_hash() {
    let (file, tensors) = short();
    let (index, end) = (index_of(&file), file.len() - 32);
    let (a, b) = (place(&file, &tensors["a"]), place(&file, &tensors["b"]));
    assert!(index < a && a < b);
    let mut bad = file.clone();
    change_unseen(&mut bad[index..end], a + 3 - index);
    // All checksums are right: what is decoded is wrong, and the model hash says so.
    let opened = Reader::open(bad.clone(), Limits::default()).unwrap();
    assert!(opened.tensor(0).is_ok_and(|a| a != tensors["a"]) && opened.verify().is_err());
    bad[b] ^= 4;
    let found = salvage(&bad).unwrap();
    assert!(!found.whole_index && !found.proved);
    let back = whole(&found.reader);
    assert!(back.len() == 1 && back["c"] == tensors["c"]);
    // Without that it is not told from one bit, and nothing says that it is proved.
    bad[place(&file, &tensors["c"]) + 100] ^= 1;
    let found = salvage(&bad).unwrap();
    assert!(found.whole_index && !found.proved && whole(&found.reader)["a"] != tensors["a"]);
    assert!(found.damage.iter().any(|d| d.what.contains("its checksum alone")));
    // Where it was one bit, it is as before.
    let mut bad = file.clone();
    bad[b] ^= 4;
    assert!(salvage(&bad).is_ok_and(|found| found.proved && whole(&found.reader) == tensors));
    bad[place(&file, &tensors["c"]) + 100] ^= 1;
    assert!(salvage(&bad).is_ok_and(|found| found.whole_index && !found.proved));
}

#[test]
fn a_long_index_has_sums_against_that() {
    let mut random = Random(9);
    let noise: Vec<u8> = (0..9000).map(|_| random.next() as u8).collect();
    let (file, tensors) = many_and(&[("z", "U8", &[9000], noise)]);
    let (index, end) = (index_of(&file), file.len() - 32);
    let data = place(&file, &tensors["z"]) + 100;
    let (mut tried, mut mended) = (0, 0);
    // One byte before the end of a stretch, and four behind it, which are in the bytes of a tensor.
    let inline: Vec<usize> =
        tensors.iter().filter(|(name, _)| *name != "z").map(|(_, t)| place(&file, t)).collect();
    for stretch in (index + 4096..end).step_by(4096) {
        let at = stretch - 1;
        if !inline.iter().any(|tensor| (*tensor..tensor + 20).contains(&at)) {
            continue;
        }
        let mut bad = file.clone();
        change_unseen(&mut bad[index..end], at - index);
        bad[place(&file, &tensors["layer.0.bias"])] ^= 1;
        bad[data] ^= 1;
        let found = salvage(&bad).unwrap();
        let back = whole(&found.reader);
        assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{at}");
        tried += 1;
        // Where bits of two stretches do not overlap in the parity, all but what is damaged in the data.
        assert!(!found.whole_index || back.len() == tensors.len() - 1, "{at}: {}", back.len());
        mended += usize::from(found.whole_index);
    }
    println!("{tried} of {} stretches end in a tensor", (end - index) / 4096);
    assert!(tried > 1 && (1..tried).contains(&mended), "{mended} of {tried}");
    // One bit of the index, though a tensor cannot be read: the sums prove it.
    let mut bad = file.clone();
    bad[index + 70] ^= 1;
    bad[data] ^= 1;
    let found = salvage(&bad).unwrap();
    assert!(found.whole_index && found.proved && whole(&found.reader).len() == 600);
}

/// What is coded against a base has its model hash only with that.
#[test]
fn a_base_proves_what_was_mended() {
    let mut random = Random(10);
    let base: Vec<u8> = (0..4096).map(|_| random.int8(20.0)).collect();
    let mut tuned = base.clone();
    tuned.iter_mut().step_by(50).for_each(|w| *w = w.wrapping_add(1));
    let base = || open(safetensors(&[("w", "I8", &[64, 64], base.clone())]));
    let checkpoint = open(safetensors(&[("w", "I8", &[64, 64], tuned.clone())]));
    let against = || Box::new(BaseCheckpoint::new(base()).unwrap());
    let config = Config::default().threads(1);
    let (held, name) = (against(), "base");
    let held = Some(BaseFile { base: &*held, name });
    let file = compress_checkpoint(&checkpoint, held, &config, Vec::new()).unwrap();
    let of_file = records(&file).into_iter().rfind(|record| file[record.start] == 10).unwrap();
    let mut bad = file;
    bad[of_file.end - 2] ^= 8;
    let found = salvage(&bad).unwrap();
    assert!(found.whole_index && !found.proved);
    let reader = found.reader.with_base(against()).unwrap();
    reader.verify().unwrap();
    assert_eq!(reader.tensor(reader.find("w").unwrap()).unwrap(), tuned);
}
