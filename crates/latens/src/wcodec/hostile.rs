//! Damage behind right checksums: whoever wrote the file wanted it so. Every structure is changed
//! and given the checksums that fit; a reader gives an error or values.

mod apart;
mod made;

use crate::ans::compact;
use crate::bits::checksum::crc32;
use crate::limits::Limits;
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::layout::part::Codec;
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use apart::Apart;
use made::{Random, files};

/// A buffer of the caller changes as far as is said, whatever is wrong.
fn into(reader: &Reader<Vec<u8>>, number: usize) {
    let before: Vec<u8> = b"what was here".iter().copied().cycle().take(1 << 16).collect();
    let length = reader.byte_length(number).unwrap();
    let mut out = before.clone();
    if length > out.len() {
        return;
    }
    if let Err(error) = reader.tensor_into(number, &mut out[..length]) {
        let changed = usize::try_from(error.values_before().unwrap_or(0)).unwrap();
        assert!(out[changed..] == before[changed..], "behind {changed}: {error}");
    }
    assert!(reader.tensor(number).err().and_then(|e| e.values_before()).is_none());
}

/// Errors tell the byte of the file, wherever in it a group is.
#[test]
fn errors_are_where_they_are() {
    let mut seen = 0;
    for file in files() {
        let reader = Reader::open(file.clone(), Limits::default()).unwrap();
        for entry in reader.open.index.entries() {
            let Storage::Stored { groups, descriptor: descriptor @ 1.., .. } = entry.record.storage
            else {
                continue;
            };
            let at = usize::try_from(entry.start).unwrap() + groups;
            let parts = Descriptor::read(&file[at..at + descriptor], false).unwrap().parts;
            let mut place = usize::try_from(entry.start).unwrap();
            for (p, part) in parts.iter().enumerate() {
                for (g, group) in part.groups.iter().enumerate() {
                    let plain = |s: &Symbols| s.prediction.is_none() && s.escape.is_none();
                    let plain = matches!(&part.codec, Codec::Direct(s) if plain(s) && s.compact);
                    let (start, length) = (place, group.length);
                    place += length.next_multiple_of(4);
                    if !plain {
                        continue;
                    }
                    let stored = &file[start..start + length];
                    let bits = stored[..16].iter().map(|two| usize::from(two % 16 + two / 16));
                    if bits.sum::<usize>().is_multiple_of(8) {
                        continue;
                    }
                    let (_, states) = compact::read(stored).unwrap();
                    let mut apart = Apart::of(&file);
                    let (groups, descriptor) = apart.entries[entry.number].as_mut().unwrap();
                    // A bit behind the states may not be set.
                    let in_groups = start - usize::try_from(entry.start).unwrap();
                    groups[in_groups + states - 1] |= 128;
                    let mut read = Descriptor::read(descriptor, false).unwrap();
                    read.parts[p].groups[g].crc = crc32(&groups[in_groups..][..length]);
                    *descriptor = read.bytes();
                    let damaged = apart.together(|_| ());
                    for threads in [1, 3] {
                        let reader = Reader::open(damaged.clone(), Limits::default()).unwrap();
                        let error = reader.threads(threads).verify().unwrap_err();
                        assert_eq!(error.at(), Some((start + states) as u64 - 1), "{error}");
                        assert!(error.to_string().contains(&format!("group {g}")), "{error}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

/// All that pairs may come with is damaged.
#[test]
fn one_of_the_files_has_an_order_and_one_has_pairs_of_two_rows() {
    let mut found = [0, 0];
    for file in files() {
        let reader = Reader::open(file, Limits::default()).unwrap();
        let part = OpenTensor::open(&reader, 0).unwrap().descriptor.parts[0].clone();
        if let Codec::Direct(symbols) = part.codec {
            found[0] += usize::from(symbols.order.is_some());
            found[1] += usize::from(symbols.stack.is_some());
        }
    }
    assert_eq!(found, [1, 1]);
}

/// Damage to the texts and to the names that headers are woven of, and parts of them.
#[test]
fn two_of_the_files_have_headers_without_names() {
    let mut found = [0, 0];
    for file in files() {
        let reader = Reader::open(file, Limits::default()).unwrap();
        let segments = || reader.open.index.files().flat_map(|file| file.segments());
        for (found, of_part) in found.iter_mut().zip([false, true]) {
            let is = |segment| matches!(segment, SegmentRecord::Woven(woven) if woven.part.is_some() == of_part);
            *found += usize::from(segments().any(is));
        }
    }
    assert_eq!(found, [1, 1]);
}

/// Everything that can be asked of a file. What comes out is not looked at.
fn use_all(file: Vec<u8>) -> crate::Result<()> {
    let limits = Limits::default().max_output(1 << 24).max_alloc(1 << 24);
    let threads = 1 + file.len() % 3;
    let reader = Reader::open(file, limits)?.threads(threads);
    let mut result = Ok(());
    for (number, _) in reader.tensors() {
        into(&reader, number);
        result = result.and(reader.tensor(number).map(drop));
        let _ = reader.rows(number, 1..3);
        let _ = reader.inspect(number);
    }
    let reader = reader.without_planes(1 + threads * 3);
    for (number, _) in reader.tensors() {
        let _ = reader.rows(number, 0..4);
    }
    for number in 0..reader.files().count() {
        let _ = (reader.format_of_file(number), reader.metadata(number));
        let head = reader.file_head(number, 100);
        let written = reader.write_file(number, &mut std::io::sink());
        result = result.and(head.map(drop)).and(written);
        for blob in reader.blobs_of_file(number) {
            result = result.and(reader.blob(&blob).map(drop));
        }
    }
    result.and(reader.verify())
}

#[test]
fn what_was_taken_apart_comes_together() {
    for file in files() {
        assert!(Apart::of(&file).together(|_| ()) == file);
        use_all(file).unwrap();
    }
}

#[test]
fn damage_behind_right_checksums_gives_errors_or_values() {
    let mut random = Random(5);
    let (mut errors, mut cases) = (0, 0);
    for file in files() {
        for round in 0..1500 {
            let mut apart = Apart::of(&file);
            let stored: Vec<usize> =
                (0..apart.entries.len()).filter(|&i| apart.entries[i].is_some()).collect();
            let which = stored[random.below(stored.len())];
            let mut index_seed = None;
            match round % 4 {
                0 => {
                    if let Some((_, descriptor)) = &mut apart.entries[which] {
                        random.damage(descriptor);
                    }
                }
                1 => random.damage(&mut apart.bank),
                2 => {
                    // A group, with its checksum put right in the descriptor.
                    if let Some((groups, descriptor)) = &mut apart.entries[which] {
                        let plain = descriptor.is_empty();
                        let mut read = match plain {
                            true => Descriptor::plain(groups.len(), 0),
                            false => Descriptor::read(descriptor, false).unwrap(),
                        };
                        let part = random.below(read.parts.len());
                        let which = random.below(read.parts[part].groups.len());
                        let at: usize = read.parts[..part]
                            .iter()
                            .flat_map(|p| &p.groups)
                            .chain(read.parts[part].groups.iter().take(which))
                            .map(|g| g.length.next_multiple_of(4))
                            .sum();
                        if let Some(group) = read.parts[part].groups.get_mut(which) {
                            let mut bytes = groups[at..at + group.length].to_vec();
                            let length = bytes.len();
                            random.damage(&mut bytes);
                            bytes.resize(length, 0);
                            groups[at..at + length].copy_from_slice(&bytes);
                            group.crc = crc32(&bytes);
                        }
                        *descriptor = if plain { Vec::new() } else { read.bytes() };
                    }
                }
                _ => index_seed = Some(random.below(1 << 30) as u64),
            }
            let damaged = apart.together(|index| {
                if let Some(seed) = index_seed {
                    Random(seed).damage(index);
                }
            });
            cases += 1;
            errors += u32::from(use_all(damaged).is_err());
        }
    }
    // Some changes change nothing: a byte becomes what it was, a table is used by nobody.
    assert!(errors * 10 > cases * 8, "{errors} errors in {cases} cases");
}
