//! Takes a `.wcodec` file apart and puts it together again with right lengths and checksums, so
//! that damage within its records gets past them.

use super::Random;

/// A number as a file has it.
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

pub fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// The front of an entry: kind, name, dtype, shape, length.
pub fn front(shared: u64, rest: &str, dtype: &str, shape: &[u64], length: u64) -> Vec<u8> {
    let mut out = vec![u8::from(dtype.is_empty())];
    out.extend(varint(shared));
    for text in [rest, dtype] {
        out.extend(varint(text.len() as u64));
        out.extend(text.as_bytes());
    }
    out.extend(varint(shape.len() as u64));
    shape.iter().for_each(|&d| out.extend(varint(d)));
    out.extend(varint(length));
    out
}

fn take(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

/// The length of an entry, which its record ends with up to where it is stored; 0 where that was damaged.
fn length(front: &[u8]) -> usize {
    let Some((last, before)) = front.split_last() else { return 0 };
    let more = before.iter().rev().take_while(|&&byte| byte >= 0x80).count().min(8);
    match last {
        0..0x80 => take(&mut &front[front.len() - 1 - more..]) as usize,
        _ => 0,
    }
}

fn split<'a>(bytes: &mut &'a [u8], len: u64) -> &'a [u8] {
    let (front, rest) = bytes.split_at(usize::try_from(len).unwrap());
    *bytes = rest;
    front
}

/// A group in the data: its bytes, and where in the descriptor its checksum is.
#[derive(Clone)]
pub struct Group {
    bytes: std::ops::Range<usize>,
    sum: usize,
}

/// Finds the groups by their checksums.
fn groups(groups: &[u8], descriptor: &[u8]) -> Vec<Group> {
    let (mut found, mut start, mut from) = (Vec::new(), 0, 0);
    while start < groups.len() {
        let mut of_lengths = (start + 1..=groups.len()).map(|end| {
            let sum = crc(&groups[start..end]).to_le_bytes();
            let at = descriptor[from..].windows(4).position(|w| w == sum);
            at.map(|at| Group { bytes: start..end, sum: from + at })
        });
        let Some(group) = of_lengths.find_map(|found| found) else { break };
        start = group.bytes.end.next_multiple_of(4);
        from = group.sum;
        found.push(group);
    }
    found
}

/// How an entry is stored.
#[derive(Clone)]
pub enum Stored {
    /// Groups and descriptor in the data, and where the checksums of groups are. A plain entry has no descriptor.
    Data(Vec<u8>, Vec<u8>, Vec<Group>),
    /// Groups and descriptor in the record.
    Inline(Vec<u8>, Vec<u8>),
    /// A copy: what the record says of it, id and all.
    Copy(Vec<u8>),
}

/// What a file is made of.
#[derive(Clone)]
pub struct Parts {
    pub header: Vec<u8>,
    pub hash: Vec<u8>,
    pub base: Option<Vec<u8>>,
    /// Number of tables, and their bytes.
    pub bank: (u64, Vec<u8>),
    /// Of each entry: its record up to the length, and where the rest is.
    pub entries: Vec<(Vec<u8>, Stored)>,
    pub files: Vec<Vec<u8>>,
    /// What files beside the checkpoint tell.
    pub beside: Option<Vec<u8>>,
    /// Whether the index says what the tables' bytes are together.
    pub tables: bool,
}

/// A file without entries.
pub fn nothing() -> Parts {
    Parts {
        header: {
            let mut header = b"WCODEC\0\0\x01\0\0\0".to_vec();
            header.resize(128, 0);
            header
        },
        hash: vec![0; 32],
        base: None,
        bank: (0, Vec::new()),
        entries: Vec::new(),
        files: Vec::new(),
        beside: None,
        tables: false,
    }
}

impl Parts {
    pub fn of(file: &[u8]) -> Self {
        let footer = &file[file.len() - 32..];
        let at = u64::from_le_bytes(footer[..8].try_into().unwrap()) as usize;
        let mut index = &file[at..file.len() - 32];
        let mut parts = Parts {
            header: file[..128].to_vec(),
            hash: Vec::new(),
            base: None,
            bank: (0, Vec::new()),
            entries: Vec::new(),
            files: Vec::new(),
            beside: None,
            tables: false,
        };
        let (mut end, mut bank) = (128usize, 0);
        while !index.is_empty() {
            let tag = take(&mut index);
            let len = take(&mut index);
            let mut record = split(&mut index, len);
            match tag {
                2 => parts.hash = record[4..].to_vec(),
                4 => parts.base = Some(record.to_vec()),
                6 => {
                    parts.bank.0 = take(&mut record);
                    bank = take(&mut record) as usize;
                }
                8 => {
                    let whole = record;
                    split(&mut record, 1);
                    take(&mut record);
                    for _ in 0..2 {
                        let len = take(&mut record);
                        split(&mut record, len);
                    }
                    for _ in 0..take(&mut record) {
                        take(&mut record);
                    }
                    take(&mut record);
                    let front = whole[..whole.len() - record.len()].to_vec();
                    let stored = match split(&mut record, 1)[0] {
                        0 => {
                            let (groups, descriptor) = (take(&mut record), take(&mut record));
                            let start = end.next_multiple_of(if descriptor == 0 { 4 } else { 128 });
                            let mut data = &file[start..];
                            let groups = split(&mut data, groups).to_vec();
                            let descriptor = split(&mut data, descriptor).to_vec();
                            end = start + groups.len() + descriptor.len();
                            let sums = self::groups(&groups, &descriptor);
                            assert!(sums.is_empty() == descriptor.is_empty(), "groups are found");
                            Stored::Data(groups, descriptor, sums)
                        }
                        1 => {
                            let (groups, descriptor) = (take(&mut record), take(&mut record));
                            let groups = split(&mut record, groups).to_vec();
                            Stored::Inline(groups, split(&mut record, descriptor).to_vec())
                        }
                        id => Stored::Copy([&[id], record].concat()),
                    };
                    parts.entries.push((front, stored));
                }
                13 => parts.beside = Some(record.to_vec()),
                10 => parts.files.push(record.to_vec()),
                19 => parts.tables = true,
                _ => {}
            }
        }
        let start = end.next_multiple_of(128);
        parts.bank.1 = file[start..start + bank].to_vec();
        parts
    }

    /// The file, checksums and lengths all right.
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = self.header.clone();
        let mut index = Vec::new();
        fn record(tag: u8, content: &[u8], index: &mut Vec<u8>) {
            index.push(tag);
            index.extend(varint(content.len() as u64));
            index.extend_from_slice(content);
        }
        record(2, &[&crc(&self.header).to_le_bytes()[..], &self.hash].concat(), &mut index);
        self.base.iter().for_each(|base| record(4, base, &mut index));
        let tables = [varint(self.bank.0), varint(self.bank.1.len() as u64)].concat();
        let sum = crc(&self.bank.1).to_le_bytes();
        record(6, &[&tables[..], &sum].concat(), &mut index);
        let pad = |file: &mut Vec<u8>| file.resize(file.len().next_multiple_of(128), 0);
        for (front, stored) in &self.entries {
            let mut content = front.clone();
            let mut lengths = |id: u8, groups: &[u8], descriptor: &[u8]| {
                content.push(id);
                content.extend(varint(groups.len() as u64));
                content.extend(varint(descriptor.len() as u64));
            };
            match stored {
                Stored::Data(groups, descriptor, _) => {
                    lengths(0, groups, descriptor);
                    if descriptor.is_empty() {
                        let length = length(front).min(groups.len());
                        content.extend(crc(&groups[..length]).to_le_bytes());
                        file.resize(file.len().next_multiple_of(4), 0);
                    } else {
                        content.extend(crc(descriptor).to_le_bytes());
                        pad(&mut file);
                    }
                    file.extend_from_slice(groups);
                    file.extend_from_slice(descriptor);
                }
                Stored::Inline(groups, descriptor) => {
                    lengths(1, groups, descriptor);
                    content.extend_from_slice(groups);
                    content.extend_from_slice(descriptor);
                }
                Stored::Copy(rest) => content.extend_from_slice(rest),
            }
            record(8, &content, &mut index);
        }
        self.files.iter().for_each(|content| record(10, content, &mut index));
        self.beside.iter().for_each(|told| record(13, told, &mut index));
        if self.tables && !self.bank.1.is_empty() {
            let mut content = vec![0; self.bank.1.len().min(4096)];
            for bytes in self.bank.1.chunks(4096) {
                content.iter_mut().zip(bytes).for_each(|(xor, byte)| *xor ^= byte);
            }
            record(19, &content, &mut index);
        }
        pad(&mut file);
        file.extend_from_slice(&self.bank.1);
        pad(&mut file);
        let mut footer = (file.len() as u64).to_le_bytes().to_vec();
        footer.extend(((file.len() + index.len() + 32) as u64).to_le_bytes());
        footer.extend(crc(&index).to_le_bytes());
        footer.extend(crc(&footer).to_le_bytes());
        footer.extend(b"WCODEC\0\x01");
        file.extend(index);
        file.extend(footer);
        file
    }

    /// Damages one of the parts, mostly groups and descriptors.
    pub fn mutate(
        &mut self,
        other: &Parts,
        random: &mut Random,
        havoc: impl Fn(&mut Vec<u8>, &[u8], &mut Random),
    ) {
        let count = self.entries.len();
        match random.below(20) {
            0 => havoc(&mut self.header, &other.header, random),
            1..=3 => havoc(&mut self.bank.1, &other.bank.1, random),
            4 => self.bank.0 = random.word() % 20,
            5 if self.beside.is_none() && !self.files.is_empty() => {
                let at = random.below(self.files.len());
                havoc(&mut self.files[at], &self.bank.1, random);
            }
            5 if self.beside.is_some() => {
                self.beside.iter_mut().for_each(|told| havoc(told, &[], random));
            }
            6 if count > 0 => havoc(&mut self.entries[random.below(count)].0, &[], random),
            7 if count > 1 => {
                let (a, b) = (random.below(count), random.below(count));
                let stored = other.entries[random.below(other.entries.len())].1.clone();
                if random.below(2) == 0 {
                    self.entries[a].1 = stored;
                } else {
                    self.entries.swap(a, b);
                }
            }
            turn if count > 0 => {
                let at = random.below(count);
                let others = &other.entries[random.below(other.entries.len())].1;
                let (other_g, other_d) = match others {
                    Stored::Data(g, d, _) | Stored::Inline(g, d) => (&g[..], &d[..]),
                    Stored::Copy(_) => (&[][..], &[][..]),
                };
                match &mut self.entries[at].1 {
                    Stored::Copy(rest) => havoc(rest, &[], random),
                    Stored::Data(_, d, _) | Stored::Inline(_, d) if turn >= 13 => {
                        havoc(d, other_d, random);
                    }
                    Stored::Inline(g, _) => {
                        havoc(g, other_g, random);
                        g.resize(g.len().next_multiple_of(4), 0);
                    }
                    Stored::Data(g, d, sums) => {
                        let len = g.len();
                        havoc(g, other_g, random);
                        g.resize(len, 0);
                        for group in sums.iter() {
                            let sum = crc(&g[group.bytes.clone()]).to_le_bytes();
                            if let Some(place) = d.get_mut(group.sum..group.sum + 4) {
                                place.copy_from_slice(&sum);
                            }
                        }
                    }
                }
            }
            _ => havoc(&mut self.hash, &other.hash, random),
        }
    }
}
