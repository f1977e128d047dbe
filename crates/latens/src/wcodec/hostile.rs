//! Damage behind right checksums: whoever wrote the file wanted it so. Every structure is changed
//! and given the checksums that fit; a reader gives an error or values.

use crate::bits::checksum::crc32;
use crate::limits::Limits;
use crate::wcodec::checkpoint::{Checkpoint, Quantization};
use crate::wcodec::config::{Coder, Config, Tools};
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::layout::entry::{Entry, Storage};
use crate::wcodec::layout::file::{FileRecord, SourceFileRecord};
use crate::wcodec::layout::header::{FOOTER_BYTES, Footer, align};
use crate::wcodec::layout::index::Index;
use crate::wcodec::layout::part::Codec;
use crate::wcodec::open_index::OpenEntry;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::reader::Reader;
use crate::wcodec::transform::Transform;
use crate::{Error, wcodec};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % n.max(1)
    }

    /// Changes some bytes, or drops or doubles a few.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                2 => bytes[at] = u8::try_from(self.below(256)).unwrap(),
                3 => drop(bytes.remove(at)),
                4 => bytes.insert(at, 0xff),
                _ => bytes[at] = bytes[at].wrapping_add(1),
            }
        }
    }
}

/// A small checkpoint with scales, nibbles and floats.
fn source(random: &mut Random) -> Vec<u8> {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for (name, dtype, shape, bytes) in [
        ("a.weight", "I8", "[48,64]", 48 * 64),
        ("a.weight_scale", "F32", "[48,4]", 48 * 16),
        ("b.weight_packed", "I32", "[32,16]", 32 * 64),
        ("c", "BF16", "[700]", 1400),
    ] {
        let start = data.len();
        data.extend((0..bytes).map(|i| u8::try_from(random.below(9 + i % 7) * 3).unwrap()));
        entries.push(format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{start},{}]}}",
            data.len()
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

/// An entry as it was written.
fn owned(entry: &OpenEntry<'_>) -> Entry {
    Entry {
        name: entry.name.clone(),
        dtype: entry.record.dtype().map(str::to_owned),
        shape: entry.record.shape(),
        length: entry.record.length,
        storage: match entry.record.storage {
            Storage::Stored { groups, descriptor, crc } => {
                Storage::Stored { groups, descriptor, crc }
            }
            Storage::Inline { groups, descriptor } => {
                Storage::Inline { groups: groups.to_vec(), descriptor: descriptor.to_vec() }
            }
            Storage::Copy(of) => Storage::Copy(of),
        },
    }
}

/// A file as it was written.
fn written(file: &FileRecord<'_>) -> SourceFileRecord {
    SourceFileRecord {
        name: file.name.to_owned(),
        length: file.length,
        segments: file.segments().collect(),
    }
}

/// A file taken apart: stored entries, bank, index.
struct Apart {
    header: Vec<u8>,
    entries: Vec<Option<(Vec<u8>, Vec<u8>)>>,
    bank: Vec<u8>,
    index: Index,
}

impl Apart {
    fn of(file: &[u8]) -> Self {
        let reader = Reader::open(file.to_vec(), Limits::default()).unwrap();
        let at = |from: u64, len: usize| {
            let from = usize::try_from(from).unwrap();
            file[from..from + len].to_vec()
        };
        let stored = reader.open.index.entries().map(|entry| match entry.record.storage {
            Storage::Stored { groups, descriptor, .. } => {
                Some((at(entry.start, groups), at(entry.start + groups as u64, descriptor)))
            }
            _ => None,
        });
        let (entries, read) = (stored.collect(), &reader.open.index);
        let bank = at(read.bank_at, read.bank.bytes);
        let index = Index {
            header_crc: read.header_crc,
            model_hash: read.model_hash,
            base: read.base.clone(),
            bank: read.bank,
            entries: read.entries().map(|entry| owned(&entry)).collect(),
            files: read.files().map(|file| written(&file)).collect(),
        };
        Self { header: file[..128].to_vec(), entries, bank, index }
    }

    /// Together again, with checksums that fit; `damage` changes the index's bytes.
    fn together(mut self, damage: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut file = self.header.clone();
        let pad = |file: &mut Vec<u8>| {
            file.resize(usize::try_from(align(file.len() as u64, 128)).unwrap(), 0);
        };
        for (entry, stored) in self.index.entries.iter_mut().zip(&self.entries) {
            if let Some((groups, descriptor)) = stored {
                pad(&mut file);
                file.extend_from_slice(groups);
                file.extend_from_slice(descriptor);
                entry.storage = Storage::Stored {
                    groups: groups.len(),
                    descriptor: descriptor.len(),
                    crc: crc32(descriptor),
                };
            }
        }
        pad(&mut file);
        file.extend_from_slice(&self.bank);
        self.index.bank.bytes = self.bank.len();
        self.index.bank.crc = crc32(&self.bank);
        pad(&mut file);
        let index_offset = file.len() as u64;
        let mut index = self.index.bytes();
        damage(&mut index);
        file.extend_from_slice(&index);
        let file_length = (file.len() + FOOTER_BYTES) as u64;
        let footer = Footer { index_offset, file_length, index_crc: crc32(&index) };
        file.extend_from_slice(&footer.bytes());
        file
    }
}

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
            let Storage::Stored { groups, descriptor, .. } = entry.record.storage else { continue };
            let at = usize::try_from(entry.start).unwrap() + groups;
            let parts = Descriptor::read(&file[at..at + descriptor], false).unwrap().parts;
            let mut place = usize::try_from(entry.start).unwrap();
            for (p, part) in parts.iter().enumerate() {
                for (g, group) in part.groups.iter().enumerate() {
                    let plain = matches!(&part.codec, Codec::Direct(s) if s.prediction.is_none());
                    let (start, length) = (place, group.length);
                    place += length.next_multiple_of(4);
                    if !plain {
                        continue;
                    }
                    let mut apart = Apart::of(&file);
                    let (groups, descriptor) = apart.entries[entry.number].as_mut().unwrap();
                    // The state of lane 3 may not be 0.
                    let in_groups = start - usize::try_from(entry.start).unwrap();
                    groups[in_groups + 12..][..4].fill(0);
                    let mut read = Descriptor::read(descriptor, false).unwrap();
                    read.parts[p].groups[g].crc = crc32(&groups[in_groups..][..length]);
                    *descriptor = read.bytes(false);
                    let damaged = apart.together(|_| ());
                    for threads in [1, 3] {
                        let reader = Reader::open(damaged.clone(), Limits::default()).unwrap();
                        let error = reader.threads(threads).verify().unwrap_err();
                        assert_eq!(error.at(), Some(start as u64 + 12), "{error}");
                        assert!(error.to_string().contains(&format!("group {g}")), "{error}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
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
    result.and(reader.verify())
}

fn files() -> Vec<Vec<u8>> {
    let source = source(&mut Random(3));
    let none = |_: &str| Err(Error::invalid("no shards"));
    let open = || {
        let source = Box::new(source.clone());
        Checkpoint::read("a.safetensors".to_owned(), source, Quantization::default(), &none)
    };
    let all = Tools { predictors: Predictor::OF_TILES.to_vec(), ..Tools::default() };
    let transformed = Tools { transforms: vec![Transform::Dct, Transform::Adst], ..all.clone() };
    let bitplane = Tools { coder: Coder::Bitplane, ..all.clone() };
    let both = Tools { coder: Coder::Bitplane, ..transformed.clone() };
    let tools = [None, Some(all), Some(transformed), Some(bitplane), Some(both)];
    let files = tools.into_iter().map(|tools| {
        let config = Config::default().tools(tools).group_symbols(700);
        wcodec::compress_checkpoint(&open().unwrap(), None, &config, Vec::new()).unwrap()
    });
    files.collect()
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
                        let mut read = Descriptor::read(descriptor, false).unwrap();
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
                        *descriptor = read.bytes(false);
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
