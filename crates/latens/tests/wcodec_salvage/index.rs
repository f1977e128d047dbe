//! Indices that are damaged or cut off: what they still say, and what of it is believed.

use super::chance::short;
use super::*;
use wcodec_common::mend::{crc, varint};

/// A file whose index has several stretches, and its tensors.
fn many() -> (Vec<u8>, Tensors) {
    many_and(&[])
}

/// The same, with others behind them.
pub(super) fn many_and(more: &[(&str, &str, &[u64], Vec<u8>)]) -> (Vec<u8>, Tensors) {
    let mut random = Random(77);
    let names: Vec<String> = (0..600).map(|i| format!("layer.{i}.bias")).collect();
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = names
        .iter()
        .map(|name| (&name[..], "F32", &[6u64][..], (0..24).map(|_| random.next() as u8).collect()))
        .chain(more.iter().cloned())
        .collect();
    let config = Config::default().threads(1);
    let file =
        compress_checkpoint(&open(safetensors(&tensors)), None, &config, Vec::new()).unwrap();
    let expected = whole(&Reader::open(file.clone(), Limits::default()).unwrap());
    let index = file.len() - 32 - index_of(&file);
    assert!(expected.len() == 600 + more.len() && index > 6 * 4096, "{index}");
    (file, expected)
}

/// Of an index of several stretches, what stands in it before the damaged one is proved.
#[test]
fn what_an_index_says_before_damage_is_proved() {
    let (file, expected) = many();
    let (start, end) = (index_of(&file), file.len() - 32);
    for at in (start + 4096..end).step_by(2311) {
        // More than one bit, and of more than one place: it cannot be put right.
        let mut hurt = file.clone();
        for (place, by) in [(0, 0x5a), (3, 0x21), (5000, 0x7f)] {
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

/// What is damaged at one place of an index of several stretches is put right: nothing is lost.
#[test]
fn one_damaged_place_of_an_index_is_put_right() {
    let (file, expected) = many();
    let (start, end) = (index_of(&file), file.len() - 32);
    let mut random = Random(5);
    for at in (start..end - 3000).step_by(1733).chain([start + 1, start + 40, start + 46]) {
        for count in [2, 3, 16, 512, 1024] {
            let mut hurt = file.clone();
            hurt[at..at + count].iter_mut().for_each(|byte| *byte = random.word() as u8);
            let found = salvage(&hurt).unwrap();
            assert!(found.whole_index && found.proved && found.lost.is_none(), "{count} at {at}");
            assert!(found.damage.iter().all(|d| (start as u64..end as u64).contains(&d.at)));
            assert_eq!(whole(&found.reader), expected);
        }
    }
}

/// A bit of each of its stretches.
#[test]
fn scattered_bits_of_an_index_are_put_right() {
    let (mut file, tensors) = many();
    let (start, end) = (index_of(&file), file.len() - 32);
    let places: Vec<usize> = (start + 900..end).step_by(4096 + 150).collect();
    places.iter().for_each(|&at| file[at] ^= 1 << (at % 8));
    let found = salvage(&file).unwrap();
    assert!(places.len() > 3 && found.whole_index && found.proved, "{:?}", found.damage);
    assert_eq!(found.damage.len(), 1);
    assert_eq!(found.damage[0].at, places[0] as u64);
    let what = format!("up to {} bytes", places.len());
    assert!(found.damage[0].what.contains(&what), "{:?}", found.damage);
    assert!(whole(&found.reader) == tensors);
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
    // The header of what was streamed does not say how many there are.
    let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let mut between = 0;
    for length in index_of(&file) + 1..file.len() - 32 {
        let Ok(found) = salvage(&file[..length]) else { continue };
        let all = found.reader.tensors().count() == 20;
        between += usize::from(found.damage.iter().any(|d| d.what.contains("may not be its last")));
        assert!(all || !found.proved && found.lost.is_some(), "{length} bytes");
    }
    assert!(between > 10, "{between}");
}

/// The file with another index, whose checksum is right.
pub(super) fn with_index(file: &[u8], index: &[u8]) -> Vec<u8> {
    let start = index_of(file);
    let mut out = [&file[..start], index].concat();
    let length = (out.len() + 32) as u64;
    let mut footer = [(start as u64).to_le_bytes(), length.to_le_bytes()].concat();
    footer.extend(crc(index).to_le_bytes());
    footer.extend(crc(&footer).to_le_bytes());
    out.extend(footer);
    out.extend(&file[file.len() - 8..]);
    out
}

/// Sums are what ends an index, once, and of several stretches: nothing else is taken for them and skipped.
#[test]
fn sums_are_refused_elsewhere() {
    let sums = |index: &[u8]| -> Vec<u8> {
        index.chunks(4096).flat_map(|stretch| crc(stretch).to_le_bytes()).collect()
    };
    let record = |content: &[u8]| [&[15], &varint(content.len() as u64)[..], content].concat();
    let opened = |file: Vec<u8>| Reader::open(file, Limits::default()).map(|_| ());
    let (file, _) = many();
    let (start, end) = (index_of(&file), file.len() - 32);
    let stretches = (end - start - 4) / 4100 + 1;
    let front = file[start..end - 4 * stretches - 2].to_vec();
    let whole = [&front[..], &record(&sums(&front))].concat();
    assert!(with_index(&file, &whole) == file);
    // They may be lacking; what they say is looked at only where there is damage.
    opened(with_index(&file, &front)).unwrap();
    opened(with_index(&file, &[&front[..], &record(&vec![7; 4 * stretches])].concat())).unwrap();
    let misplaced = |file: Vec<u8>| opened(file).is_err_and(|e| e.what().contains("out of place"));
    assert!(misplaced(with_index(&file, &[&whole[..], &record(&sums(&whole))].concat())));
    for length in [0, 4 * stretches - 4, 4 * stretches - 1, 4 * stretches + 4] {
        let other = [&front[..], &record(&vec![7; length])].concat();
        assert!(misplaced(with_index(&file, &other)), "{length}");
    }
    // An entry with another tag.
    let mut other = whole.clone();
    let at = records(&file)[303].start - start;
    assert_eq!(other[at], 8);
    other[at] = 15;
    assert!(misplaced(with_index(&file, &other)));
    // Of an index that is damaged as well, nothing behind that is read with the names of what is before.
    let mut bad = with_index(&file, &other);
    bad[start + 6] ^= 0x11;
    let found = salvage(&bad).unwrap();
    let left = found.reader.tensors().count();
    assert!(left <= 303 && found.lost.is_some(), "{left}: {:?}", found.damage);
    // In a short index.
    let (file, _) = short();
    let index = file[index_of(&file)..file.len() - 32].to_vec();
    assert!(misplaced(with_index(&file, &[&index[..], &record(&sums(&index))].concat())));
}

/// Parity is of some lengths, and between what it is of and the sums. It may be lacking.
#[test]
fn parity_is_refused_elsewhere() {
    let record = |content: &[u8]| [&[17], &varint(content.len() as u64)[..], content].concat();
    let opened = |file: Vec<u8>| Reader::open(file, Limits::default()).map(|_| ());
    let misplaced = |file: Vec<u8>| opened(file).is_err_and(|e| e.what().contains("out of place"));
    let (file, _) = many();
    let (start, end) = (index_of(&file), file.len() - 32);
    let index = &file[start..end];
    // 1024 bytes for 16 to 32 KiB, and its tag and length.
    let stretches = (index.len() - 4) / 4100 + 1;
    let parity = index.len() - 4 * stretches - 2 - 1024;
    let front = &index[..parity - 3];
    let mut expected = vec![0; 1024];
    front.iter().enumerate().for_each(|(i, byte)| expected[i % 1024] ^= byte);
    assert!(index[parity - 3..].starts_with(&record(&expected)));
    opened(with_index(&file, front)).unwrap();
    opened(with_index(&file, &[front, &record(&[7; 1024])].concat())).unwrap();
    for length in [64, 512, 2048, 4096] {
        opened(with_index(&file, &[front, &record(&vec![7; length])].concat())).unwrap();
    }
    for length in [0, 1, 63, 65, 1023, 1025, 3072, 8192] {
        assert!(misplaced(with_index(&file, &[front, &record(&vec![7; length])].concat())));
    }
    let twice = [front, &record(&expected), &record(&expected)].concat();
    assert!(misplaced(with_index(&file, &twice)));
    let (before, behind) = front.split_at(records(&file)[303].start - start);
    let within = [before, &record(&[7; 512]), behind].concat();
    assert!(misplaced(with_index(&file, &within)));
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
