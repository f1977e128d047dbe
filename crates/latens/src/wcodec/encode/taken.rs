//! Tensors taken apart: small ones at once, others a stretch at a time.

mod pass;

use crate::error::Result;
use crate::spare;
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::part::MOST_KEPT;
use crate::wcodec::encode::tensor::Tensor;
use crate::wcodec::plane::{Part, Role};
use crate::wcodec::split_part::SplitPart;
use crate::wcodec::view::{Layout, PartLayout, View};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pass::{Memory, Pass};

/// Bytes that are taken apart at a time where parts are collected and what they join to is compared: few
/// enough that all of it stays in the cache, in memory that is used again.
const CHECKED: usize = 1 << 16;
/// Parts besides the weights, and exponents of floats, are held in memory up to this size: they are looked at again and
/// again.
const MOST_HELD: usize = 1 << 24;

/// A tensor under a view that gives back its bytes.
pub(crate) struct Taken<'a> {
    pub(crate) layout: Layout,
    parts: Vec<Source<'a>>,
    /// Whether its words are text.
    pub(crate) is_text: bool,
}

/// Where the bytes of a part are.
enum Source<'a> {
    /// They are those of the tensor.
    Same(Data<'a>),
    Held(spare::Bytes),
    Split(SplitPart<'a>),
}

impl<'a> Taken<'a> {
    /// The tensor's parts, all of them in memory if `at_once` says so; `None` where the view does not fit it or does not give back the same
    /// bytes, whatever it promises.
    pub(crate) fn new(
        tensor: &Tensor<'a>,
        view: View,
        at_once: bool,
        crew: Crew<'_>,
    ) -> Result<Option<Self>> {
        let len = tensor.bytes.len();
        let Some(layout) = view.layout(tensor.dtype, tensor.shape, len as u64) else {
            return Ok(None);
        };
        if layout.is_same() {
            let part = match tensor.bytes {
                Data::Read(_) if at_once => Source::Held(tensor.bytes.whole()?.into_owned().into()),
                bytes => Source::Same(bytes),
            };
            return Ok(Some(Self { layout, parts: vec![part], is_text: false }));
        }
        Self::by_pieces(layout, tensor.bytes, at_once || len <= MOST_KEPT, crew)
    }

    /// The parts of a tensor that is not to be encoded: small ones at once, of others each is split off where it is wanted, if
    /// it can be. `None` where the view does not fit.
    pub(crate) fn apart(layout: Layout, tensor: Data<'a>) -> Result<Option<Self>> {
        let count = layout.parts().len();
        let split = || (0..count).map(|i| SplitPart::new(tensor, layout, i).map(Source::Split));
        let parts = match tensor.len() > MOST_KEPT {
            _ if layout.is_same() => Some(vec![Source::Same(tensor)]),
            true => split().collect(),
            false => None,
        };
        Ok(match parts {
            Some(parts) => Some(Self { layout, parts, is_text: false }),
            None => layout.split(&tensor.whole()?).map(|parts| Self::of_parts(layout, parts)),
        })
    }

    /// Parts that are in memory.
    pub(crate) fn of_parts(layout: Layout, parts: Vec<Part>) -> Self {
        let parts = parts.into_iter().map(|part| Source::Held(part.into_bytes().into()));
        let parts = parts.collect();
        Self { layout, parts, is_text: false }
    }

    /// Parts that are in memory if they are few or to be `held`, else split off where they are wanted.
    fn by_pieces(
        layout: Layout,
        tensor: Data<'a>,
        held: bool,
        crew: Crew<'_>,
    ) -> Result<Option<Self>> {
        let pieces = layout.pieces();
        let whole = usize::try_from(pieces.unit_bytes).unwrap_or(usize::MAX).max(1);
        let of = layout.parts();
        let own = (0..of.len()).map(|i| pieces.part_bytes(i)).collect::<Option<Vec<usize>>>();
        let Some(own) = own.filter(|_| tensor.len().is_multiple_of(whole)) else {
            return Ok(None);
        };
        let count = tensor.len() / whole;
        let split = |(index, (part, &own)): (usize, (&PartLayout, &usize))| {
            let again = match layout.view {
                View::Blocks(_) => part.role != Role::Weights,
                View::FloatBytes { .. } => index == 0,
                _ => false,
            };
            if held || again && own * count <= MOST_HELD {
                return Some(Source::Held(spare::Bytes::stale(own * count)));
            }
            SplitPart::new(tensor, layout, index).map(Source::Split)
        };
        let parts = of.iter().zip(&own).enumerate().map(split).collect::<Option<Vec<Source<'a>>>>();
        let Some(mut parts) = parts else { return Ok(None) };
        let step = (CHECKED / whole).max(1);
        let room = parts.iter_mut().zip(&own).map(|(part, own)| match part {
            Source::Held(data) => data.chunks_mut((step * own).max(1)).map(Mutex::new).collect(),
            _ => Vec::new(),
        });
        let pass = Pass { layout, pieces, own: &own, room: room.collect() };
        let same = AtomicBool::new(true);
        let check = |memory: &mut Memory, i: usize| {
            let range = i * step * whole..count.min((i + 1) * step) * whole;
            let n = range.len() / whole;
            let mut buffer = std::mem::take(&mut memory.buffer);
            let bytes = tensor.get(range, &mut buffer)?;
            if same.load(Ordering::Relaxed) && !pass.takes_apart(bytes, (i, n), memory)? {
                same.store(false, Ordering::Relaxed);
            }
            memory.buffer = buffer;
            Ok(())
        };
        crew.each(count.div_ceil(step), Memory::default, check)?;
        let same = same.into_inner();
        Ok(same.then_some(Self { layout, parts, is_text: false }))
    }

    /// What the parts are.
    pub(crate) fn of(&self) -> Vec<PartLayout> {
        self.layout.parts()
    }

    /// The bytes of the part at `index`.
    pub(crate) fn data(&self, index: usize) -> Data<'_> {
        match self.parts.get(index) {
            None => Data::Held(&[]),
            Some(Source::Same(data)) => *data,
            Some(Source::Held(data)) => Data::Held(data),
            Some(Source::Split(part)) => Data::Read(part),
        }
    }
}
