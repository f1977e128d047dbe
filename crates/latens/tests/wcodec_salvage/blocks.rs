//! A block of 4 KiB of a file of some megabytes that is lost, wherever it is.

use super::*;

/// What a disk loses at a time.
const BLOCK: usize = 4096;

/// A file of more than 4 MiB: matrices, which are in the data, and vectors, which are in the index.
fn of_megabytes() -> (Vec<u8>, Tensors) {
    let mut random = Random(19);
    let names: Vec<String> = (0..64).map(|i| format!("layers.{i}.weight")).collect();
    let vectors: Vec<String> = (0..64).map(|i| format!("layers.{i}.bias")).collect();
    let matrix =
        |name| (name, "I8", &[256u64, 512][..], (0..1 << 17).map(|_| random.int8(20.0)).collect());
    let mut all: Vec<(&str, &str, &[u64], Vec<u8>)> =
        names.iter().map(String::as_str).map(matrix).collect();
    let vector = |name| (name, "F32", &[6u64][..], (0..24).map(|_| random.next() as u8).collect());
    all.extend(vectors.iter().map(String::as_str).map(vector));
    let config = Config::default().threads(1);
    let file = compress_checkpoint(&open(safetensors(&all)), None, &config, Vec::new()).unwrap();
    assert!(file.len() > 4 << 20, "{} bytes", file.len());
    let tensors = whole(&salvage(&file).unwrap().reader);
    assert_eq!(tensors.len(), 128);
    (file, tensors)
}

/// It costs the tensors whose groups were there, and no other; with a part of the parity those whose entries were.
#[test]
fn a_block_costs_what_was_there() {
    let (file, tensors) = of_megabytes();
    let mut random = Random(20);
    let (index, end) = (index_of(&file), file.len() - 32);
    let record = |tag| records(&file).into_iter().find(|record| file[record.start] == tag).unwrap();
    // Of so few bytes the index has all.
    let bank = index - (record(19).len() - 3).next_multiple_of(128);
    let parity = record(17);
    assert_eq!(parity.len(), BLOCK + 3);
    let in_data = (0..bank).step_by(37 * BLOCK).map(|at| (at, 2));
    // Around the tables and the index, as far as there is something to put them right by.
    let around = (bank..parity.start - BLOCK).step_by(500).map(|at| (at, 0));
    let before = (bank - BLOCK..bank).step_by(500).map(|at| (at, 1));
    // What follows from the rest.
    let behind = (parity.start..end - BLOCK).step_by(97).map(|at| (at, 0));
    // Of both what it is of and parity, and of the footer.
    let of_both = (parity.start - BLOCK..parity.start)
        .step_by(333)
        .chain([end - BLOCK + 1, end + 32 - BLOCK]);
    let entries: Vec<_> =
        records(&file).into_iter().filter(|record| file[record.start] == 8).collect();
    let there = |at: usize| entries.iter().filter(|r| r.start < at + BLOCK && at < r.end).count();
    let of_both = of_both.map(|at| (at, there(at)));
    let (mut cases, mut lost) = (0, 0);
    for (at, most) in in_data.chain(before).chain(around).chain(behind).chain(of_both) {
        let mut zeroed = file.clone();
        zeroed[at..at + BLOCK].fill(0);
        let mut noise = file.clone();
        noise[at..at + BLOCK].iter_mut().for_each(|byte| *byte = random.next() as u8);
        let gone = [&file[..at], &file[at + BLOCK..]].concat();
        for bad in [zeroed, noise, gone] {
            let found = salvage(&bad).unwrap();
            let back = whole(&found.reader);
            assert!(back.iter().all(|(name, bytes)| tensors[name] == *bytes), "{at}");
            let lacking = tensors.len() - back.len();
            assert!(
                lacking <= most,
                "{lacking} at {at} of {bank}, {index}, {parity:?}: {:?}",
                found.damage
            );
            assert!(at < bank || !found.damage.is_empty(), "{at}");
            let is_of_both = (parity.start - BLOCK..parity.start).contains(&at) || at > end - BLOCK;
            assert!(found.whole_index || is_of_both, "{at}: {:?}", found.damage);
            (cases, lost) = (cases + 1, lost + lacking);
        }
    }
    println!("{cases} blocks, of {} bytes behind the data, cost {lost} tensors", file.len() - bank);
    assert!(cases > 100 && lost > 0);
}
