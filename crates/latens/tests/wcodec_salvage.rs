//! Files that are damaged around their data: what is put right comes back byte for byte, and of what
//! is not, nothing that comes back is wrong.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod common;
mod wcodec_common;

use common::counting::{Counting, peak_of};
use cpu_time::ThreadTime;
use latens::Limits;
use latens::wcodec::{Config, Reader, Salvage, compress_checkpoint, compress_checkpoint_to_file};
use std::collections::HashMap;
use wcodec_common::mend::{Parts, Stored};
use wcodec_common::{Random, open, safetensors, samples};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tensors by name.
type Tensors = HashMap<String, Vec<u8>>;

fn index_of(file: &[u8]) -> usize {
    u64::from_le_bytes(file[file.len() - 32..][..8].try_into().unwrap()) as usize
}

fn salvage(file: &[u8]) -> latens::Result<Salvage<Vec<u8>>> {
    let mut salvage = Reader::salvage(file.to_vec(), Limits::default())?;
    salvage.reader = salvage.reader.threads(1);
    Ok(salvage)
}

/// All tensors that can be read.
fn whole(reader: &Reader<Vec<u8>>) -> Tensors {
    let read = |(number, entry): (usize, latens::wcodec::TensorEntry<'_>)| {
        Some((entry.name, reader.tensor(number).ok()?))
    };
    reader.tensors().filter_map(read).collect()
}

/// Small files that need no base, with their tensors.
fn files() -> Vec<(String, Vec<u8>, Tensors)> {
    let all = samples::tiny().into_iter().map(|(name, file)| {
        let found = salvage(&file).unwrap();
        assert!(found.damage.is_empty() && found.lost.is_none());
        let tensors = whole(&found.reader);
        assert_eq!(tensors.len(), found.reader.tensors().count());
        (name.to_string(), file, tensors)
    });
    all.collect()
}

/// A file whose index has several stretches, and its tensors.
fn many() -> (Vec<u8>, Tensors) {
    let mut random = Random(77);
    let names: Vec<String> = (0..600).map(|i| format!("layer.{i}.bias")).collect();
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = names
        .iter()
        .map(|name| (&name[..], "F32", &[6u64][..], (0..24).map(|_| random.next() as u8).collect()))
        .collect();
    let config = Config::default().threads(1);
    let file =
        compress_checkpoint(&open(safetensors(&tensors)), None, &config, Vec::new()).unwrap();
    let expected = whole(&Reader::open(file.clone(), Limits::default()).unwrap());
    let index = file.len() - 32 - index_of(&file);
    assert!(expected.len() == 600 && index > 6 * 4096, "{index}");
    (file, expected)
}

/// Of an index of several stretches, what stands in it before the damaged one is proved.
#[test]
fn what_an_index_says_before_damage_is_proved() {
    let (file, expected) = many();
    let (start, end) = (index_of(&file), file.len() - 32);
    for at in (start + 4096..end).step_by(2311) {
        // More than one bit: it cannot be put right.
        let mut hurt = file.clone();
        for (place, by) in [(0, 0x5a), (3, 0x21), (9, 0x7f)] {
            hurt[(at + place).min(end - 1)] ^= by;
        }
        let found = salvage(&hurt).unwrap();
        let tensors = whole(&found.reader);
        assert!(tensors.iter().all(|(name, bytes)| expected[name] == *bytes), "{at}");
        // Each takes some forty bytes.
        let sure = (at - start) / 4096 * 4096;
        assert!(tensors.len() * 60 > sure.saturating_sub(600), "{at}: {}", tensors.len());
    }
}

/// The ends in the file of the records of tensors that lie in the data, and their names.
fn stored_records(file: &[u8]) -> Vec<(usize, String)> {
    let reader = Reader::open(file.to_vec(), Limits::default()).unwrap();
    let mut names: HashMap<usize, String> =
        reader.tensors().map(|(number, entry)| (number, entry.name)).collect();
    let parts = Parts::of(file).entries;
    let mut at = index_of(file);
    let (mut entries, mut ends) = (parts.iter().enumerate(), Vec::new());
    while at < file.len() - 32 {
        let tag = file[at];
        let mut length = 0;
        for shift in (0..).step_by(7) {
            at += 1;
            length |= usize::from(file[at] & 0x7f) << shift;
            if file[at] < 0x80 {
                break;
            }
        }
        at += 1 + length;
        let Some((number, (_, stored))) = (tag == 8).then(|| entries.next()).flatten() else {
            continue;
        };
        if matches!(stored, Stored::Data(..)) {
            ends.extend(names.remove(&number).map(|name| (at, name)));
        }
    }
    ends
}

/// Tensors that are in the data and need no other: their own checksums tell of them.
fn alone(file: &[u8]) -> Vec<(usize, String)> {
    let mut bad = file.to_vec();
    // Damage to the last records, which are of source files.
    let end = bad.len() - 33;
    bad[end - 2..=end].fill(0xff);
    let found = salvage(&bad).unwrap();
    assert!(!found.whole_index);
    let back = match found.proved {
        // All are whole. Another hash, in the header's place too, proves nothing.
        true => {
            let index = index_of(&bad);
            bad[index + 6..index + 9].fill(0);
            whole(&salvage(&bad).unwrap().reader)
        }
        false => whole(&found.reader),
    };
    let mut records = stored_records(file);
    records.retain(|(_, name)| back.contains_key(name));
    records
}

#[test]
fn any_flipped_bit_around_the_data_is_put_right() {
    for (name, file, tensors) in files() {
        let parts = Parts::of(&file);
        let index = index_of(&file);
        let bank = index - parts.bank.1.len().next_multiple_of(128);
        let bank = bank..bank + parts.bank.1.len();
        let mut cases = 0;
        for at in (0..128).chain(bank).chain(index..file.len()) {
            for bit in 0..8 {
                let mut bad = file.clone();
                bad[at] ^= 1 << bit;
                let found = salvage(&bad).unwrap();
                let told: Vec<u64> = found.damage.iter().map(|d| d.at).collect();
                assert_eq!(told, [at as u64], "{name}: {:?}", found.damage);
                assert_eq!(found.lost, None, "{name}, byte {at}");
                assert!(whole(&found.reader) == tensors, "{name}, byte {at}");
                cases += 1;
            }
        }
        println!("{name}: {} bytes, {cases} cases", file.len());
    }
}

#[test]
fn the_entries_before_damage_come_back_and_nothing_wrong() {
    let (mut random, mut all) = (Random(7), 0);
    for (name, file, tensors) in files() {
        let (index, end) = (index_of(&file), file.len() - 32);
        let ends = alone(&file);
        let (mut some, mut cases, mut most) = (0, 0, 0);
        for at in index..end {
            for length in [2, 5, 16, 64, 300] {
                let mut bad = file.clone();
                let stop = (at + length).min(end);
                // Noise, noise of small numbers, zeros.
                let mask = [0xff, 15, 3, 0][random.below(4)];
                bad[at..stop].iter_mut().for_each(|b| *b = (random.word() >> 20) as u8 & mask);
                if bad == file {
                    continue;
                }
                cases += 1;
                let Ok(found) = salvage(&bad) else { continue };
                assert!(!found.damage.is_empty(), "{name}, byte {at}");
                let back = whole(&found.reader);
                some += usize::from(!back.is_empty());
                // A name can be damaged without a trace. What keeps its name keeps its bytes.
                let known = back.iter().filter(|(name, _)| tensors.contains_key(*name));
                for (tensor, bytes) in known {
                    assert!(tensors[tensor] == *bytes, "{name}, {length} from {at}: {tensor}");
                }
                // Those in the data whose records end before the damage have all that they need.
                let sure = ends.iter().filter(|&&(end, _)| end <= at);
                assert!(sure.clone().all(|(_, name)| back.contains_key(name)), "{name}, byte {at}");
                most = most.max(sure.count());
            }
        }
        println!("{name}: of {cases} damaged indices {some} give tensors back, {most} for sure");
        assert!(most == ends.len(), "{name}: {some} of {cases}");
        all += most;
    }
    assert!(all >= 4, "{all} tensors");
}

/// Bits of an index, two to eight of them: its checksum says that they are wrong, and not which.
#[test]
fn flipped_bits_of_an_index_make_no_tensor_another() {
    let mut random = Random(23);
    let (mut back, mut proved, mut misnamed) = (0, 0, 0);
    for (name, file, tensors) in files() {
        let (index, end) = (index_of(&file), file.len() - 32);
        for case in 0..600 {
            let mut bad = file.clone();
            // Near each other as often as not.
            let near = index + random.below(end - index);
            let mut flip = |_| {
                let at = match case % 2 {
                    0 => index + random.below(end - index),
                    _ => (near + random.below(40)).min(end - 1),
                };
                (at, random.below(8) as u8)
            };
            let flips: Vec<(usize, u8)> = (0..2 + case % 7).map(&mut flip).collect();
            flips.iter().for_each(|&(at, bit)| bad[at] ^= 1 << bit);
            let Ok(found) = salvage(&bad) else { continue };
            if bad == file || found.whole_index {
                assert!(whole(&found.reader) == tensors, "{name}: {flips:?}");
                continue;
            }
            proved += usize::from(found.proved);
            for (tensor, bytes) in whole(&found.reader) {
                let same = tensors.get(&tensor) == Some(&bytes);
                // A name may be damaged to that of another tensor whose record is lost; its bytes are
                // those of a tensor in any case.
                let other = tensors.values().any(|other| *other == bytes);
                assert!(same || other && !found.proved, "{name}: {tensor}, {flips:?}");
                let taken = !same && tensors.contains_key(&tensor);
                (back, misnamed) = (back + usize::from(same), misnamed + usize::from(taken));
            }
        }
    }
    println!("{back} tensors came back, {misnamed} as others; {proved} indices have all tensors");
    assert!(back > 1000 && proved > 10 && misnamed < 20, "{back}, {proved}, {misnamed}");
}

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

#[test]
fn bytes_that_are_gone_cost_the_tensor_that_they_were_of() {
    let (file, tensors) = large();
    let index = index_of(&file);
    // Two tensors need the tables.
    let bank = index - Parts::of(&file).bank.1.len().next_multiple_of(128);
    for gone in [1, 2, 5, 300] {
        for at in (0..index - gone).step_by(7) {
            let shorter = [&file[..at], &file[at + gone..]].concat();
            let found = salvage(&shorter).unwrap();
            let back = whole(&found.reader);
            assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{gone} at {at}");
            let lost = tensors.len() - back.len();
            let most = if at + gone > bank { 4 } else { 1 + usize::from(gone > 100) };
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

#[test]
fn a_file_that_is_cut_off_gives_what_its_index_still_names() {
    for (name, file, tensors) in files() {
        let index = index_of(&file);
        for length in 0..file.len() {
            match salvage(&file[..length]) {
                Err(error) => {
                    assert!(error.at().is_some_and(|at| at <= length as u64), "{name}: {error}");
                }
                Ok(found) => {
                    assert!(length > index, "{name}: {length} of {index}");
                    assert!(!found.damage.is_empty());
                    let back = whole(&found.reader);
                    assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{name}");
                    assert!(back == tensors || !found.proved, "{name}, {length} bytes");
                    let all = length + 32 >= file.len();
                    assert!(!all || back == tensors, "{name}, {length} bytes");
                    // What is left of the footer says where the index ends, and its checksum.
                    let stated = length + 12 >= file.len();
                    assert!(!stated || found.whole_index && found.proved, "{name}, {length} bytes");
                }
            }
        }
        let longer = [&file[..], b"bytes behind the end"].concat();
        assert!(whole(&salvage(&longer).unwrap().reader) == tensors, "{name}");
    }
}

/// An index of several stretches has sums, which prove it without a footer.
#[test]
fn sums_stand_for_the_footer() {
    let (file, expected) = many();
    let end = file.len() - 32;
    let sound = |file: &[u8]| {
        let found = salvage(file).unwrap();
        assert!(!found.damage.is_empty());
        assert_eq!(whole(&found.reader), expected);
        found.whole_index && found.proved && found.reader.verify().is_ok()
    };
    let mut random = Random(3);
    for left in 0..32 {
        assert!(sound(&file[..end + left]), "{left} bytes are left");
        let junk: Vec<u8> = (0..40 - left).map(|_| random.word() as u8).collect();
        assert!(sound(&[&file[..end + left], &junk].concat()), "{left} bytes and others");
    }
    // Sums that are damaged as well prove nothing.
    let mut bad = file[..end].to_vec();
    bad[end - 1] ^= 1;
    assert!(!salvage(&bad).unwrap().whole_index);
}

/// An index that is cut off behind an entry has lost those behind it, though all of it can be read.
#[test]
fn entries_that_are_cut_off_are_lost() {
    let names: Vec<String> = (0..20).map(|i| format!("layer.{i}.bias")).collect();
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> =
        (1..).zip(&names).map(|(i, name)| (&name[..], "U8", &[24u64][..], vec![i; 24])).collect();
    let config = Config::default().threads(1);
    let checkpoint = open(safetensors(&tensors));
    let out = std::io::Cursor::new(Vec::new());
    let file = compress_checkpoint_to_file(&checkpoint, None, &config, out).unwrap().into_inner();
    let mut between = 0;
    for length in index_of(&file) + 1..file.len() - 32 {
        let Ok(found) = salvage(&file[..length]) else { continue };
        let all = found.reader.tensors().count() == 20;
        between += usize::from(!all && found.damage.iter().any(|d| d.what.contains("last entry")));
        assert!(all || found.lost.is_some_and(|lost| lost.tensors > Some(0)), "{length} bytes");
    }
    assert!(between > 10, "{between}");
}

/// What is lost behind the last entry that can be read is not held in memory to look for padding in it.
#[test]
fn what_is_lost_is_looked_through_by_pieces() {
    let mut random = Random(12);
    let mut noise = |n: usize| (0..n).map(|_| random.next() as u8).collect::<Vec<u8>>();
    let (a, b) = (noise(9000), noise(16 << 20));
    let file = safetensors(&[("a", "U8", &[9000], a), ("b", "U8", &[16 << 20], b)]);
    let config = Config::default().threads(1);
    let file = compress_checkpoint(&open(file), None, &config, Vec::new()).unwrap();
    let mut cut = (index_of(&file)..file.len() - 32).filter_map(|end| salvage(&file[..end]).ok());
    let found = cut.find(|found| found.reader.tensors().count() == 1).unwrap();
    let (result, peak) = peak_of(|| found.reader.verify());
    assert!(result.is_err_and(|e| e.what().contains("padding")) && peak < 8 << 20, "{peak} bytes");
}

#[test]
fn damage_anywhere_costs_little() {
    let mut random = Random(11);
    for (name, file, _) in files() {
        for _ in 0..300 {
            let mut bad = file.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bad.len());
                bad[at] = (random.word() >> 20) as u8;
            }
            bad.truncate(bad.len() - random.below(2) * random.below(40));
            let start = ThreadTime::now();
            let limits = Limits::default().max_output(1 << 24);
            let (result, peak) = peak_of(|| Reader::salvage(bad, limits).map(|found| found.lost));
            assert!(peak <= (16 << 20) + 4 * file.len(), "{name}: {peak} bytes for {result:?}");
            assert!(start.elapsed().as_secs() < 5, "{name}");
        }
    }
}
