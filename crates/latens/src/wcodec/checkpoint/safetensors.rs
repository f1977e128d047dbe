//! safetensors: a JSON header, then the tensors.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | N, length of the header, at most 100 MB |
//! | N | `{"NAME": {"dtype": …, "shape": […], "data_offsets": [BEGIN, END]}, …, "__metadata__": {…}}` |
//! | rest | tensors; offsets count from here |
//!
//! The library `safetensors` itself takes whole files in memory, keeps the last of two tensors of
//! one name, and says no byte where something is wrong; so the header is read here. Gaps between
//! tensors, which it refuses, are kept; a type that is not known is too, its size is in the
//! offsets.

use std::borrow::Cow;

use serde_core::Deserialize;

use super::members::{Json, Numbers};
use super::quantization::Quantization;
use super::segments::{self, Listed};
use super::source::{self, ReadAt};
use super::{Checkpoint, Format, LONGEST_NAME, SourceFile, TensorInfo, quoted};
use crate::error::{Error, Result};
use crate::wcodec::dtype::{Dtype, elements};
use crate::wcodec::layout::entry::MAX_DIMENSIONS;
use crate::wcodec::layout::header::MAGIC;

/// Longest header, the library's own limit.
pub(in crate::wcodec) const LONGEST_HEADER: u64 = 100_000_000;
/// Bytes of the name of a type, at most, that a file keeps.
const LONGEST_TYPE: usize = 16;
/// Most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 64;

pub(super) fn read(name: String, source: Box<dyn ReadAt>) -> Result<Checkpoint> {
    let mut checkpoint = Checkpoint {
        format: Format::Safetensors,
        files: Vec::new(),
        tensors: Vec::new(),
        unnamed: 0,
        mismatches: Vec::new(),
        quantization: Quantization::default(),
        within: Quantization::default(),
        sources: Vec::new(),
    };
    add(&mut checkpoint, open(name, source, 0)?)?;
    Ok(checkpoint)
}

/// A file whose header has been read.
pub(super) struct Opened {
    name: String,
    source: Box<dyn ReadAt>,
    len: u64,
    /// Where its tensors begin.
    data: u64,
    /// Its tensors. What is taken out stays bytes of the file.
    pub(super) listed: Vec<Listed>,
    unnamed: usize,
    /// The names of those of them that have too many dimensions.
    pub(super) deep: Vec<String>,
    quantization: Quantization,
}

/// Reads the header of what is to be file `file` of a checkpoint.
pub(super) fn open(name: String, source: Box<dyn ReadAt>, file: usize) -> Result<Opened> {
    let len = source.size()?;
    let mut length = [0; 8];
    if len < 8 {
        return Err(Error::truncated(
            len,
            "a safetensors file begins with 8 bytes of header length",
        ));
    }
    source.read_exact_at(&mut length, 0)?;
    if length == *MAGIC {
        return Err(Error::corrupt(0, "this begins as a .wcodec does, which is packed already"));
    }
    let header_len = u64::from_le_bytes(length);
    if header_len > LONGEST_HEADER {
        let what = format!(
            "a safetensors header has at most {LONGEST_HEADER} bytes, this one {header_len}; \
             is this a safetensors file?"
        );
        return Err(Error::corrupt(0, what));
    }
    let data = 8 + header_len;
    if data > len {
        let what = format!("the header of {header_len} bytes goes on behind the end of the file");
        return Err(Error::truncated(len, what));
    }
    let header = source::read(&*source, 8, header_len)?;
    let Parsed { listed, unnamed, deep, quantization } =
        parse(&header, file, data).map_err(|e| e.within("safetensors header"))?;
    unique(&listed)?;
    Ok(Opened { name, source, len, data, listed, unnamed, deep, quantization })
}

/// Adds a file to a checkpoint.
pub(super) fn add(to: &mut Checkpoint, opened: Opened) -> Result<()> {
    let Opened { name, source, len, data, listed, unnamed, quantization, .. } = opened;
    let (segments, tensors) = segments::build(&*source, listed, (data, len), to.tensors.len())?;
    to.files.push(SourceFile { name, len, segments });
    to.tensors.extend(tensors);
    to.unnamed += unnamed;
    if to.within == Quantization::default() {
        to.within.clone_from(&quantization);
    }
    to.quantization.or(quantization);
    to.sources.push(source.into());
    Ok(())
}

/// No two tensors of a file have one name.
pub(super) fn unique(listed: &[Listed]) -> Result<()> {
    let mut names = std::collections::HashSet::with_capacity(listed.len());
    for t in listed {
        if !names.insert(t.info.name.as_str()) {
            let what = "two tensors have this name";
            return Err(Error::corrupt(t.at, what).within(quoted(&t.info.name)));
        }
    }
    Ok(())
}

/// What a header says of a tensor.
struct Fields {
    dtype: String,
    shape: Numbers<MOST_DIMENSIONS>,
    data_offsets: Numbers<2>,
}

impl Fields {
    fn read(value: Json<'_>) -> Result<Self> {
        let (mut dtype, mut shape, mut data_offsets) = (None, None, None);
        value.members(|name, member| match name.as_str() {
            "dtype" => once(&mut dtype, &name, member),
            "shape" => once(&mut shape, &name, member),
            "data_offsets" => once(&mut data_offsets, &name, member),
            _ => Ok(()),
        })?;
        let missing = |name| Error::corrupt(value.at(), format!("missing field `{name}`"));
        Ok(Fields {
            dtype: dtype.ok_or_else(|| missing("dtype"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            data_offsets: data_offsets.ok_or_else(|| missing("data_offsets"))?,
        })
    }
}

/// A field that stands there once.
fn once<'a, T: Deserialize<'a>>(field: &mut Option<T>, name: &str, value: Json<'a>) -> Result<()> {
    match field.replace(value.parse()?) {
        None => Ok(()),
        Some(_) => Err(Error::corrupt(value.at(), format!("duplicate field `{name}`"))),
    }
}

/// What a header says.
#[derive(Default)]
struct Parsed {
    listed: Vec<Listed>,
    /// Tensors that have no place in a list of them: their names are too long, or they have too many dimensions.
    unnamed: usize,
    /// The names of the latter.
    deep: Vec<String>,
    quantization: Quantization,
}

/// The tensors of a header; bytes are those of the file, of which it is the ninth and on.
fn parse(header: &[u8], file: usize, data: u64) -> Result<Parsed> {
    let Parsed { mut listed, mut unnamed, mut deep, mut quantization } = Parsed::default();
    let read = Json::new(header).members(|name, value| {
        if name == "__metadata__" {
            metadata(value, &mut quantization);
            return Ok(());
        }
        let info = tensor(value, name, file, data)?;
        if info.name.len() > LONGEST_NAME {
            unnamed += 1;
        } else if info.shape.len() as u64 > MAX_DIMENSIONS {
            unnamed += 1;
            deep.push(info.name);
        } else {
            listed.push(Listed { info, at: value.at() + 8, open_end: false });
        }
        Ok(())
    });
    read.map_err(|e| e.offset_by(8))?;
    Ok(Parsed { listed, unnamed, deep, quantization })
}

/// The `__metadata__` of a header, the eight bytes of its length before it; `None` where that is no
/// header. Members that are not text are left out.
pub(in crate::wcodec) fn metadata_of(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let (length, header) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let mut found = Vec::new();
    let read = Json::new(header.get(..length)?).members(|name, value| {
        if name != "__metadata__" {
            return Ok(());
        }
        value.members(|key, value| {
            if let Ok(text) = value.parse::<Cow<'_, str>>() {
                found.push((key, text.into_owned()));
            }
            Ok(())
        })
    });
    read.ok()?;
    Some(found)
}

/// A hint where it is what it should be, and nothing else otherwise.
fn metadata(value: Json<'_>, quantization: &mut Quantization) {
    let _ = value.members(|key, value| {
        if key == "quantization_config"
            && let Ok(config) = value.parse::<Cow<'_, str>>()
        {
            quantization.or(Quantization::from_json(config.as_bytes()));
        }
        Ok(())
    });
}

fn tensor(value: Json<'_>, name: String, file: usize, data: u64) -> Result<TensorInfo> {
    let fields = Fields::read(value).map_err(|e| e.within(quoted(&name)))?;
    let dtype = Dtype::from_safetensors(&fields.dtype).unwrap_or(Dtype::Unknown);
    let (shape, offsets) = (fields.shape.0, fields.data_offsets.0);
    let wrong = |what: String| Error::corrupt(value.at(), what).within(quoted(&name));
    let &[begin, end] = offsets.as_slice() else {
        return Err(wrong("data_offsets are not two numbers".to_owned()));
    };
    let len = end
        .checked_sub(begin)
        .ok_or_else(|| wrong(format!("data_offsets {begin} to {end} run backwards")))?;
    let want = elements(&shape).and_then(|n| dtype.bytes(n));
    if dtype != Dtype::Unknown && want != Some(len) {
        let want =
            want.map_or("no whole number of bytes below 2^64".to_owned(), |n| format!("{n} bytes"));
        let what = format!(
            "{} of shape {shape:?} has {want}, data_offsets {begin} to {end} are {len}",
            dtype.name()
        );
        return Err(wrong(what));
    }
    let offset =
        data.checked_add(begin).ok_or_else(|| wrong("data_offsets pass 2^64".to_owned()))?;
    let (view, siblings) = Default::default();
    let may_be_kept = dtype == Dtype::Unknown && (1..=LONGEST_TYPE).contains(&fields.dtype.len());
    let unknown = may_be_kept.then(|| fields.dtype.to_string());
    Ok(TensorInfo {
        name,
        dtype,
        unknown,
        shape,
        file,
        offset,
        len,
        view,
        is_settled: false,
        siblings,
    })
}
