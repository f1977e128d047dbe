//! The codecs that are measured.

use bytes::Bytes;
use latens::delta_binary_packed as dbp;
use latens::pco;
use latens::wcodec::{self, Reader};
use latens::{AnyNumbers, Limits, NumberType, Watch, with_number_type};
use std::ops::RangeInclusive;

use super::data::{Back, Column, Data, Kind};
use crate::io::parquet::{self, Compression, Options, ParquetTable};
use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::table::piece::Values;
use crate::table::source::{PIECE_ROWS, Table};

/// All of them, as `--codecs` names them.
pub const NAMES: [&str; 8] =
    ["latens-4", "latens-8", "latens-12", "dbp", "zstd-3", "zstd-19", "lz4", "parquet-zstd"];

/// A codec over all of the data.
pub(super) trait Codec: Sync {
    fn name(&self) -> String;
    fn compress(&self, index: usize) -> Result<Vec<u8>>;
    fn decompress(&self, index: usize, packed: &Bytes) -> Result<Back>;
}

/// The codec of this name: `latens-N`, `zstd-N`, `lz4`, and for columns `dbp` and `parquet-zstd`.
/// Those of latens have so many threads for a part.
pub(super) fn by_name<'a>(
    name: &str,
    data: &'a Data,
    threads: usize,
) -> Result<Box<dyn Codec + 'a>> {
    let level = |prefix: &str, levels: RangeInclusive<i32>| -> Option<i32> {
        let level: i32 = name.strip_prefix(prefix)?.parse().ok()?;
        levels.contains(&level).then_some(level)
    };
    let columns = match &data.kind {
        Kind::Columns(columns) => Some(columns.as_slice()),
        Kind::Checkpoint(_) => None,
    };
    let latens = level("latens-", 0..=12).and_then(|level| u32::try_from(level).ok());
    match (name, columns) {
        (_, Some(columns)) if latens.is_some() => {
            let config = pco::Config::default().level(latens.unwrap_or(8));
            Ok(Box::new(Pco { columns, config, threads, name: name.into() }))
        }
        (_, None) if latens.is_some() => {
            let config = wcodec::Config::default().level(latens.unwrap_or(8)).threads(threads);
            Ok(Box::new(WCodec { data, config, threads, name: name.into() }))
        }
        ("dbp", Some(columns)) => Ok(Box::new(Dbp { columns })),
        ("parquet-zstd", Some(columns)) => Ok(Box::new(Parquet { columns })),
        ("lz4", _) => Ok(Box::new(Lz4 { data })),
        _ => match level("zstd-", 1..=22) {
            Some(level) => Ok(Box::new(Zstd { data, level })),
            None => Err(Failure::usage(format!("there is no codec {name:?} for this input")).hint(
                match columns {
                    Some(_) => {
                        "there are latens-0 to latens-12, dbp, zstd-1 to zstd-22, lz4, parquet-zstd"
                    }
                    None => "there are latens-0 to latens-12, zstd-1 to zstd-22 and lz4",
                },
            )),
        },
    }
}

/// The bytes of part `index`.
fn bytes(data: &Data, index: usize) -> &[u8] {
    match &data.kind {
        Kind::Columns(columns) => columns.get(index).map_or(&[], |column| column.bytes.as_slice()),
        Kind::Checkpoint(model) => &model.bytes,
    }
}

fn at(columns: &[Column], index: usize) -> Result<&Column> {
    columns.get(index).ok_or_else(|| Failure::new("there is no such column"))
}

struct Pco<'a> {
    columns: &'a [Column],
    config: pco::Config,
    threads: usize,
    name: String,
}

impl Codec for Pco<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn compress(&self, index: usize) -> Result<Vec<u8>> {
        let numbers = &at(self.columns, index)?.numbers;
        Ok(with_number_type!(numbers.number_type(), T => {
            let numbers = numbers.as_slice::<T>().unwrap_or_default();
            pco::compress_with(numbers, &self.config, self.threads, &Watch::NONE)?
        }))
    }

    fn decompress(&self, index: usize, packed: &Bytes) -> Result<Back> {
        let ty = at(self.columns, index)?.numbers.number_type();
        Ok(Back::Numbers(with_number_type!(ty, T => {
            let limits = Limits::default();
            pco::decompress_with::<T>(packed, limits, self.threads, &Watch::NONE)?.into()
        })))
    }
}

struct WCodec<'a> {
    data: &'a Data,
    config: wcodec::Config,
    threads: usize,
    name: String,
}

impl Codec for WCodec<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn compress(&self, _: usize) -> Result<Vec<u8>> {
        let Kind::Checkpoint(model) = &self.data.kind else { return Ok(Vec::new()) };
        let checkpoint = model.origin.open()?;
        Ok(wcodec::compress_checkpoint(&checkpoint, None, &self.config, Vec::new())?)
    }

    fn decompress(&self, index: usize, packed: &Bytes) -> Result<Back> {
        let reader = Reader::open(packed.to_vec(), Limits::default())?.threads(self.threads);
        let mut back = Vec::with_capacity(bytes(self.data, index).len());
        for number in 0..reader.files().count() {
            reader.write_file(number, &mut back)?;
        }
        Ok(Back::Bytes(back))
    }
}

/// DELTA_BINARY_PACKED where the type has it; other columns stay as they are.
struct Dbp<'a> {
    columns: &'a [Column],
}

impl Codec for Dbp<'_> {
    fn name(&self) -> String {
        "dbp".into()
    }

    fn compress(&self, index: usize) -> Result<Vec<u8>> {
        let column = at(self.columns, index)?;
        Ok(match column.stored() {
            AnyNumbers::I32(n) => dbp::encode(n, dbp::Layout::default_for::<i32>()),
            AnyNumbers::U32(n) => dbp::encode(n, dbp::Layout::default_for::<u32>()),
            AnyNumbers::I64(n) => dbp::encode(n, dbp::Layout::default_for::<i64>()),
            AnyNumbers::U64(n) => dbp::encode(n, dbp::Layout::default_for::<u64>()),
            _ => column.bytes.clone(),
        })
    }

    fn decompress(&self, index: usize, packed: &Bytes) -> Result<Back> {
        fn decode<T: dbp::Element>(packed: &[u8]) -> Result<Vec<T>> {
            Ok(dbp::decode::<T>(packed, Limits::default(), dbp::Options::default())?.0)
        }
        let numbers = match at(self.columns, index)?.stored().number_type() {
            NumberType::I32 => AnyNumbers::I32(decode(packed)?),
            NumberType::U32 => AnyNumbers::U32(decode(packed)?),
            NumberType::I64 => AnyNumbers::I64(decode(packed)?),
            NumberType::U64 => AnyNumbers::U64(decode(packed)?),
            _ => return Ok(Back::Bytes(packed.to_vec())),
        };
        Ok(Back::Values(vec![Values::Numbers(numbers)]))
    }
}

struct Zstd<'a> {
    data: &'a Data,
    level: i32,
}

impl Codec for Zstd<'_> {
    fn name(&self) -> String {
        format!("zstd-{}", self.level)
    }

    fn compress(&self, index: usize) -> Result<Vec<u8>> {
        Ok(zstd::bulk::compress(bytes(self.data, index), self.level)?)
    }

    fn decompress(&self, index: usize, packed: &Bytes) -> Result<Back> {
        Ok(Back::Bytes(zstd::bulk::decompress(packed, bytes(self.data, index).len())?))
    }
}

struct Lz4<'a> {
    data: &'a Data,
}

impl Codec for Lz4<'_> {
    fn name(&self) -> String {
        "lz4".into()
    }

    fn compress(&self, index: usize) -> Result<Vec<u8>> {
        Ok(lz4_flex::block::compress(bytes(self.data, index)))
    }

    fn decompress(&self, index: usize, packed: &Bytes) -> Result<Back> {
        let len = bytes(self.data, index).len();
        let back = lz4_flex::block::decompress(packed, len);
        Ok(Back::Bytes(back.map_err(|e| Failure::new(format!("lz4: {e}")))?))
    }
}

/// A Parquet file of one column, encoding chosen by size, pages compressed with zstd.
struct Parquet<'a> {
    columns: &'a [Column],
}

impl Codec for Parquet<'_> {
    fn name(&self) -> String {
        "parquet-zstd".into()
    }

    fn compress(&self, index: usize) -> Result<Vec<u8>> {
        let options = Options { compression: Compression::Zstd, ..Options::default() };
        let mut file = Vec::new();
        parquet::write(&at(self.columns, index)?.table, &options, &mut file)?;
        Ok(file)
    }

    fn decompress(&self, _: usize, packed: &Bytes) -> Result<Back> {
        let table = ParquetTable::open(SharedFile::in_memory(packed.clone()), true)?;
        let mut column = table.column(0)?;
        let mut values = Vec::new();
        loop {
            let piece = column.next(PIECE_ROWS)?;
            if piece.rows == 0 {
                return Ok(Back::Values(values));
            }
            values.push(piece.values);
        }
    }
}
