//! A checkpoint into a file.

use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::wcodec::base::{Base, bytes as read};
use crate::wcodec::checkpoint::{Checkpoint, Format, Segment, TensorInfo, scale_block, wide};
use crate::wcodec::class::SourceBytes;
use crate::wcodec::config::Config;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::encode::family::{Family, Sibling};
use crate::wcodec::encode::part::MOST_KEPT;
use crate::wcodec::encode::sources::Numbers;
use crate::wcodec::encode::tensor::Tensor;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::layout::header::BaseQuantisation;
use crate::wcodec::layout::source::{EntryRef, Form, PartOf};
use crate::wcodec::plane::{Content, Part, Role};
use crate::wcodec::view::View;
use crate::wcodec::writer::Writer;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Seek, Write};
use std::ops::Range;

/// Another checkpoint to code against, and its name, a hint for people.
#[derive(Clone, Copy)]
pub struct BaseFile<'a> {
    /// The checkpoint.
    pub base: &'a dyn Base,
    /// Its name.
    pub name: &'a str,
}

/// Bytes of tensors that are compared at a time.
const COMPARED: usize = 1 << 18;
/// Bytes of a source file that one blob holds at most.
const BLOB: u64 = 1 << 24;
/// Bytes of a blob from which on a few of them may be a blob of their own, which takes some 45 bytes.
const WORTH_WORDS: u64 = 1 << 12;

/// So many bytes, or those of whole words of eight bytes where there are many: words may be fewer. Not for
/// headers of safetensors, in whose first blob readers look for metadata.
fn whole_words(len: u64) -> u64 {
    if len < WORTH_WORDS { len } else { len / 8 * 8 }
}

/// Writes a checkpoint to `out`, which need not seek: the header then leaves out what only the end
/// knows.
///
/// Groups are written as they are encoded, and tensors are read a stretch at a time, some of it more
/// than once. In memory are tensors of up to 4 MiB, a few groups for each thread, and what the file
/// says of each row and group; at levels 11 and 12, with forced tools and against a base a whole
/// tensor and its symbols.
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
) -> Result<Writer<W>> {
    let mut writer = Writer::new(out, config, base_quantisation(checkpoint))?;
    if let Some(base) = base {
        writer.base(base.base.model_hash(), base.name.to_owned());
    }
    // By length and checksum: tensors that might be the same.
    let mut seen: HashMap<(u64, u32), Vec<usize>> = HashMap::new();
    for (number, info) in checkpoint.tensors.iter().enumerate() {
        config.watch.begin(&info.name)?;
        let source = TensorBytes::open(checkpoint, number, &config.watch)?;
        let tensor = Tensor { dtype: info.dtype, shape: &info.shape, bytes: source.data() };
        let mut one = || -> Result<()> {
            let crc = writer.begin(&info.name, &tensor)?;
            let alike = seen.entry((info.len, crc)).or_default();
            let fits = |other: &&usize| {
                checkpoint.tensors.get(**other).is_some_and(|other| can_share(info, other, config))
            };
            for &other in alike.iter().filter(|_| info.len > 0).filter(fits) {
                if same(tensor.bytes, TensorBytes::open(checkpoint, other, &config.watch)?.data())?
                {
                    return writer.copy(&info.name, tensor, other);
                }
            }
            alike.push(number);
            let held = Held::read(checkpoint, info, &config.watch)?;
            let mut family = held.family(checkpoint, info);
            family.reference = base.map_or(Ok(None), |base| namesake(base.base, info))?;
            writer.tensor(&info.name, tensor, &views(info, config), &family)
        };
        one().map_err(|e| e.within(format!("tensor {:?}", info.name)))?;
    }
    let gguf = matches!(checkpoint.format, Format::Gguf);
    for (number, file) in checkpoint.files.iter().enumerate() {
        let mut segments = Vec::new();
        for segment in &file.segments {
            match *segment {
                Segment::Tensor(tensor) => segments.push(SegmentRecord::Entry(tensor)),
                Segment::Zeros { len } => segments.push(SegmentRecord::Zeros(len)),
                Segment::Bytes { mut offset, mut len } => {
                    while len > 0 {
                        let now = len.min(BLOB);
                        let now = if gguf { whole_words(now) } else { now };
                        let mut bytes = buffer(now)?;
                        checkpoint.read_at(number, offset, &mut bytes)?;
                        segments.push(SegmentRecord::Entry(writer.blob(&bytes)?));
                        (offset, len) = (offset + now, len - now);
                    }
                }
            }
        }
        writer.file(&file.name, segments)?;
    }
    Ok(writer)
}

/// The bytes of a tensor: in memory where they are there already or few, else read when they are
/// needed.
enum TensorBytes<'c> {
    Held(Cow<'c, [u8]>),
    Read { checkpoint: &'c Checkpoint, number: usize, len: usize, watch: &'c Watch },
}

impl<'c> TensorBytes<'c> {
    fn open(checkpoint: &'c Checkpoint, number: usize, watch: &'c Watch) -> Result<Self> {
        let len = checkpoint.tensors.get(number).map_or(0, |t| t.len);
        let len =
            usize::try_from(len).map_err(|_| Error::invalid("a tensor larger than memory"))?;
        if len <= MOST_KEPT || checkpoint.held(number).is_some() {
            return Ok(Self::Held(read(checkpoint, number)?));
        }
        Ok(Self::Read { checkpoint, number, len, watch })
    }

    fn data(&self) -> Data<'_> {
        match self {
            Self::Held(bytes) => Data::Held(bytes),
            Self::Read { .. } => Data::Read(self),
        }
    }
}

impl Stretches for TensorBytes<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Held(bytes) => bytes.len(),
            Self::Read { len, .. } => *len,
        }
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        out.resize(range.len(), 0);
        match self {
            Self::Held(bytes) => out.copy_from_slice(&bytes[range]),
            Self::Read { checkpoint, number, watch, .. } => {
                watch.ask()?;
                checkpoint.read_tensor(*number, range.start as u64, out)?;
            }
        }
        Ok(())
    }
}

/// Whether two tensors of one length have the same bytes.
fn same(one: Data<'_>, other: Data<'_>) -> Result<bool> {
    let (mut same, mut buffer) = (true, Vec::new());
    one.each(COMPARED, 1, |range, bytes| {
        same = same && other.get(range, &mut buffer)? == bytes;
        Ok(())
    })?;
    Ok(same)
}

/// The weights of the base's tensor of the same name, type and shape.
fn namesake(base: &dyn Base, info: &TensorInfo) -> Result<Option<(PartOf, Vec<u8>)>> {
    let Some(layout) = info.layout().filter(|l| l.meaning().is_some() && base.has(&info.name))
    else {
        return Ok(None);
    };
    let (dtype, shape, bytes) = base.tensor(&info.name)?;
    if dtype != info.dtype || shape != info.shape || bytes.len() as u64 != info.len {
        return Ok(None);
    }
    let parts = layout.split(&bytes).unwrap_or_default();
    Ok(parts.into_iter().enumerate().find_map(|(part, p)| match (p.role, p.content) {
        (Role::Weights, Content::Symbols(plane)) => {
            let entry = EntryRef::Base(info.name.clone());
            Some((PartOf::Other { entry, view: info.view, part }, plane.data))
        }
        _ => None,
    }))
}

fn buffer(len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| Error::invalid("a tensor larger than memory"))?;
    Ok(vec![0; len])
}

/// What most bytes of quantised weights are.
fn base_quantisation(checkpoint: &Checkpoint) -> BaseQuantisation {
    let bits = |info: &TensorInfo| info.layout().and_then(|l| l.meaning()).map(|m| m.bits);
    let sum = |four: bool| -> u64 {
        let these = checkpoint.tensors.iter().filter(|t| bits(t).is_some_and(|b| (b <= 4) == four));
        these.map(|t| t.len).sum()
    };
    match (sum(false), sum(true)) {
        (0, 0) => BaseQuantisation::Neither,
        (eight, four) if four > eight => BaseQuantisation::Int4,
        _ => BaseQuantisation::Int8,
    }
}

/// Whether the descriptor of `other`, under whichever view, is that of `info` too: parts have the rows
/// and columns of a tensor.
fn can_share(info: &TensorInfo, other: &TensorInfo, config: &Config) -> bool {
    let of = |info: &TensorInfo, view: View| view.layout(info.dtype, &info.shape, info.len);
    let mut views = views(other, config).into_iter().chain(wide(other.dtype)).chain([View::Raw]);
    views.all(|view| of(info, view) == of(other, view))
}

/// The views that are tried.
fn views(info: &TensorInfo, config: &Config) -> Vec<View> {
    let float = matches!(info.view, View::Words { width: 2.., .. });
    if float || config.level > 8 { info.candidates() } else { vec![info.view] }
}

/// The bytes of a tensor's siblings.
#[derive(Default)]
struct Held<'c> {
    scale: Option<(usize, TensorBytes<'c>)>,
    zero: Option<(usize, View, Vec<u8>, u32)>,
    row_map: Option<(usize, Cow<'c, [u8]>)>,
}

impl<'c> Held<'c> {
    fn read(checkpoint: &'c Checkpoint, info: &TensorInfo, watch: &'c Watch) -> Result<Self> {
        let get = |n: usize| checkpoint.tensors.get(n).map(|t| (n, t));
        let mut held = Self::default();
        let siblings = &info.siblings;
        if let Some((n, _)) = siblings.scale.and_then(get) {
            held.scale = Some((n, TensorBytes::open(checkpoint, n, watch)?));
        }
        if let Some((n, t)) = siblings.zero.and_then(get) {
            let bytes = read(checkpoint, n)?;
            let parts = t.layout().and_then(|l| l.split(&bytes));
            if let Some([Part { content: Content::Symbols(plane), .. }]) = parts.as_deref() {
                held.zero = Some((n, t.view, plane.data.clone(), plane.bits));
            }
        }
        if let Some((n, t)) = siblings.g_idx.and_then(get) {
            let bytes = read(checkpoint, n)?;
            if t.dtype == Dtype::I32 && !in_order(&bytes) {
                held.row_map = Some((n, bytes));
            }
        }
        Ok(held)
    }

    fn family(&self, checkpoint: &Checkpoint, info: &TensorInfo) -> Family<'_> {
        let mut family = Family::default();
        let Some(layout) = info.layout() else { return family };
        let block = |rows: u64, cols: u64, shape: &[u64]| {
            let (r, c) = scale_block(rows, cols, shape)?;
            Some((usize::try_from(r).ok()?, usize::try_from(c).ok()?))
        };
        let other =
            |n: usize, view: View| PartOf::Other { entry: EntryRef::Entry(n), view, part: 0 };
        let tensor = |n: usize| checkpoint.tensors.get(n);
        if let Some((n, bytes)) = &self.scale
            && let Some(t) = tensor(*n)
            && let Some((block_rows, block_cols)) = block(layout.rows, layout.cols, &t.shape)
            && let Some((form, width)) = float_form(t.dtype)
        {
            let numbers = Numbers { bytes: bytes.data(), width, bits: 8 * u32::from(width == 2) };
            // A scale for a whole row says nothing that the row's own level does not.
            if block_cols < usize::try_from(layout.cols).unwrap_or(0) || block_rows == 1 {
                family.scale = Some(Sibling {
                    of: other(*n, View::Raw),
                    form,
                    numbers,
                    block_rows,
                    block_cols,
                });
            }
        }
        if let Some((n, view, symbols, bits)) = &self.zero
            && let Some(l) = tensor(*n).and_then(TensorInfo::layout)
            && let Some((block_rows, block_cols)) =
                block(layout.rows, layout.cols, &[l.rows, l.cols])
        {
            let numbers = Numbers { bytes: Data::Held(symbols), width: 1, bits: *bits };
            let (of, form) = (other(*n, *view), Form::Unsigned);
            family.zero = Some(Sibling { of, form, numbers, block_rows, block_cols });
        }
        family.row_map = self
            .row_map
            .as_ref()
            .map(|(n, bytes)| (other(*n, View::Raw), SourceBytes { bytes, width: 4, bits: 32 }));
        family
    }
}

/// Whether a group index never goes back: then blocks of rows say the same.
fn in_order(bytes: &[u8]) -> bool {
    let numbers = bytes.as_chunks::<4>().0;
    numbers.iter().map(|b| u32::from_le_bytes(*b)).is_sorted()
}

fn float_form(dtype: Dtype) -> Option<(Form, usize)> {
    match dtype {
        Dtype::F16 => Some((Form::F16, 2)),
        Dtype::BF16 => Some((Form::Bf16, 2)),
        Dtype::F32 => Some((Form::F32, 4)),
        Dtype::F8_E8M0 => Some((Form::Unsigned, 1)),
        _ => None,
    }
}
