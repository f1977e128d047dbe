//! One column chunk encoded in memory: the one place through which every page that is written
//! passes.

use crate::message::{Failure, Result};
use crate::table::model::Field;
use crate::table::piece::Piece;
use crate::table::source::{Column, PIECE_ROWS};
use bytes::Bytes;
use parquet::basic::{Encoding as PageEncoding, Type};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::schema::types::ColumnDescPtr;
use std::sync::{Arc, PoisonError};

use super::convert::{Cooked, cook};
use super::options::{Compression, Encoding, Options};
use super::page_writer::{Delta, Pages, Sink};
use super::schema::foreign;

/// Values of a row group up to which its encodings are compared; above it is a dictionary for as
/// long as that pays, as the `parquet` crate sees it.
pub(super) const MEASURED_BYTES: u64 = 128 << 20;

/// A finished column chunk, to be appended to a row group.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// How the pages of one chunk are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Plain,
    /// A dictionary until it grows too large, PLAIN from there on.
    Dictionary,
    Delta,
    /// First bytes, second bytes and so on, which only helps a codec.
    Split,
}

impl Way {
    /// Of these a chunk is the smallest one; the first of equals.
    ///
    /// Floats only are split: of integers and f16 few readers know how (`README.md`, Parquet).
    pub(super) fn all(options: &Options, ty: Type) -> &'static [Way] {
        let integer = matches!(ty, Type::INT32 | Type::INT64);
        let float = matches!(ty, Type::FLOAT | Type::DOUBLE);
        match options.encoding {
            Encoding::Delta if integer => &[Way::Delta],
            Encoding::Delta | Encoding::Plain => &[Way::Plain],
            // One bit each as they are.
            Encoding::Auto if ty == Type::BOOLEAN => &[Way::Plain],
            Encoding::Auto if integer => &[Way::Plain, Way::Delta, Way::Dictionary],
            Encoding::Auto if float && options.compression != Compression::None => {
                &[Way::Plain, Way::Split, Way::Dictionary]
            }
            Encoding::Auto => &[Way::Plain, Way::Dictionary],
        }
    }

    /// Those that Parquet has for a type, simpler ones first.
    pub(super) fn of_type(ty: Type) -> &'static [Way] {
        match ty {
            Type::BOOLEAN => &[Way::Plain],
            Type::INT32 | Type::INT64 => &[Way::Plain, Way::Delta, Way::Dictionary, Way::Split],
            Type::FLOAT | Type::DOUBLE | Type::FIXED_LEN_BYTE_ARRAY => {
                &[Way::Plain, Way::Dictionary, Way::Split]
            }
            Type::INT96 | Type::BYTE_ARRAY => &[Way::Plain, Way::Dictionary],
        }
    }
}

/// Encode the next `rows` rows of a column.
///
/// # Errors
/// Those of the source; a null in a column that has none; a column that ends early.
pub(super) fn encode(
    descr: &ColumnDescPtr,
    options: &Options,
    field: &Field,
    column: &mut dyn Column,
    rows: usize,
) -> Result<Chunk> {
    let ways = Way::all(options, descr.physical_type());
    let mut left = rows;
    let mut next = || -> Result<Option<Run>> {
        if left == 0 {
            return Ok(None);
        }
        let piece = column.next(left.min(PIECE_ROWS))?;
        if piece.rows == 0 {
            return Err(Failure::new(format!("truncated: {left} rows are missing")));
        }
        left -= piece.rows;
        Run::of(field, piece).map(Some)
    };
    let mut held = Vec::new();
    let mut bytes = 0;
    let several = ways.len() > 1;
    while several && bytes < MEASURED_BYTES {
        let Some(run) = next()? else { break };
        bytes += run.bytes;
        held.push(run);
    }
    let whole = several && bytes < MEASURED_BYTES;
    let candidates = match ways {
        _ if whole => ways,
        [way] => std::slice::from_ref(way),
        _ => &[Way::Dictionary],
    };
    let mut best: Option<Chunk> = None;
    for &way in candidates {
        let mut writer = Writer::new(descr, options.compression, way);
        held.iter().try_for_each(|run| writer.write(run))?;
        while let Some(run) = next()? {
            writer.write(&run)?;
        }
        let chunk = writer.close()?;
        if best.as_ref().is_none_or(|best| chunk.bytes.len() < best.bytes.len()) {
            best = Some(chunk);
        }
    }
    best.ok_or_else(|| Failure::new("there is no encoding to write with"))
}

/// What rows of a column take in some way, page headers included.
pub(super) fn size(
    descr: &ColumnDescPtr,
    compression: Compression,
    way: Way,
    runs: &[Run],
) -> Result<u64> {
    let mut writer = Writer::new(descr, compression, way);
    runs.iter().try_for_each(|run| writer.write(run))?;
    Ok(writer.close()?.bytes.len() as u64)
}

/// Rows as the crate's column writer takes them.
pub(super) struct Run {
    levels: Option<Vec<i16>>,
    values: Cooked,
    /// About what they take in memory.
    pub(super) bytes: u64,
}

impl Run {
    pub(super) fn of(field: &Field, piece: Piece) -> Result<Run> {
        let levels: Option<Vec<i16>> = match (field.nullable, &piece.valid) {
            (true, Some(valid)) => Some(valid.iter().map(|&valid| i16::from(valid)).collect()),
            (true, None) => Some(vec![1; piece.rows]),
            (false, None) => None,
            (false, Some(_)) => return Err(Failure::new("a null in a column without nulls")),
        };
        let bytes = piece.values.bytes() + 8 * piece.values.len() as u64;
        Ok(Run { levels, bytes, values: cook(piece.values, field.storage) })
    }
}

/// A column chunk being written in one way.
struct Writer {
    sink: Sink,
    writer: ColumnWriter<'static>,
    /// Codec of the pages, where the crate does not know of it.
    delta: Option<parquet::basic::Compression>,
}

impl Writer {
    fn new(descr: &ColumnDescPtr, compression: Compression, way: Way) -> Self {
        let sink = Sink::default();
        let codec = compression.codec();
        let delta = (way == Way::Delta).then(|| Delta { descr: descr.clone(), codec });
        let pages = Box::new(Pages::new(sink.clone(), delta));
        let writer = get_column_writer(descr.clone(), properties(compression, way), pages);
        Writer { sink, writer, delta: (way == Way::Delta).then_some(codec) }
    }

    fn write(&mut self, run: &Run) -> Result<()> {
        let levels = run.levels.as_deref();
        let written = match (&mut self.writer, &run.values) {
            (ColumnWriter::BoolColumnWriter(w), Cooked::Bool(v)) => w.write_batch(v, levels, None),
            (ColumnWriter::Int32ColumnWriter(w), Cooked::Int32(v)) => {
                w.write_batch(v, levels, None)
            }
            (ColumnWriter::Int64ColumnWriter(w), Cooked::Int64(v)) => {
                w.write_batch(v, levels, None)
            }
            (ColumnWriter::Int96ColumnWriter(w), Cooked::Int96(v)) => {
                w.write_batch(v, levels, None)
            }
            (ColumnWriter::FloatColumnWriter(w), Cooked::Float(v)) => {
                w.write_batch(v, levels, None)
            }
            (ColumnWriter::DoubleColumnWriter(w), Cooked::Double(v)) => {
                w.write_batch(v, levels, None)
            }
            (ColumnWriter::ByteArrayColumnWriter(w), Cooked::Bytes(v)) => {
                w.write_batch(v, levels, None)
            }
            (ColumnWriter::FixedLenByteArrayColumnWriter(w), Cooked::Fixed(v)) => {
                w.write_batch(v, levels, None)
            }
            _ => return Err(Failure::new("the values are not of the column's type")),
        };
        written.map(|_| ()).map_err(foreign)
    }

    fn close(self) -> Result<Chunk> {
        let mut close = self.writer.close().map_err(foreign)?;
        if let Some(codec) = self.delta {
            let pages = close.metadata.page_encoding_stats().cloned().unwrap_or_default();
            let pages = pages.into_iter().map(|mut stats| {
                stats.encoding = PageEncoding::DELTA_BINARY_PACKED;
                stats
            });
            let encodings = vec![PageEncoding::RLE, PageEncoding::DELTA_BINARY_PACKED];
            let builder = close.metadata.clone().into_builder();
            let builder = builder.set_compression(codec).set_encodings(encodings);
            let builder = builder.set_page_encoding_stats(pages.collect());
            close.metadata = builder.build().map_err(foreign)?;
        }
        let bytes = std::mem::take(&mut *self.sink.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Chunk { bytes: bytes.into(), close })
    }
}

fn properties(compression: Compression, way: Way) -> WriterPropertiesPtr {
    let codec = match way {
        // Compressed when they are encoded: what the crate makes is not what is written.
        Way::Delta => parquet::basic::Compression::UNCOMPRESSED,
        _ => compression.codec(),
    };
    let builder = WriterProperties::builder()
        .set_compression(codec)
        .set_dictionary_enabled(way == Way::Dictionary);
    let builder = match way {
        Way::Dictionary => builder,
        Way::Split => builder.set_encoding(PageEncoding::BYTE_STREAM_SPLIT),
        Way::Plain | Way::Delta => builder.set_encoding(PageEncoding::PLAIN),
    };
    Arc::new(builder.build())
}
