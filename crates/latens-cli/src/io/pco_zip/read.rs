//! A `.pco.zip` as a table.

use crate::io::guard::guarded;
use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::report::Checksums;
use crate::table::model::{Schema, Storage};
use crate::table::piece::{ByteValues, Pairs, Piece, Values};
use crate::table::source::{Column, PIECE_BYTES, Table, no_column};
use latens::NumberType;
use std::collections::{HashMap, VecDeque};
use std::io::Read;
use zip::{CompressionMethod, ZipArchive};

use super::bytes::{DICTIONARY_BYTES, DICTIONARY_VALUES, StoreReader};
use super::decode::{AnyReader, NumberReader, Place, any_reader};
use super::manifest::{self, ByteStore, Entry, Layout, Manifest, Member};
use super::seal;
use super::validity::ValidityReader;
use super::write::foreign;

/// An open `.pco.zip` whose seal holds and whose members are those that `schema.json` names.
pub struct PcoZipTable {
    pub(super) file: SharedFile,
    pub(super) manifest: Manifest,
    schema: Schema,
    places: HashMap<String, Place>,
}

impl PcoZipTable {
    /// Check the seal, read the directory and `schema.json`.
    ///
    /// # Errors
    /// A file that is cut short, damaged, or no `.pco.zip` of a version known here.
    pub fn open(file: SharedFile) -> Result<Self> {
        seal::check(&file)?;
        let (manifest, places) = guarded(|| directory(&file))?;
        for entry in &manifest.columns {
            for member in entry.members() {
                let found = places.get(&member.file).map(|place| place.bytes);
                if found != Some(member.bytes) {
                    return Err(Failure::new(format!(
                        "corrupt: member {} is not there as schema.json says",
                        member.file
                    ))
                    .within(format!("column {}", entry.field.name)));
                }
            }
        }
        let named: usize = manifest.columns.iter().map(|entry| entry.members().len()).sum();
        if named != places.len() {
            return Err(Failure::new(
                "corrupt: the archive holds members that schema.json does not name",
            ));
        }
        Ok(PcoZipTable { schema: manifest.schema(), file, manifest, places })
    }

    pub(super) fn place(&self, member: &Member) -> Result<&Place> {
        self.places.get(&member.file).ok_or_else(|| Failure::new("corrupt: a member is missing"))
    }

    fn store(&self, store: &ByteStore, storage: Storage) -> Result<StoreReader> {
        let lengths = store.lengths.as_ref().map(|member| self.place(member)).transpose()?;
        StoreReader::open(&self.file, store, self.place(&store.joined)?, lengths, storage)
    }

    fn values(&self, entry: &Entry) -> Result<Reader> {
        let storage = entry.field.storage;
        Ok(match &entry.layout {
            Layout::Numbers { values } => {
                let number_type = match storage {
                    Storage::Number(number_type) => number_type,
                    _ => NumberType::U8,
                };
                Reader::Numbers(any_reader(number_type, &self.file, self.place(values)?)?)
            }
            Layout::Words { high, low } => Reader::Words {
                high: Box::new(NumberReader::open(&self.file, self.place(high)?)?),
                low: Box::new(NumberReader::open(&self.file, self.place(low)?)?),
            },
            Layout::Plain { values } => Reader::Plain(Box::new(self.store(values, storage)?)),
            Layout::Dictionary { codes, distinct, values } => {
                let too_large =
                    || Failure::new("corrupt: a dictionary larger than any that is written");
                let count = usize::try_from(*distinct).ok().filter(|&n| n <= DICTIONARY_VALUES);
                let count = count.ok_or_else(too_large)?;
                if values.total > DICTIONARY_BYTES as u64 {
                    return Err(too_large());
                }
                let mut store = self.store(values, storage)?;
                let mut distinct = ByteValues::default();
                while distinct.len() < count {
                    store.next(count - distinct.len())?.iter().for_each(|v| distinct.push(v));
                }
                store.finish()?;
                let codes = Box::new(NumberReader::open(&self.file, self.place(codes)?)?);
                Reader::Dictionary { codes, ahead: VecDeque::new(), distinct }
            }
        })
    }
}

/// The members of the archive, and what `schema.json` says.
fn directory(file: &SharedFile) -> Result<(Manifest, HashMap<String, Place>)> {
    let mut archive = ZipArchive::new(file.buffered(0, file.len())).map_err(foreign)?;
    if archive.has_duplicate_names() {
        return Err(Failure::new("corrupt: two members of the same name"));
    }
    let mut places = HashMap::new();
    let mut sum = 0u64;
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(foreign)?;
        let name = member.name().map_err(foreign)?.into_owned();
        let bytes = member.size();
        sum = sum.saturating_add(bytes);
        let stored = member.compression() == CompressionMethod::Stored;
        let start = member.data_start().filter(|start| {
            let end = start.checked_add(bytes);
            end.is_some_and(|end| end <= file.len())
        });
        let place = start.map(|start| Place { file: name.clone(), start, bytes });
        match place {
            Some(place) if stored && !member.encrypted() && bytes == member.compressed_size() => {
                places.insert(name, place);
            }
            _ => return Err(Failure::new(format!("corrupt: member {name} is not a stored one"))),
        }
    }
    if sum > file.len() {
        return Err(Failure::new("corrupt: members share bytes"));
    }
    let place = places.remove(manifest::FILE).ok_or_else(|| {
        Failure::new(format!("corrupt: there is no {}", manifest::FILE))
            .hint("it is a ZIP archive, but no table of latens")
    })?;
    let mut json = Vec::new();
    file.section(place.start, place.bytes).read_to_end(&mut json)?;
    let manifest = Manifest::from_json(&json).map_err(|e| e.at_byte(place.start))?;
    Ok((manifest, places))
}

impl Table for PcoZipTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.manifest.rows
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let entry = self.manifest.columns.get(index).ok_or_else(|| no_column(index))?;
        let open = || -> Result<PcoColumn> {
            let valid = entry.valid.as_ref().map(|member| self.place(member)).transpose()?;
            let valid = valid.map(|place| NumberReader::open(&self.file, place)).transpose()?;
            Ok(PcoColumn {
                reader: self.values(entry)?,
                valid: valid.map(ValidityReader::new),
                ahead: Vec::new(),
                left: self.manifest.rows,
                nulls: entry.nulls,
                name: entry.field.name.clone(),
                boolean: entry.field.storage == Storage::Boolean,
                finished: false,
            })
        };
        Ok(Box::new(open().map_err(|e| e.within(format!("column {}", entry.field.name)))?))
    }

    fn checksums(&self) -> Result<Checksums> {
        // The seal holds, or there would be no table; members may have their own besides.
        Ok(Checksums::All)
    }
}

/// Readers of the values of one column.
enum Reader {
    Numbers(Box<dyn AnyReader>),
    Words { high: Box<NumberReader<i64>>, low: Box<NumberReader<u64>> },
    Plain(Box<StoreReader>),
    Dictionary { codes: Box<NumberReader<u32>>, ahead: VecDeque<u32>, distinct: ByteValues },
}

impl Reader {
    /// The next `n` values, or fewer where they would take more than [`PIECE_BYTES`].
    fn next(&mut self, n: usize) -> Result<Values> {
        Ok(match self {
            Reader::Numbers(reader) => Values::Numbers(reader.exactly(n)?),
            Reader::Words { high, low } => {
                Values::Pairs(Pairs { high: high.exactly(n)?, low: low.exactly(n)? })
            }
            Reader::Plain(store) => Values::Bytes(store.next(n)?),
            Reader::Dictionary { codes, ahead, distinct } => {
                let mut values = ByteValues::default();
                while values.len() < n && (values.data.len() as u64) < PIECE_BYTES {
                    if ahead.is_empty() {
                        ahead.extend(codes.exactly(n - values.len())?);
                    }
                    let Some(code) = ahead.pop_front() else { break };
                    let code = usize::try_from(code).unwrap_or(usize::MAX);
                    if code >= distinct.len() {
                        return Err(Failure::new(format!(
                            "corrupt: code {code} in a dictionary of {} values",
                            distinct.len()
                        )));
                    }
                    values.push(distinct.get(code));
                }
                Values::Bytes(values)
            }
        })
    }

    fn finish(&mut self) -> Result<()> {
        match self {
            Reader::Numbers(reader) => reader.finish(),
            Reader::Words { high, low } => high.finish().and_then(|()| low.finish()),
            Reader::Plain(store) => store.finish(),
            Reader::Dictionary { codes, .. } => codes.finish(),
        }
    }
}

struct PcoColumn {
    reader: Reader,
    valid: Option<ValidityReader>,
    /// Validity of rows whose values are still to come.
    ahead: Vec<bool>,
    left: u64,
    /// Nulls that are still to come.
    nulls: u64,
    name: String,
    boolean: bool,
    /// Whether the ends of the members have been checked.
    finished: bool,
}

impl Column for PcoColumn {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let rows = usize::try_from(self.left).map_or(rows, |left| rows.min(left));
        self.piece(rows).map_err(|e| e.within(format!("column {}", self.name)))
    }
}

impl PcoColumn {
    fn piece(&mut self, rows: usize) -> Result<Piece> {
        let piece = match &mut self.valid {
            None => Piece::of(self.reader.next(rows)?),
            Some(reader) => {
                let mut valid = std::mem::take(&mut self.ahead);
                match valid.len() < rows {
                    true => valid.extend(reader.next(rows - valid.len())?),
                    false => self.ahead = valid.split_off(rows),
                }
                let n = valid.iter().filter(|&&valid| valid).count();
                let values = self.reader.next(n)?;
                if values.len() < n {
                    let mut rest = valid.split_off(rows_of(&valid, values.len()));
                    rest.append(&mut self.ahead);
                    self.ahead = rest;
                }
                Piece::with_validity(valid, values)
            }
        };
        if self.boolean && !is_boolean(&piece.values) {
            return Err(Failure::new("corrupt: a boolean that is neither 0 nor 1"));
        }
        let nulls = piece.nulls() as u64;
        let wrong = || Failure::new("corrupt: not as many nulls as schema.json says");
        self.nulls = self.nulls.checked_sub(nulls).ok_or_else(wrong)?;
        self.left -= piece.rows as u64;
        if self.left == 0 && !std::mem::replace(&mut self.finished, true) {
            if self.nulls > 0 {
                return Err(wrong());
            }
            self.reader.finish()?;
            self.valid.as_mut().map_or(Ok(()), ValidityReader::finish)?;
        }
        Ok(piece)
    }
}

/// The rows up to the one that holds value `n`, that one not among them.
fn rows_of(valid: &[bool], n: usize) -> usize {
    let mut rows = valid.iter().enumerate().filter(|(_, valid)| **valid);
    rows.nth(n).map_or(valid.len(), |(row, _)| row)
}

fn is_boolean(values: &Values) -> bool {
    match values {
        Values::Numbers(latens::AnyNumbers::U8(values)) => values.iter().all(|&value| value < 2),
        _ => false,
    }
}
