//! Pages of the delta encodings, decoded by [`latens::delta_binary_packed`].
//!
//! A page of DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY or DELTA_BYTE_ARRAY becomes the PLAIN
//! page of the same values, its levels untouched; every other page passes as it is. Reading is
//! lenient: INT32 pages with miniblocks of 33 bits and more, as DuckDB writes them, are fine.

use bytes::Bytes;
use latens::delta_binary_packed::{
    ByteArrays, Decoder, Element, Options, decode, delta_byte_array, delta_length_byte_array,
};
use latens::{Limits, Number};
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::schema::types::ColumnDescPtr;

use crate::message::{Failure, Result};

/// What the values of one page may take, decoded.
const PAGE_BYTES: u64 = 1 << 30;

/// The pages of a column chunk, none of them in a delta encoding that we decode.
pub(super) struct DeltaPages {
    pages: Box<dyn PageReader>,
    descr: ColumnDescPtr,
    /// Data pages so far.
    seen: usize,
}

impl DeltaPages {
    pub(super) fn new(pages: Box<dyn PageReader>, descr: ColumnDescPtr) -> Self {
        DeltaPages { pages, descr, seen: 0 }
    }
}

impl Iterator for DeltaPages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for DeltaPages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
        if !page.is_data_page() {
            return Ok(Some(page));
        }
        let index = self.seen;
        self.seen += 1;
        let page = plain(page, &self.descr).map_err(|e| {
            let e = e.within(format!("page {index}"));
            ParquetError::External(Box::new(std::io::Error::other(e)))
        })?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        let data = self.pages.peek_next_page()?.is_some_and(|page| !page.is_dict);
        self.seen += usize::from(data);
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> ParquetResult<bool> {
        self.pages.at_record_boundary()
    }
}

/// Whether pages of this encoding and type are decoded here.
pub(super) fn is_ours(encoding: Encoding, ty: Type) -> bool {
    matches!(
        (encoding, ty),
        (Encoding::DELTA_BINARY_PACKED, Type::INT32 | Type::INT64)
            | (Encoding::DELTA_LENGTH_BYTE_ARRAY, Type::BYTE_ARRAY)
            | (Encoding::DELTA_BYTE_ARRAY, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY)
    )
}

/// The page of the same values in PLAIN.
fn plain(page: Page, descr: &ColumnDescPtr) -> Result<Page> {
    let ty = descr.physical_type();
    if !is_ours(page.encoding(), ty) {
        return Ok(page);
    }
    let start = values_at(&page, descr)?;
    let values = page.buffer().get(start..).unwrap_or_default();
    let promised = promised(&page, descr);
    let most = u64::from(page.num_values());
    let placed = |e: latens::Error| {
        let at = e.at().unwrap_or(0).saturating_add(start as u64);
        let kind = match e.kind() {
            latens::ErrorKind::Truncated => "truncated: ",
            latens::ErrorKind::Corrupt => "corrupt: ",
            _ => "",
        };
        Failure::new(format!("{kind}{} (byte {at} of the page, decompressed)", e.what()))
            .hint("the file is damaged")
    };
    let mut out = page.buffer().get(..start).unwrap_or_default().to_vec();
    let count = match (page.encoding(), ty) {
        (Encoding::DELTA_BINARY_PACKED, Type::INT32) => numbers::<i32>(values, most, &mut out),
        (Encoding::DELTA_BINARY_PACKED, _) => numbers::<i64>(values, most, &mut out),
        (encoding, _) => {
            let limits = Limits::default().max_output(PAGE_BYTES);
            let length = match ty {
                Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(descr.type_length()).ok(),
                _ => None,
            };
            let strings = within(values, most).and_then(|()| match encoding {
                Encoding::DELTA_BYTE_ARRAY => {
                    delta_byte_array::decode(values, limits, Options::default())
                }
                _ => delta_length_byte_array::decode(values, limits, Options::default()),
            });
            strings.and_then(|(strings, _)| append_strings(&strings, length, &mut out))
        }
    };
    let count = count.map_err(placed)?;
    if promised.is_some_and(|promised| promised != count) {
        return Err(Failure::new(format!(
            "corrupt: the page has {count} values, its header promises {}",
            promised.unwrap_or_default()
        )));
    }
    Ok(with_values(page, out.into()))
}

/// A page of the stream's values may not have more than the page header says.
pub(super) fn within(stream: &[u8], most: u64) -> latens::Result<()> {
    let count = Decoder::<i32>::new(stream, Options::default())?.remaining();
    match count > most {
        true => Err(latens::Error::corrupt(
            0,
            format!("the stream has {count} values, the page has {most} rows"),
        )),
        false => Ok(()),
    }
}

fn numbers<T: Element + Number>(
    stream: &[u8],
    most: u64,
    out: &mut Vec<u8>,
) -> latens::Result<u64> {
    within(stream, most)?;
    let limits = Limits::default().max_output(PAGE_BYTES);
    let (numbers, _) = decode::<T>(stream, limits, Options::default())?;
    crate::array::bytes::append_le(&numbers, out);
    Ok(numbers.len() as u64)
}

fn append_strings(
    strings: &ByteArrays<'_>,
    length: Option<usize>,
    out: &mut Vec<u8>,
) -> latens::Result<u64> {
    let bad = |string: &[u8]| {
        latens::Error::corrupt(0, format!("a value of {} bytes, not of its length", string.len()))
    };
    for string in strings.iter() {
        match length {
            Some(length) if length != string.len() => return Err(bad(string)),
            Some(_) => {}
            None => {
                let length = u32::try_from(string.len()).map_err(|_| bad(string))?;
                out.extend_from_slice(&length.to_le_bytes());
            }
        }
        out.extend_from_slice(string);
    }
    Ok(strings.len() as u64)
}

/// How many values that are not null the page has, where its header says so.
fn promised(page: &Page, descr: &ColumnDescPtr) -> Option<u64> {
    match page {
        Page::DataPageV2 { num_values, num_nulls, .. } => {
            num_values.checked_sub(*num_nulls).map(u64::from)
        }
        _ => (descr.max_def_level() == 0).then(|| u64::from(page.num_values())),
    }
}

/// Where in the page's bytes its values begin: right behind the levels.
pub(super) fn values_at(page: &Page, descr: &ColumnDescPtr) -> Result<usize> {
    let short = || Failure::new("truncated: the page ends within its levels");
    let buf = page.buffer();
    let at = match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
            usize::try_from(levels).map_err(|_| short())?
        }
        Page::DataPage { num_values, def_level_encoding, rep_level_encoding, .. } => {
            let levels = [
                (descr.max_rep_level(), *rep_level_encoding),
                (descr.max_def_level(), *def_level_encoding),
            ];
            let mut at = 0;
            for (max, encoding) in levels {
                at += levels_size(buf.get(at..).ok_or_else(short)?, max, encoding, *num_values)
                    .ok_or_else(short)?;
            }
            at
        }
        Page::DictionaryPage { .. } => 0,
    };
    if at > buf.len() { Err(short()) } else { Ok(at) }
}

/// Bytes of the levels at the start of `bytes` in a page V1.
fn levels_size(bytes: &[u8], max: i16, encoding: Encoding, count: u32) -> Option<usize> {
    if max <= 0 {
        return Some(0);
    }
    #[expect(deprecated, reason = "old files have such levels")]
    let packed = encoding == Encoding::BIT_PACKED;
    if packed {
        let bits = u64::from(i16::BITS - max.leading_zeros());
        return usize::try_from((u64::from(count) * bits).div_ceil(8)).ok();
    }
    let length = u32::from_le_bytes(bytes.first_chunk::<4>().copied()?);
    usize::try_from(length).ok()?.checked_add(4)
}

/// The page with other bytes, whose values are PLAIN.
fn with_values(mut page: Page, bytes: Bytes) -> Page {
    match &mut page {
        Page::DataPage { buf, encoding, .. } | Page::DataPageV2 { buf, encoding, .. } => {
            *buf = bytes;
            *encoding = Encoding::PLAIN;
        }
        Page::DictionaryPage { .. } => {}
    }
    page
}

#[cfg(test)]
mod tests;
