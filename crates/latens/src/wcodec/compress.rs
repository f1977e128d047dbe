//! A checkpoint into a file.

mod files;
mod siblings;
mod tensors;

use crate::error::{Error, Result};
use crate::wcodec::base::Base;
use crate::wcodec::checkpoint::{
    Checkpoint, LONGEST_PADDING, Quantization, Segment, SourceFile, TensorInfo,
};
use crate::wcodec::config::Config;
use crate::wcodec::file_writer::FileWriter;
use crate::wcodec::layout::entry::MAX_DIMENSIONS;
use crate::wcodec::layout::file::{MAX_ZEROS, may_name_a_file};
use crate::wcodec::layout::header::BaseQuantisation;
use files::files;
use std::io::{Seek, Write};
use tensors::{batch_end, write_tensors};

pub(super) use files::BLOB;
pub(super) use tensors::Seen;

const _: () = assert!(LONGEST_PADDING <= MAX_ZEROS);

/// Another checkpoint to code against, and its name, a hint for people.
#[derive(Clone, Copy)]
pub struct BaseFile<'a> {
    /// The checkpoint.
    pub base: &'a dyn Base,
    /// Its name.
    pub name: &'a str,
}

/// Writes a checkpoint to `out`, which need not seek: the header then leaves out what only the end
/// knows.
///
/// Groups are written as they are encoded, and tensors are read a stretch at a time, some of it more
/// than once. In memory are tensors of up to 4 MiB with their parts, and of up to 16 MiB as they are, with several
/// threads some 8 MiB of them for each;
/// a few groups for each thread, and what the file says of each row and group; at levels 11 and 12,
/// with forced tools and against a base a whole tensor and its symbols.
///
/// # Errors
/// I/O; invalid argument where the checkpoint holds what the format cannot.
pub fn compress_checkpoint<W: Write>(
    checkpoint: &Checkpoint,
    base: Option<BaseFile<'_>>,
    config: &Config,
    out: W,
) -> Result<W> {
    write(checkpoint, base, config, out)?.finish()
}

/// Like [`compress_checkpoint`], from the start of a file that can seek: its header is complete.
///
/// # Errors
/// Those of [`compress_checkpoint`].
pub fn compress_checkpoint_to_file<W: Write + Seek>(
    checkpoint: &Checkpoint,
    base: Option<BaseFile<'_>>,
    config: &Config,
    out: W,
) -> Result<W> {
    write(checkpoint, base, config, out)?.finish_header(0)
}

fn write<W: Write>(
    checkpoint: &Checkpoint,
    base: Option<BaseFile<'_>>,
    config: &Config,
    out: W,
) -> Result<FileWriter<W>> {
    check(checkpoint)?;
    let packed = config.packed(checkpoint)?;
    let checkpoint = packed.as_ref().unwrap_or(checkpoint);
    let stamps = checkpoint.stamps()?;
    let mut writer = FileWriter::new(out, config, most_bytes(quantised_bytes(checkpoint)))?;
    if let Some(base) = base {
        writer.base(base.base.model_hash(), base.name.to_owned());
    }
    // Nor are readers to put a header together that is more than a blob.
    let is_large = |file: &SourceFile| match file.segments.first() {
        Some(Segment::Bytes { len, .. }) => *len >= BLOB as u64,
        _ => false,
    };
    let within = Some(&checkpoint.quantization).filter(|told| **told != Quantization::default());
    let within = within.filter(|_| checkpoint.files.iter().any(is_large));
    if let Some(told) = checkpoint.told_beside().or(within) {
        writer.quantization(told.to_record());
    }
    tensors(checkpoint, base, config, &mut Seen::default(), &mut writer)?;
    files(checkpoint, &mut writer)?;
    if checkpoint.stamps()? != stamps {
        return Err(Error::invalid(
            "the checkpoint has been written to while it was read; try again",
        ));
    }
    Ok(writer)
}

/// Writes all tensors of a checkpoint.
pub(super) fn tensors<W: Write>(
    checkpoint: &Checkpoint,
    base: Option<BaseFile<'_>>,
    config: &Config,
    seen: &mut Seen,
    writer: &mut FileWriter<W>,
) -> Result<()> {
    seen.before(writer.entries());
    let mut first = 0;
    while first < checkpoint.tensors.len() {
        let end = batch_end(checkpoint, first, base, config);
        write_tensors(checkpoint, first..end, base, config, seen, writer)?;
        first = end;
    }
    Ok(())
}

/// What cannot be written is said before anything is.
pub(super) fn check(checkpoint: &Checkpoint) -> Result<()> {
    checkpoint.files.iter().try_for_each(|file| may_name_a_file(&file.name))?;
    let many = checkpoint.tensors.iter().find(|t| t.shape.len() as u64 > MAX_DIMENSIONS);
    many.map_or(Ok(()), |t| {
        let n = t.shape.len();
        let what =
            format!("{n} dimensions, where .wcodec holds {MAX_DIMENSIONS} at most; reshape it");
        Err(Error::invalid(what).within(format!("tensor {:?}", t.name)))
    })
}

/// Bytes of quantised weights: of more than four bits, of four and fewer.
pub(super) fn quantised_bytes(checkpoint: &Checkpoint) -> [u64; 2] {
    let bits = |info: &TensorInfo| info.layout().and_then(|l| l.meaning()).map(|m| m.bits);
    let sum = |four: bool| -> u64 {
        let these = checkpoint.tensors.iter().filter(|t| bits(t).is_some_and(|b| (b <= 4) == four));
        these.map(|t| t.len).sum()
    };
    [sum(false), sum(true)]
}

/// What most of so many bytes are.
pub(super) fn most_bytes(quantised: [u64; 2]) -> BaseQuantisation {
    match quantised {
        [0, 0] => BaseQuantisation::Neither,
        [eight, four] if four > eight => BaseQuantisation::Int4,
        _ => BaseQuantisation::Int8,
    }
}
