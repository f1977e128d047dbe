//! Text and binary: a dictionary where values repeat, all values joined where they do not.

use crate::io::section::{Section, SharedFile};
use crate::message::{Failure, Result};
use crate::table::model::Storage;
use crate::table::piece::ByteValues;
use crate::table::source::PIECE_BYTES;
use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Read, Write};
use tempfile::SpooledTempFile;

use super::decode::{NumberReader, Place};
use super::encode::{NumberWriter, Part, Settings, part, spool};
use super::manifest::ByteStore;

/// Largest dictionary, in values and in bytes; readers refuse larger ones.
pub(super) const DICTIONARY_VALUES: usize = 1 << 20;
pub(super) const DICTIONARY_BYTES: usize = 16 << 20;
/// After so many values a dictionary that does not pay is given up.
const TRIAL: usize = 1 << 16;
/// zstd: small, at some 100 MB/s.
const ZSTD_LEVEL: i32 = 9;
/// Windows up to 16 MiB; level 9 uses 4.
const WINDOW_LOG: u32 = 24;

/// Distinct values in the order in which they first come.
#[derive(Default)]
pub(super) struct Dictionary {
    codes: HashMap<Box<[u8]>, u32>,
    pub(super) values: ByteValues,
    seen: usize,
}

impl Dictionary {
    /// The codes of values; `None` once a dictionary does not pay.
    pub(super) fn encode(&mut self, values: &ByteValues) -> Option<Vec<u32>> {
        let mut out = Vec::with_capacity(values.len());
        for value in values.iter() {
            let code = match self.codes.get(value) {
                Some(&code) => code,
                None => {
                    let full = self.values.len() >= DICTIONARY_VALUES
                        || self.values.data.len() + value.len() > DICTIONARY_BYTES;
                    let code = u32::try_from(self.values.len()).ok().filter(|_| !full)?;
                    self.values.push(value);
                    self.codes.insert(value.into(), code);
                    code
                }
            };
            out.push(code);
        }
        self.seen += values.len();
        (self.seen < TRIAL || self.pays()).then_some(out)
    }

    /// Whether values come twice on average.
    pub(super) fn pays(&self) -> bool {
        self.values.len() <= self.seen / 2
    }
}

/// Byte strings on their way into members.
pub(super) struct StoreWriter {
    joined: zstd::stream::write::Encoder<'static, SpooledTempFile>,
    lengths: Option<NumberWriter<u32>>,
    total: u64,
    stem: String,
}

impl StoreWriter {
    pub(super) fn new(stem: &str, storage: Storage, n: u64, settings: &Settings) -> Result<Self> {
        let mut joined = zstd::stream::write::Encoder::new(spool(), ZSTD_LEVEL)?;
        joined.include_checksum(true)?;
        let lengths = match storage {
            Storage::Fixed(_) => None,
            _ => Some(NumberWriter::new(format!("{stem}.lengths.pco"), n, settings)?),
        };
        Ok(StoreWriter { joined, lengths, total: 0, stem: stem.to_string() })
    }

    pub(super) fn push(&mut self, values: &ByteValues) -> Result<()> {
        if let Some(writer) = &mut self.lengths {
            let lengths: std::result::Result<Vec<u32>, _> =
                values.iter().map(|value| u32::try_from(value.len())).collect();
            let lengths = lengths.map_err(|_| Failure::new("a value of more than 4 GiB"))?;
            writer.push(&lengths)?;
        }
        self.joined.write_all(&values.data)?;
        self.total += values.data.len() as u64;
        Ok(())
    }

    /// The store, its members, and the mode and delta of its lengths.
    pub(super) fn finish(self) -> Result<(ByteStore, Vec<Part>)> {
        let joined = part(format!("{}.zst", self.stem), self.joined.finish()?, None)?;
        let lengths = self.lengths.map(NumberWriter::finish).transpose()?;
        let store = ByteStore {
            joined: joined.member.clone(),
            total: self.total,
            lengths: lengths.as_ref().map(|part| part.member.clone()),
        };
        Ok((store, [Some(joined), lengths].into_iter().flatten().collect()))
    }
}

/// Where the lengths of values come from.
enum Lengths {
    Fixed(u32),
    Stored { reader: Box<NumberReader<u32>>, ahead: VecDeque<u32> },
}

/// Byte strings being read.
pub(super) struct StoreReader {
    joined: zstd::stream::read::Decoder<'static, BufReader<Section>>,
    lengths: Lengths,
    /// Bytes that the stream still has to give.
    left: u64,
    place: Place,
}

impl StoreReader {
    /// `lengths` where the storage does not fix them.
    pub(super) fn open(
        file: &SharedFile,
        store: &ByteStore,
        joined: &Place,
        lengths: Option<&Place>,
        storage: Storage,
    ) -> Result<Self> {
        let reader = file.buffered(joined.start, joined.bytes);
        let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
        decoder.window_log_max(WINDOW_LOG)?;
        let lengths = match (storage, lengths) {
            (Storage::Fixed(n), _) => Lengths::Fixed(n),
            (_, Some(place)) => Lengths::Stored {
                reader: Box::new(NumberReader::open(file, place)?),
                ahead: VecDeque::new(),
            },
            (_, None) => return Err(Failure::new("corrupt: no lengths")),
        };
        Ok(StoreReader { joined: decoder, lengths, left: store.total, place: joined.clone() })
    }

    /// The next values: `n`, or fewer where they would take more than [`PIECE_BYTES`].
    pub(super) fn next(&mut self, n: usize) -> Result<ByteValues> {
        let mut values = ByteValues::default();
        let mut sum = 0u64;
        while values.ends.len() < n && (sum == 0 || sum < PIECE_BYTES) {
            let missing = n - values.ends.len();
            sum = sum.saturating_add(u64::from(self.lengths.next(missing)?));
            if sum > self.left {
                return Err(self.corrupt("lengths beyond the end of the values"));
            }
            values.ends.push(usize::try_from(sum).map_err(|_| self.corrupt("too long"))?);
        }
        // `read_to_end` grows the buffer with what is really there.
        (&mut self.joined)
            .take(sum)
            .read_to_end(&mut values.data)
            .map_err(|e| self.corrupt(&e.to_string()))?;
        if values.data.len() as u64 != sum {
            return Err(self.corrupt("the values end too early"));
        }
        self.left -= sum;
        Ok(values)
    }

    /// After the last value: nothing may be left.
    pub(super) fn finish(&mut self) -> Result<()> {
        let more = self.joined.read(&mut [0]).map_err(|e| self.corrupt(&e.to_string()))?;
        if more > 0 || self.left > 0 {
            return Err(self.corrupt("more bytes than values"));
        }
        match &mut self.lengths {
            Lengths::Fixed(_) => Ok(()),
            Lengths::Stored { reader, .. } => reader.finish(),
        }
    }

    fn corrupt(&self, what: &str) -> Failure {
        Failure::new(format!("corrupt: {what}"))
            .within(self.place.file.clone())
            .at_byte(self.place.start)
    }
}

impl Lengths {
    /// One length; `wanted` are going to be asked for.
    fn next(&mut self, wanted: usize) -> Result<u32> {
        match self {
            Lengths::Fixed(n) => Ok(*n),
            Lengths::Stored { reader, ahead } => {
                if ahead.is_empty() {
                    ahead.extend(reader.exactly(wanted)?);
                }
                ahead.pop_front().ok_or_else(|| Failure::new("corrupt: no length"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_is_given_up_when_values_do_not_repeat() {
        let values = |n: usize, modulus: usize| {
            let mut values = ByteValues::default();
            (0..n).for_each(|i| values.push(format!("{}", i % modulus).as_bytes()));
            values
        };
        let mut dictionary = Dictionary::default();
        assert_eq!(dictionary.encode(&values(5, 2)), Some(vec![0, 1, 0, 1, 0]));
        assert!(dictionary.pays());
        assert_eq!(Dictionary::default().encode(&values(TRIAL, TRIAL)), None);
        assert_eq!(Dictionary::default().encode(&values(DICTIONARY_VALUES + 1, usize::MAX)), None);
    }
}
