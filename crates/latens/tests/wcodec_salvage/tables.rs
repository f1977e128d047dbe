//! Tables that are damaged, which the index puts right, and what ends an index, which follows from the rest.

use super::index::{many_and, with_index};
use super::*;
use wcodec_common::mend::varint;

/// A file whose bank is of some `bytes`, and where that is: its tables, over and over.
fn with_bank_of(bytes: usize) -> (Vec<u8>, Tensors, Range<usize>) {
    let mut random = Random(8);
    let mut weights = |n: usize| (0..n).map(|_| random.int8(6.0)).collect::<Vec<u8>>();
    let (b, c) = (weights(128 * 64), weights(64 * 63));
    let (file, _) = many_and(&[("b", "I8", &[128, 64], b), ("c", "I8", &[64, 63], c)]);
    let mut parts = Parts::of(&file);
    let (count, of_one) = parts.bank.clone();
    assert!(parts.tables && count > 0);
    while parts.bank.1.len() + of_one.len() <= bytes {
        parts.bank.0 += count;
        parts.bank.1.extend_from_slice(&of_one);
    }
    let (file, length) = (parts.bytes(), parts.bank.1.len());
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    reader.verify().unwrap();
    let start = index_of(&file) - length.next_multiple_of(128);
    (file, whole(&reader), start..start + length)
}

/// What is damaged at one place of the bank comes back: changed, or taken out.
#[test]
fn one_damaged_place_of_the_tables_is_put_right() {
    let mut random = Random(41);
    for bytes in [0, 700, 4096, 6000, 9000] {
        let (file, tensors, bank) = with_bank_of(bytes);
        let most = bank.len().min(4096);
        for length in [2, 3, 16, most / 2, most - 1, most] {
            let last = bank.end - length;
            for at in (bank.start..last).step_by(1 + bank.len() / 9).chain([last]) {
                let mut bad = file.clone();
                bad[at..at + length].iter_mut().for_each(|b| *b ^= 1 + random.next() as u8 % 255);
                let found = salvage(&bad).unwrap();
                let [damage] = &found.damage[..] else { panic!("{:?}", found.damage) };
                assert!(damage.what.contains("the index puts right"), "{damage:?}");
                assert!(damage.at <= at as u64 && bank.contains(&(damage.at as usize)));
                assert!(whole(&found.reader) == tensors && found.whole_index, "{length} at {at}");
                assert!(found.proved && found.lost.is_none(), "{length} at {at}");
                let found = salvage(&[&file[..at], &file[at + length..]].concat()).unwrap();
                assert!(whole(&found.reader) == tensors, "{length} at {at}: {:?}", found.damage);
            }
        }
    }
}

/// Of more, nothing that comes back is wrong, and what needs no tables does; nor is it searched for long.
#[test]
fn more_damage_of_the_tables_costs_what_needs_them() {
    let (file, tensors, bank) = with_bank_of(60_000);
    let mut bad = file.clone();
    bad[bank.start + 7..bank.start + 7 + 5000].fill(0x55);
    for bad in [bad, [&file[..bank.start + 7], &file[bank.start + 5007..]].concat()] {
        let before = ThreadTime::now();
        let found = salvage(&bad).unwrap();
        assert!(before.elapsed().as_secs() < 60, "{:?}", before.elapsed());
        let back = whole(&found.reader);
        assert_eq!(back.len(), tensors.len() - 2);
        assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes));
    }
}

/// Tables, parity and sums follow from what comes before them.
#[test]
fn what_ends_an_index_is_made_again() {
    let (long, tensors, _) = with_bank_of(700);
    let long = (with_index(&long, &closed(&long)), tensors);
    let short = files().into_iter().filter(|(_, file, _)| Parts::of(file).tables);
    let mut short: Vec<_> = short.map(|(_, file, tensors)| (file, tensors)).collect();
    assert!(short.len() > 2);
    short.push(long);
    for (file, tensors) in short {
        let end = file.len() - 32;
        let tables = records(&file).into_iter().find(|record| file[record.start] == 19).unwrap();
        for (from, to) in
            [(tables.start, end), (tables.start + 1, end), (tables.start + 3, end - 1)]
        {
            for value in [0, 19, 0xff] {
                let mut bad = file.clone();
                bad[from..to].fill(value);
                let found = salvage(&bad).unwrap();
                assert!(whole(&found.reader) == tensors, "{:?}", found.damage);
                assert!(
                    found.proved && found.whole_index && found.lost.is_none(),
                    "{from} to {to} of {}: {:?}",
                    end,
                    found.damage
                );
                let [damage] = &found.damage[..] else { panic!("{:?}", found.damage) };
                assert!((tables.start as u64..end as u64).contains(&damage.at), "{damage:?}");
            }
        }
    }
}

/// The index of a file without parity and sums, with these.
fn closed(file: &[u8]) -> Vec<u8> {
    let mut index = file[index_of(file)..file.len() - 32].to_vec();
    let length = 1 << (index.len() / 16).ilog2();
    let mut parity = vec![0; length];
    index.iter().enumerate().for_each(|(i, byte)| parity[i % length] ^= byte);
    let record = |tag: u8, content: &[u8], index: &mut Vec<u8>| {
        index.push(tag);
        index.extend(varint(content.len() as u64));
        index.extend_from_slice(content);
    };
    record(17, &parity, &mut index);
    let sums =
        index.chunks(4096).flat_map(|stretch| wcodec_common::mend::crc(stretch).to_le_bytes());
    let sums: Vec<u8> = sums.collect();
    record(15, &sums, &mut index);
    index
}

/// They are of one length, and stand behind files and what is beside them; that they are right shows when the file is verified.
#[test]
fn tables_are_refused_elsewhere() {
    let (file, _, bank) = with_bank_of(700);
    let start = index_of(&file);
    let records = records(&file);
    let tables = records.last().unwrap().clone();
    assert_eq!(file[tables.start], 19);
    let front = &file[start..tables.start];
    let record = |content: &[u8]| [&[19], &varint(content.len() as u64)[..], content].concat();
    let right = record(&file[bank.clone()]);
    assert!(file[tables] == right);
    let opened = |index: &[u8]| Reader::open(with_index(&file, index), Limits::default());
    opened(front).unwrap().verify().unwrap();
    let other = opened(&[front, &record(&vec![7; bank.len()])].concat()).unwrap();
    assert!(other.verify().is_err_and(|e| e.what().contains("tables is of others")));
    assert!(other.faults().unwrap().len() == 1 && whole(&other).len() == other.tensors().count());
    let misplaced = |index: &[u8]| opened(index).is_err_and(|e| e.what().contains("out of place"));
    for length in [0, 1, bank.len() - 1, bank.len() + 1, 4096] {
        assert!(misplaced(&[front, &record(&vec![7; length])].concat()), "{length}");
    }
    assert!(misplaced(&[front, &right, &right].concat()));
    for at in [1, 2, 3, 9] {
        let (before, behind) = front.split_at(records[at].start - start);
        assert!(misplaced(&[before, &right, behind].concat()), "before record {at}");
    }
}
