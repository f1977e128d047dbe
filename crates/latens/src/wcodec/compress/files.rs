//! What source files hold beside tensors.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::{Checkpoint, Format, Segment};
use crate::wcodec::file_writer::{FileWriter, WORTH_A_BLOB};
use crate::wcodec::layout::file::{MAX_WOVEN_IN_PARTS, SegmentRecord, Woven};
use std::collections::VecDeque;
use std::io::Write;

/// Bytes of a source file that one blob holds at most.
pub(in crate::wcodec) const BLOB: usize = 1 << 24;

/// So many bytes, or those of whole words of eight bytes where there are many: words may be fewer. Not for
/// headers of safetensors, in whose first blob readers look for metadata.
fn whole_words(len: u64) -> u64 {
    if len < WORTH_A_BLOB as u64 { len } else { len / 8 * 8 }
}

/// Bytes that are woven together, at most: the text of them has some more, where all bytes occur.
const TOGETHER: u64 = MAX_WOVEN_IN_PARTS - (1 << 8);

/// Writes what files hold beside tensors, and says what they are made of.
pub(super) fn files<W: Write>(checkpoint: &Checkpoint, writer: &mut FileWriter<W>) -> Result<()> {
    writer.begin_files(checkpoint.files.iter().map(|file| &*file.name));
    let gguf = matches!(checkpoint.format, Format::Gguf);
    let mut small = small(checkpoint, writer)?;
    for (number, file) in checkpoint.files.iter().enumerate() {
        let mut segments = Vec::new();
        for segment in &file.segments {
            match *segment {
                Segment::Tensor(tensor) => segments.push(SegmentRecord::Entry(tensor)),
                Segment::Zeros { len } => segments.push(SegmentRecord::Zeros(len)),
                Segment::Bytes { len, .. } if is_small(len) && !small.is_empty() => {
                    segments.extend(small.pop_front());
                }
                Segment::Bytes { mut offset, mut len } => {
                    while len > 0 {
                        let now = len.min(BLOB as u64);
                        let now = if gguf { whole_words(now) } else { now };
                        let mut bytes = buffer(now)?;
                        checkpoint.read_at(number, offset, &mut bytes)?;
                        writer.beside_tensors(&bytes, gguf, &mut segments)?;
                        (offset, len) = (offset + now, len - now);
                    }
                }
            }
        }
        writer.file(&file.name, segments)?;
    }
    Ok(())
}

/// Whether a stretch of a file is hardly worth a blob of its own.
fn is_small(len: u64) -> bool {
    len < WORTH_A_BLOB as u64
}

/// Writes small stretches, such as headers of shards, many in a blob; in order. None where there is but one.
fn small<W: Write>(
    checkpoint: &Checkpoint,
    writer: &mut FileWriter<W>,
) -> Result<VecDeque<SegmentRecord>> {
    let files = checkpoint.files.iter().enumerate();
    let small = files.flat_map(|(number, file)| {
        let stretches = file.segments.iter().filter_map(|segment| match *segment {
            Segment::Bytes { offset, len } if is_small(len) => Some((offset, len)),
            _ => None,
        });
        stretches.map(move |(offset, len)| (number, offset, len))
    });
    let mut all = VecDeque::new();
    if small.clone().nth(1).is_none() {
        return Ok(all);
    }
    let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
    for (number, offset, len) in small {
        let mut stretch = buffer(len)?;
        checkpoint.read_at(number, offset, &mut stretch)?;
        if (bytes.len() + stretch.len()) as u64 > TOGETHER {
            together(&bytes, &lengths, writer, &mut all)?;
            (bytes, lengths) = (Vec::new(), Vec::new());
        }
        lengths.push(stretch.len());
        bytes.append(&mut stretch);
    }
    together(&bytes, &lengths, writer, &mut all)?;
    Ok(all)
}

/// Writes `bytes`, and says where stretches of such lengths are.
fn together<W: Write>(
    mut bytes: &[u8],
    lengths: &[usize],
    writer: &mut FileWriter<W>,
    all: &mut VecDeque<SegmentRecord>,
) -> Result<()> {
    let (of, mut start) = (writer.together(bytes)?, 0);
    for &length in lengths {
        let (stretch, behind) = bytes.split_at(length);
        match of {
            Some(of) => {
                let (part, length) = (Some(start), length as u64);
                all.push_back(SegmentRecord::Woven(Woven { of, part, length }));
                start += length;
            }
            None => {
                let mut segments = Vec::new();
                writer.beside_tensors(stretch, false, &mut segments)?;
                all.extend(segments);
            }
        }
        bytes = behind;
    }
    Ok(())
}

fn buffer(len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| Error::invalid("a tensor larger than memory"))?;
    Ok(vec![0; len])
}
