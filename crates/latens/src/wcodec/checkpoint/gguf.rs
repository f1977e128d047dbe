//! GGUF, versions 2 and 3, little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4, 4 | `GGUF`, version |
//! | 8, 8 | tensors, pairs of metadata |
//! | pairs | key (string), type (4), value |
//! | tensors | name (string), dimensions (4), each (8, the fastest first), type (4), offset (8) |
//! | padding | up to a multiple of `general.alignment`, 32 where there is none |
//! | rest | tensors; offsets count from here |
//!
//! A string is its length (8) and bytes, an array its type (4), count (8) and values. Metadata is
//! walked through, not kept. Source: GGUF's specification.

use super::quantization::Quantization;
use super::segments::{self, Listed};
use super::source::ReadAt;
use super::{Checkpoint, Format, LONGEST_NAME, SourceFile, TensorInfo, quoted, safetensors};
use crate::error::{Error, Result};
use crate::wcodec::dtype::{Dtype, elements};
use std::borrow::Cow;

/// Most dimensions of a tensor; GGUF itself uses four.
const MOST_DIMENSIONS: u32 = 8;
/// Deepest arrays in arrays.
const DEEPEST: u32 = 8;
/// Longest key that is looked at.
const LONGEST_KEY: u64 = 256;
/// Largest alignment that is believed.
const LARGEST_ALIGNMENT: u64 = 1 << 20;
/// Most tensors of a file.
const MOST_TENSORS: u64 = 1 << 21;
/// Bytes read at once.
const BUFFER: usize = 1 << 16;

pub(super) fn read(name: String, source: Box<dyn ReadAt>) -> Result<Checkpoint> {
    let len = source.size()?;
    let mut cursor = Cursor { source: &*source, at: 4, len, buffer: Vec::new(), begin: 0 };
    let Header { listed, unnamed, data } =
        header(&mut cursor).map_err(|e| e.within("GGUF header"))?;
    safetensors::unique(&listed)?;
    let (segments, tensors) = segments::build(&*source, listed, (data, len), 0)?;
    Ok(Checkpoint {
        format: Format::Gguf,
        files: vec![SourceFile { name, len, segments }],
        tensors,
        unnamed,
        mismatches: Vec::new(),
        quantization: Quantization::default(),
        within: Quantization::default(),
        sources: vec![source.into()],
    })
}

/// What a file's header says.
struct Header {
    listed: Vec<Listed>,
    /// Tensors whose names cannot be such.
    unnamed: usize,
    /// Where tensors begin.
    data: u64,
}

/// What is wrong with a file that others may read.
fn unread(at: u64, what: impl Into<Cow<'static, str>>) -> Error {
    Error::invalid(what).at_byte(at)
}

fn header(cursor: &mut Cursor<'_>) -> Result<Header> {
    match cursor.u32()? {
        2 | 3 => {}
        1 => {
            return Err(unread(4, "GGUF version 1 is not read; convert the file to version 3"));
        }
        v if matches!(v.swap_bytes(), 1..=3) => {
            return Err(unread(4, "big-endian GGUF is not read; convert the file"));
        }
        v => return Err(Error::corrupt(4, format!("GGUF version {v} is not known"))),
    }
    // A tensor takes 24 bytes and a pair 13 at least.
    let tensors = cursor.count(24, "tensors")?;
    if tensors > MOST_TENSORS {
        return Err(unread(8, format!("{tensors} tensors are more than {MOST_TENSORS}")));
    }
    let pairs = cursor.count(13, "pairs of metadata")?;
    let mut alignment = 32;
    for _ in 0..pairs {
        let at = cursor.at;
        let key = cursor.string(LONGEST_KEY)?;
        let kind = cursor.u32()?;
        if key.as_deref() == Some("general.alignment") && kind == 4 {
            alignment = u64::from(cursor.u32()?);
            if alignment == 0 || alignment > LARGEST_ALIGNMENT {
                return Err(Error::corrupt(at, format!("the alignment {alignment} is not one")));
            }
        } else {
            let key = key.unwrap_or_default();
            cursor.skip_value(kind, 0).map_err(|e| e.within(format!("key {key:?}")))?;
        }
    }
    let (mut listed, mut unnamed) = (Vec::new(), 0);
    for i in 0..tensors {
        match tensor(cursor, i)? {
            Some(tensor) => listed.push(tensor),
            None => unnamed += 1,
        }
    }
    let data = cursor.at.div_ceil(alignment) * alignment;
    if data > cursor.len && !listed.is_empty() {
        return Err(Error::truncated(cursor.len, "the file ends before its tensors"));
    }
    for t in &mut listed {
        let offset = t.info.offset;
        t.info.offset = data.checked_add(offset).ok_or_else(|| {
            Error::corrupt(t.at, format!("its offset {offset} passes 2^64"))
                .within(quoted(&t.info.name))
        })?;
        if t.open_end && t.info.offset > cursor.len {
            let what = format!("it begins at {}, behind the end of the file", t.info.offset);
            return Err(Error::truncated(t.at, what).within(quoted(&t.info.name)));
        }
    }
    Ok(Header { listed, unnamed, data: data.min(cursor.len) })
}

/// A tensor; `None` where its name cannot be one.
fn tensor(cursor: &mut Cursor<'_>, index: u64) -> Result<Option<Listed>> {
    let at = cursor.at;
    let most = u64::try_from(LONGEST_NAME).unwrap_or(u64::MAX);
    let name = cursor.string(most).map_err(|e| e.within(format!("tensor {index}")))?;
    let place = name.as_deref().map_or_else(|| format!("tensor {index}"), quoted);
    let wrong = |what: String| Error::corrupt(at, what).within(place.clone());
    let mut read = || -> Result<_> {
        let dimensions = cursor.u32()?;
        if dimensions > MOST_DIMENSIONS {
            let what = format!("{dimensions} dimensions are more than {MOST_DIMENSIONS}");
            return Err(unread(at, what));
        }
        let mut shape = (0..dimensions).map(|_| cursor.u64()).collect::<Result<Vec<u64>>>()?;
        shape.reverse();
        Ok((shape, cursor.u32()?, cursor.u64()?))
    };
    let (shape, kind, offset) = read().map_err(|e| e.within(place.clone()))?;
    let dtype = Dtype::from_gguf(kind);
    let open_end = dtype == Dtype::Unknown;
    let len = elements(&shape).and_then(|n| dtype.bytes(n));
    // Blocks lie along the last dimension, they do not go over its end.
    let broken =
        dtype.block().zip(shape.last()).is_some_and(|((block, _), n)| !n.is_multiple_of(block));
    let of = || format!("{} of shape {shape:?}", dtype.name());
    if !open_end && broken {
        return Err(wrong(format!("{} is no whole number of blocks", of())));
    }
    if !open_end && len.is_none() {
        return Err(wrong(format!("{} has 2^64 bytes or more", of())));
    }
    let len = len.unwrap_or(0);
    let (view, siblings) = Default::default();
    let unknown = open_end.then(|| format!("GGUF_{kind}"));
    Ok(name.map(|name| Listed {
        info: TensorInfo {
            name,
            dtype,
            unknown,
            shape,
            file: 0,
            offset,
            len,
            view,
            is_settled: false,
            siblings,
        },
        at,
        open_end,
    }))
}

/// A place in the header.
struct Cursor<'a> {
    source: &'a dyn ReadAt,
    at: u64,
    len: u64,
    buffer: Vec<u8>,
    /// Byte of the file where the buffer begins.
    begin: u64,
}

impl Cursor<'_> {
    fn need(&self, bytes: u64) -> Result<()> {
        if bytes > self.len.saturating_sub(self.at) {
            return Err(Error::truncated(
                self.at,
                format!("the file ends within {bytes} bytes from here"),
            ));
        }
        Ok(())
    }

    /// The next `n` bytes, at most [`BUFFER`].
    fn take(&mut self, n: usize) -> Result<&[u8]> {
        let count = u64::try_from(n).unwrap_or(u64::MAX);
        self.need(count)?;
        let held = u64::try_from(self.buffer.len()).unwrap_or(0);
        if self.at < self.begin || self.at + count > self.begin + held {
            let rest = usize::try_from(self.len - self.at).unwrap_or(BUFFER);
            self.buffer.resize(rest.min(BUFFER).max(n), 0);
            self.begin = self.at;
            let read = self.source.read_exact_at(&mut self.buffer, self.at);
            read.map_err(|e| Error::from(e).at_byte(self.at))?;
        }
        let from = usize::try_from(self.at - self.begin).unwrap_or(0);
        self.at += count;
        Ok(&self.buffer[from..from + n])
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(bytes.first_chunk().map_or(0, |b| u32::from_le_bytes(*b)))
    }

    fn u64(&mut self) -> Result<u64> {
        let bytes = self.take(8)?;
        Ok(bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b)))
    }

    /// A count of things that take `least` bytes each.
    fn count(&mut self, least: u64, what: &str) -> Result<u64> {
        let at = self.at;
        let count = self.u64()?;
        if count > (self.len - self.at) / least {
            return Err(Error::corrupt(at, format!("{count} {what} do not fit in the file")));
        }
        Ok(count)
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        self.need(bytes)?;
        self.at += bytes;
        Ok(())
    }

    /// A string; `None` where it is longer than `most` bytes or not UTF-8.
    fn string(&mut self, most: u64) -> Result<Option<String>> {
        let n = self.u64()?;
        self.need(n)?;
        match usize::try_from(n) {
            Ok(short) if n <= most => Ok(String::from_utf8(self.take(short)?.to_vec()).ok()),
            _ => self.skip(n).map(|()| None),
        }
    }

    /// Goes over a value of a metadata type.
    fn skip_value(&mut self, kind: u32, depth: u32) -> Result<()> {
        let at = self.at;
        match kind {
            0 | 1 | 7 => self.skip(1),
            2 | 3 => self.skip(2),
            4..=6 => self.skip(4),
            10..=12 => self.skip(8),
            8 => {
                let n = self.u64()?;
                self.skip(n)
            }
            9 if depth < DEEPEST => {
                let kind = self.u32()?;
                let size = match kind {
                    0 | 1 | 7 => 1,
                    2 | 3 => 2,
                    4..=6 => 4,
                    10..=12 => 8,
                    _ => 0,
                };
                if size > 0 {
                    let count = self.count(size, "numbers")?;
                    return self.skip(count * size);
                }
                // A string takes 8 bytes at least, an array 12.
                let count = self.count(8, "values")?;
                (0..count).try_for_each(|_| self.skip_value(kind, depth + 1))
            }
            9 => Err(unread(at, format!("arrays nest deeper than {DEEPEST}"))),
            _ => Err(Error::corrupt(at, format!("metadata of type {kind} is not known"))),
        }
    }
}
