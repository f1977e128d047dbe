//! The tensors of a checkpoint, some of them side by side.

use super::BaseFile;
use super::siblings::{Held, TensorBytes};
use crate::bits::checksum::Crc32;
use crate::error::{Error, Result};
use crate::wcodec::base::{Access, Base, BaseBytes, BaseTensor};
use crate::wcodec::checkpoint::{Checkpoint, TensorInfo, wide};
use crate::wcodec::config::Config;
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::family::Alike;
use crate::wcodec::encode::part::{MOST_KEPT, MOST_READ};
use crate::wcodec::encode::taken::Taken;
use crate::wcodec::encode::tensor::{Input, Tensor};
use crate::wcodec::file_writer::FileWriter;
use crate::wcodec::layout::source::{EntryRef, PartOf, may_be_of_base};
use crate::wcodec::plane::Role;
use crate::wcodec::threads;
use crate::wcodec::view::{Form, Layout, PartLayout, Sign, View, WordOrder};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

/// Bytes of tensors that are compared at a time.
const COMPARED: usize = 1 << 18;
/// Bytes of a stretch of which a tensor is known, and about how many of these it has.
const STRETCH: usize = 1 << 12;
const STRETCHES: usize = 16;
/// Bytes of tensors that are encoded side by side, for each thread, and what the smallest counts as.
const BATCH: usize = 1 << 23;
const LEAST: usize = 1 << 12;
/// Where the tensors end that are encoded side by side with the one at `first`.
pub(super) fn batch_end(
    checkpoint: &Checkpoint,
    first: usize,
    base: Option<BaseFile<'_>>,
    config: &Config,
) -> usize {
    let threads = config.threads_in_force();
    // Of other bases each large tensor is in memory.
    let alone = base.is_some_and(|base| base.base.access() != Access::Bytes);
    if threads == 1 || alone || config.level > 10 || config.tools.is_some() {
        return first + 1;
    }
    let (mut held, of_base) = (0, if base.is_some() { 2 } else { 1 });
    let more = checkpoint.tensors.iter().skip(first).take_while(|info| {
        // Of larger ones a few stretches and what belongs to rows and blocks are in memory.
        let len = usize::try_from(info.len).unwrap_or(MOST_READ);
        held += of_base * len.clamp(LEAST, MOST_READ);
        held <= threads * BATCH
    });
    first + more.count().max(1)
}

/// The tensors that are written: one that follows may be the same.
#[derive(Default)]
pub(crate) struct Seen {
    /// The entry of the first tensor of the checkpoint.
    first: usize,
    /// Numbers of those of the checkpoint that might be the same, by length and fingerprint.
    alike: HashMap<(u64, u32), Vec<usize>>,
    /// Those of all checkpoints, by SHA-256, where there are several: the bytes of earlier ones may be gone.
    by_hash: Option<HashMap<[u8; 32], Written>>,
}

/// Entries of the same bytes, of which some may not stand for each other.
type Written = Vec<(usize, TensorInfo)>;

impl Seen {
    /// Of checkpoints one after the other.
    pub(crate) fn by_hash() -> Self {
        Self { by_hash: Some(HashMap::new()), ..Self::default() }
    }

    /// Goes on with a checkpoint, before which there are so many entries.
    pub(super) fn before(&mut self, entries: usize) {
        (self.first, self.alike) = (entries, HashMap::new());
    }
}

/// A tensor that is begun.
struct Open<'c> {
    number: usize,
    info: &'c TensorInfo,
    bytes: TensorBytes<'c>,
    fingerprint: u32,
    /// SHA-256 of its bytes, where it is looked for by that.
    hash: Option<[u8; 32]>,
    held: Held<'c>,
    /// The entry that this one is a copy of.
    copy: Option<usize>,
}

impl<'c> Open<'c> {
    fn read(
        checkpoint: &'c Checkpoint,
        number: usize,
        by_hash: bool,
        config: &'c Config,
    ) -> Result<Option<Self>> {
        let Some(info) = checkpoint.tensors.get(number) else { return Ok(None) };
        let bytes = TensorBytes::open(checkpoint, number, &config.watch)?;
        let (mut hash, mut print) = (None, 0);
        match by_hash {
            true => hash = Some(sha256(bytes.data())?),
            false => print = fingerprint(bytes.data())?,
        }
        let held = Held::read(checkpoint, info, &config.watch)?;
        Ok(Some(Self { number, info, bytes, fingerprint: print, hash, held, copy: None }))
    }

    fn tensor(&self) -> Tensor<'_> {
        let info = self.info;
        let (dtype, type_name) = (info.dtype, info.type_name());
        Tensor { dtype, type_name, shape: &info.shape, bytes: self.bytes.data() }
    }

    /// Finds out whether a tensor before this one is the same.
    fn look_back(
        &mut self,
        checkpoint: &Checkpoint,
        seen: &mut Seen,
        based: bool,
        config: &Config,
    ) -> Result<()> {
        let info = self.info;
        if info.len == 0 {
            return Ok(());
        }
        let fits = |other: &TensorInfo| {
            // Of copies names tell how they are packed.
            !info.is_settled && can_share(info, other, config) && may_stand_for(info, other, based)
        };
        if let (Some(by_hash), Some(hash)) = (&mut seen.by_hash, self.hash) {
            let same = by_hash.entry(hash).or_default();
            self.copy = same.iter().find(|(_, other)| fits(other)).map(|(entry, _)| *entry);
            if self.copy.is_none() {
                same.push((seen.first + self.number, info.clone()));
            }
            return Ok(());
        }
        let alike = seen.alike.entry((info.len, self.fingerprint)).or_default();
        for &other in &*alike {
            if checkpoint.tensors.get(other).is_some_and(fits) {
                let bytes = TensorBytes::open(checkpoint, other, &config.watch)?;
                if same(self.bytes.data(), bytes.data())? {
                    self.copy = Some(seen.first + other);
                    return Ok(());
                }
            }
        }
        alike.push(self.number);
        Ok(())
    }
}

/// Writes some tensors, which are encoded side by side.
pub(super) fn write_tensors<W: Write>(
    checkpoint: &Checkpoint,
    numbers: Range<usize>,
    base: Option<BaseFile<'_>>,
    config: &Config,
    seen: &mut Seen,
    writer: &mut FileWriter<W>,
) -> Result<()> {
    let infos = checkpoint.tensors.get(numbers.clone()).unwrap_or_default();
    let placed = |i: usize, e: Error| match infos.get(i) {
        Some(info) => e.within(format!("tensor {:?}", info.name)),
        None => e,
    };
    infos.iter().try_for_each(|info| config.watch.begin(&info.name))?;
    let len = |info: &TensorInfo| usize::try_from(info.len).unwrap_or(usize::MAX);
    let weights: Vec<usize> = infos.iter().map(len).collect();
    let by_hash = seen.by_hash.is_some();
    let open = |i: usize, _: Crew<'_>| {
        Open::read(checkpoint, numbers.start + i, by_hash, config).map_err(|e| placed(i, e))
    };
    let open = threads::heaviest_first(&weights, config.threads_in_force(), open)?;
    let mut open: Vec<Open<'_>> = open.into_iter().flatten().collect();
    for (i, open) in open.iter_mut().enumerate() {
        let begun = writer.begin(&open.info.name);
        begun
            .and_then(|()| open.look_back(checkpoint, seen, base.is_some(), config))
            .map_err(|e| placed(i, e))?;
    }
    let may_be_like = |open: &Open<'_>| open.copy.is_none() && !open.info.siblings.explains;
    let namesake = |(i, open)| match base.filter(|_| may_be_like(open)) {
        Some(base) => Namesake::of(base.base, open.info).map_err(|e| placed(i, e)),
        None => Ok(None),
    };
    let namesakes: Vec<_> = open.iter().enumerate().map(namesake).collect::<Result<_>>()?;
    let mut alike: Vec<Option<Alike<'_>>> = Vec::new();
    for (i, namesake) in namesakes.iter().enumerate() {
        let of = namesake.as_ref().map_or(Ok(None), Namesake::alike);
        alike.push(of.map_err(|e| placed(i, e))?);
    }
    let mut inputs = Vec::new();
    for (open, alike) in open.iter().zip(&alike).filter(|(open, _)| open.copy.is_none()) {
        let mut family = open.held.family(checkpoint, open.info, seen.first);
        family.reference = alike.as_ref();
        let (name, mut views) = (Some(&open.info.name[..]), views(open.info, config));
        if open.info.is_settled {
            family.reference = family.reference.filter(|alike| alike.view() == open.info.view);
        }
        if let Some(alike) = family.reference {
            views.retain(|view| *view != alike.view());
            views.insert(0, alike.view());
        }
        let is_settled = open.info.is_settled && open.info.len > 0;
        inputs.push(Input { name, tensor: open.tensor(), views, is_settled, family });
    }
    let tensors: Vec<_> =
        open.iter().map(|open| (&open.info.name[..], open.tensor(), open.copy)).collect();
    writer.tensors(&tensors, &inputs)
}

/// The CRC-32 of some stretches of a tensor, which tells it from most others.
fn fingerprint(bytes: Data<'_>) -> Result<u32> {
    let (mut crc, mut buffer) = (Crc32::default(), Vec::new());
    let step = (bytes.len() / STRETCHES).max(STRETCH);
    for from in (0..bytes.len()).step_by(step) {
        crc.update(bytes.get(from..bytes.len().min(from + STRETCH), &mut buffer)?);
    }
    Ok(crc.value())
}

/// The SHA-256 of a tensor.
fn sha256(bytes: Data<'_>) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    bytes.each(COMPARED, 1, |_, some| {
        hash.update(some);
        Ok(())
    })?;
    Ok(hash.finalize().into())
}

/// Whether two tensors of one length have the same bytes.
fn same(one: Data<'_>, other: Data<'_>) -> Result<bool> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for from in (0..one.len()).step_by(COMPARED) {
        let range = from..one.len().min(from + COMPARED);
        if one.get(range.clone(), &mut own)? != other.get(range, &mut others)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The base's tensor of the same name and type. It may have more rows, or fewer: vocabularies grow.
struct Namesake<'b> {
    name: &'b str,
    layout: Layout,
    bytes: BytesOfBase<'b>,
}

/// Its bytes: in memory where they are few or must be read as a whole.
enum BytesOfBase<'b> {
    Held(Vec<u8>),
    Read(BaseBytes<'b>),
}

impl<'b> Namesake<'b> {
    fn of(base: &'b dyn Base, info: &'b TensorInfo) -> Result<Option<Self>> {
        let view = view_of_symbols(info).filter(|_| info.len > 0);
        let like = base.about(&info.name).filter(|about| {
            let rows = (about.shape.get(1..), about.shape.len());
            about.dtype == info.dtype && rows == (info.shape.get(1..), info.shape.len())
        });
        let (Some(view), Some(BaseTensor { dtype, shape, length })) = (view, like) else {
            return Ok(None);
        };
        let symbols = view
            .layout(info.dtype, &info.shape, info.len)
            .map(|layout| layout.rows.saturating_mul(layout.cols));
        if !may_be_of_base(length, symbols.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)) {
            return Ok(None);
        }
        let (name, len) = (&info.name[..], usize::try_from(length).unwrap_or(usize::MAX));
        let (bytes, layout) = if base.access() == Access::Bytes && len > MOST_KEPT {
            let layout = view.layout(dtype, &shape, length);
            (BytesOfBase::Read(BaseBytes { base, name, len }), layout)
        } else {
            let (dtype, shape, bytes) = base.tensor(name)?;
            let layout = view.layout(dtype, &shape, bytes.len() as u64);
            (BytesOfBase::Held(bytes), layout)
        };
        Ok(layout.map(|layout| Self { name, layout, bytes }))
    }

    /// Its parts: weights, or words as planes of bytes.
    fn alike(&self) -> Result<Option<Alike<'_>>> {
        let bytes = match &self.bytes {
            BytesOfBase::Held(bytes) => Data::Held(bytes),
            BytesOfBase::Read(bytes) => Data::Read(bytes),
        };
        let part = |(part, of): (usize, PartLayout)| match (of.role, of.form) {
            (Role::Weights | Role::Exponent | Role::Mantissa, Form::Symbols { .. }) => {
                let entry = EntryRef::Base(self.name.to_owned());
                Some(PartOf::Other { entry, view: self.layout.view, part })
            }
            _ => None,
        };
        let of = self.layout.parts().into_iter().enumerate().map(part).collect();
        let taken = Taken::apart(self.layout, bytes)?;
        Ok(taken.map(|taken| Alike { taken, of }))
    }
}

/// The view in which a tensor may be predicted from another one: as the symbols that it has, or its words as planes of
/// bytes.
fn view_of_symbols(info: &TensorInfo) -> Option<View> {
    match info.dtype.width() {
        _ if info.layout().is_some_and(|layout| layout.meaning().is_some()) => Some(info.view),
        Some(1) => Some(View::Bytes(Sign::Unsigned)),
        Some(width @ (2 | 4 | 8)) => Some(View::FloatBytes { width }),
        _ => None,
    }
}

/// Whether the descriptor of `other`, under whichever view, is that of `info` too: parts have the rows
/// and columns of a tensor.
fn can_share(info: &TensorInfo, other: &TensorInfo, config: &Config) -> bool {
    let of = |info: &TensorInfo, view: View| view.layout(info.dtype, &info.shape, info.len);
    let others = wide(other.dtype).chain(view_of_symbols(other)).chain([View::Raw]);
    let mut views = views(other, config).into_iter().chain(others);
    views.all(|view| of(info, view) == of(other, view))
}

/// Whether `other` may be decoded for `info`, by whatever is told of that: what explains others is to need no other tensor.
fn may_stand_for(info: &TensorInfo, other: &TensorInfo, based: bool) -> bool {
    let alone = other.siblings.explains || (other.siblings.is_empty() && !based);
    !info.siblings.explains || alone
}

/// The views that are tried.
fn views(info: &TensorInfo, config: &Config) -> Vec<View> {
    if info.is_settled {
        return vec![info.view];
    }
    if config.level > 8 {
        return info.candidates();
    }
    let View::Words { width: width @ 2.., .. } = info.view else { return vec![info.view] };
    let mut views = info.candidates();
    if info.view == (View::Words { width, order: WordOrder::Float }) {
        // Integers of the same order differ by modes only, and theirs do nothing for the bits of floats.
        let again = View::Words { width, order: WordOrder::SignMagnitude };
        views.retain(|view| *view != again);
    }
    views
}
