//! The bytes of a tensor, and of those that say something of it.

use crate::error::{Error, Result};
use crate::spare;
use crate::watch::Watch;
use crate::wcodec::base::bytes as read;
use crate::wcodec::checkpoint::{Checkpoint, TensorInfo, scale_block};
use crate::wcodec::class::SourceBytes;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::encode::family::{Family, Sibling};
use crate::wcodec::encode::part::MOST_READ;
use crate::wcodec::encode::sources::Numbers;
use crate::wcodec::layout::source::{EntryRef, NumberForm, PartOf, may_be_source};
use crate::wcodec::plane::{Content, Part};
use crate::wcodec::view::{Axis, Packing, View};
use std::borrow::Cow;
use std::ops::Range;

/// The bytes of a tensor: in memory where they are there already or few, else read when they are
/// needed.
pub(super) enum TensorBytes<'c> {
    Held(&'c [u8]),
    Copied(spare::Bytes),
    Read { checkpoint: &'c Checkpoint, number: usize, len: usize, watch: &'c Watch },
}

impl<'c> TensorBytes<'c> {
    pub(super) fn open(
        checkpoint: &'c Checkpoint,
        number: usize,
        watch: &'c Watch,
    ) -> Result<Self> {
        let len = checkpoint.tensors.get(number).map_or(0, |t| t.len);
        let len =
            usize::try_from(len).map_err(|_| Error::invalid("a tensor larger than memory"))?;
        if let Some(bytes) = checkpoint.held(number) {
            return Ok(Self::Held(bytes));
        }
        if len <= MOST_READ {
            let mut bytes = spare::Bytes::stale(len);
            checkpoint.read_tensor(number, 0, &mut bytes)?;
            return Ok(Self::Copied(bytes));
        }
        Ok(Self::Read { checkpoint, number, len, watch })
    }

    pub(super) fn data(&self) -> Data<'_> {
        match self {
            Self::Held(bytes) => Data::Held(bytes),
            Self::Copied(bytes) => Data::Held(bytes),
            Self::Read { .. } => Data::Read(self),
        }
    }
}

impl Stretches for TensorBytes<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Held(bytes) => bytes.len(),
            Self::Copied(bytes) => bytes.len(),
            Self::Read { len, .. } => *len,
        }
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        out.resize(range.len(), 0);
        match self {
            Self::Held(bytes) => out.copy_from_slice(&bytes[range]),
            Self::Copied(bytes) => out.copy_from_slice(&bytes[range]),
            Self::Read { checkpoint, number, watch, .. } => {
                watch.ask()?;
                checkpoint.read_tensor(*number, range.start as u64, out)?;
            }
        }
        Ok(())
    }
}

/// The bytes of a tensor's siblings.
#[derive(Default)]
pub(super) struct Held<'c> {
    scale: Option<(usize, TensorBytes<'c>)>,
    bias: Option<(usize, TensorBytes<'c>)>,
    zero: Option<(usize, View, Vec<u8>, u32)>,
    row_map: Option<(usize, Cow<'c, [u8]>)>,
}

impl<'c> Held<'c> {
    pub(super) fn read(
        checkpoint: &'c Checkpoint,
        info: &TensorInfo,
        watch: &'c Watch,
    ) -> Result<Self> {
        let symbols = info.layout().map_or(0, |layout| layout.rows.saturating_mul(layout.cols));
        let symbols = usize::try_from(symbols).unwrap_or(usize::MAX);
        // A reader refuses larger ones.
        let fits = |t: &TensorInfo| usize::try_from(t.len).is_ok_and(|n| may_be_source(n, symbols));
        let get = |n: usize| checkpoint.tensors.get(n).filter(|t| fits(t)).map(|t| (n, t));
        let mut held = Self::default();
        let siblings = &info.siblings;
        let open = |sibling: Option<usize>| -> Result<_> {
            let Some((n, _)) = sibling.and_then(get) else { return Ok(None) };
            Ok(Some((n, TensorBytes::open(checkpoint, n, watch)?)))
        };
        (held.scale, held.bias) = (open(siblings.scale)?, open(siblings.bias)?);
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

    /// What they say of a tensor; `first` is the entry of the first one of its checkpoint.
    pub(super) fn family(
        &self,
        checkpoint: &Checkpoint,
        info: &TensorInfo,
        first: usize,
    ) -> Family<'_> {
        let mut family = Family::default();
        let Some(layout) = info.layout() else { return family };
        let block = |rows: u64, cols: u64, shape: &[u64]| {
            let (r, c) = scale_block(rows, cols, shape)?;
            Some((usize::try_from(r).ok()?, usize::try_from(c).ok()?))
        };
        let other = |n: usize, view: View| PartOf::Other {
            entry: EntryRef::Entry(first + n),
            view,
            part: 0,
        };
        let tensor = |n: usize| checkpoint.tensors.get(n);
        let of_blocks = [&self.scale, &self.bias].map(|sibling| {
            let (n, bytes) = sibling.as_ref()?;
            let t = tensor(*n)?;
            let (block_rows, block_cols) = block(layout.rows, layout.cols, &t.shape)?;
            let (form, width) = float_form(t.dtype)?;
            let numbers = Numbers { bytes: bytes.data(), width, bits: 8 * u32::from(width == 2) };
            // A scale for a whole row says nothing that the row's own level does not.
            let tells = block_cols < usize::try_from(layout.cols).unwrap_or(0) || block_rows == 1;
            let of = other(*n, View::Raw);
            tells.then_some(Sibling { of, form, numbers, block_rows, block_cols })
        });
        let [scale, bias] = of_blocks;
        (family.scale, family.bias) = (scale, bias);
        if let Some((n, view, symbols, bits)) = &self.zero
            && let Some(l) = tensor(*n).and_then(TensorInfo::layout)
            && let Some((block_rows, block_cols)) =
                block(layout.rows, layout.cols, &[filled_rows(*view, l.rows, layout.rows), l.cols])
        {
            let numbers = Numbers { bytes: Data::Held(symbols), width: 1, bits: *bits };
            let (of, form) = (other(*n, *view), NumberForm::Unsigned);
            family.zero = Some(Sibling { of, form, numbers, block_rows, block_cols });
        }
        family.row_map = self
            .row_map
            .as_ref()
            .map(|(n, bytes)| (other(*n, View::Raw), SourceBytes { bytes, width: 4, bits: 32 }));
        family
    }
}

/// How many of so many rows of zero points are weights': the rest fill the last word, where words
/// hold several rows each.
fn filled_rows(view: View, rows: u64, weights: u64) -> u64 {
    let word = match view {
        View::Packed(Packing { bits, axis: Axis::Rows, .. }) => 32 / u64::from(bits.max(1)),
        _ => 1,
    };
    if rows > weights && rows - weights < word { weights } else { rows }
}

/// Whether a group index never goes back: then blocks of rows say the same.
fn in_order(bytes: &[u8]) -> bool {
    let numbers = bytes.as_chunks::<4>().0;
    numbers.iter().map(|b| u32::from_le_bytes(*b)).is_sorted()
}

fn float_form(dtype: Dtype) -> Option<(NumberForm, usize)> {
    match dtype {
        Dtype::F16 => Some((NumberForm::F16, 2)),
        Dtype::BF16 => Some((NumberForm::Bf16, 2)),
        Dtype::F32 => Some((NumberForm::F32, 4)),
        Dtype::F8_E8M0 => Some((NumberForm::Unsigned, 1)),
        _ => None,
    }
}
