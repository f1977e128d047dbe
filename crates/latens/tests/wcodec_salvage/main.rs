//! Files that are damaged around their data: what is put right comes back byte for byte, and of what
//! is not, nothing that comes back is wrong.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../wcodec_common/mod.rs"]
mod wcodec_common;

use common::counting::{Counting, peak_of};
use cpu_time::ThreadTime;
use latens::Limits;
use latens::wcodec::{
    BaseCheckpoint, BaseFile, Config, Reader, Salvage, compress_checkpoint,
    compress_checkpoint_to_file,
};
use std::collections::HashMap;
use std::ops::Range;
use wcodec_common::mend::{Parts, Stored};
use wcodec_common::{Random, open, safetensors, samples};

mod blocks;
mod chance;
mod index;
mod meaning;
mod moved;
mod tables;

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

/// Where the records of the index are in the file.
fn records(file: &[u8]) -> Vec<Range<usize>> {
    let (mut at, mut records) = (index_of(file), Vec::new());
    while at < file.len() - 32 {
        let (start, mut length) = (at, 0);
        for shift in (0..).step_by(7) {
            at += 1;
            length |= usize::from(file[at] & 0x7f) << shift;
            if file[at] < 0x80 {
                break;
            }
        }
        at += 1 + length;
        records.push(start..at);
    }
    records
}

/// The ends in the file of the records of tensors that lie in the data, and their names.
fn stored_records(file: &[u8]) -> Vec<(usize, String)> {
    let reader = Reader::open(file.to_vec(), Limits::default()).unwrap();
    let mut names: HashMap<usize, String> =
        reader.tensors().map(|(number, entry)| (number, entry.name)).collect();
    let entries = records(file).into_iter().filter(|record| file[record.start] == 8);
    let parts = Parts::of(file).entries;
    let stored = entries.zip(&parts).enumerate();
    let stored = stored.filter(|(_, (_, (_, stored)))| matches!(stored, Stored::Data(..)));
    stored.filter_map(|(number, (at, _))| Some((at.end, names.remove(&number)?))).collect()
}

/// Tensors that are in the data and need no other: their own checksums tell of them.
fn alone(file: &[u8]) -> Vec<(usize, String)> {
    let mut bad = file.to_vec();
    // Damage to the last record of a source file.
    let of_files = records(file).into_iter().rfind(|record| file[record.start] == 10);
    let end = of_files.unwrap().end - 1;
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
                // But for those whose name another has now.
                let named = |name: &str| {
                    found.reader.tensors().filter(|(_, entry)| entry.name == name).count()
                };
                let is_back = |name: &str| back.contains_key(name) || named(name) > 1;
                assert!(sure.clone().all(|(_, name)| is_back(name)), "{name}, byte {at}");
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
