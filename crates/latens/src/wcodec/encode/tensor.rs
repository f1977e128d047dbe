//! A tensor: its view, its parts, each by what is smallest. What takes long comes first and looks at nothing
//! but the tensor and its family; then tables, which tensors share in the order of the file.

use crate::error::Result;
use crate::wcodec::config::Config;
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::dtype::Dtype;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::blob;
use crate::wcodec::encode::family::{Family, hints};
use crate::wcodec::encode::float_bytes::may_take_less;
use crate::wcodec::encode::part::{MOST_KEPT, PlannedPart, Way, take_less};
use crate::wcodec::encode::plane::ModelledPlane;
use crate::wcodec::encode::repeats;
use crate::wcodec::encode::symbols::PlaneRef;
use crate::wcodec::encode::taken::Taken;
use crate::wcodec::encode::words::{self, Words};
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::output::INLINE;
use crate::wcodec::plane::Role;
use crate::wcodec::view::{Form, PartLayout, View, WordOrder};
use std::ops::Range;

/// Bytes of a descriptor without parts.
const HEAD: usize = 9;
/// What lies before the data of an entry that is not plain and not in the index, on average.
const PADDING: usize = 64;
/// Tensors larger than this are tried under several views on a sample only.
const TRY_WHOLE: usize = 1 << 18;
/// Samples are of a quarter of a tensor at most, but of so many bytes.
const LEAST_SAMPLE: usize = 1 << 16;
/// Places of a tensor that a sample is from.
const RUNS: usize = 4;
/// What a sample may take beyond what the whole does of as many bytes, in bytes for each: rare symbols have slots there
/// that are said apart in the whole, and states weigh more.
const LOSS_OF_SAMPLE: f64 = 0.02;
/// Bytes of words up to which the whole decides where a sample is in doubt: larger ones would take too long.
const MOST_DOUBTED: usize = 1 << 21;
/// Rows of a sample, if they are not too long.
const ROWS: usize = 32;

/// A tensor to be encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tensor<'a> {
    pub(crate) dtype: Dtype,
    /// As the source spells it.
    pub(crate) type_name: &'a str,
    pub(crate) shape: &'a [u64],
    pub(crate) bytes: Data<'a>,
}

/// A tensor to be encoded under the best of `views`; the flat bytes are a choice unless it is settled.
pub(crate) struct Input<'a> {
    /// What errors call it; none where the bytes are no tensor's.
    pub(crate) name: Option<&'a str>,
    pub(crate) tensor: Tensor<'a>,
    pub(crate) views: Vec<View>,
    /// Whether the first of these is to be taken, whatever is smaller.
    pub(crate) is_settled: bool,
    pub(crate) family: Family<'a>,
}

/// A tensor under a view, of which all is settled but what other tensors have a part in: tables.
pub(crate) struct ModelledTensor<'a> {
    view: View,
    parts: Vec<ModelledPart<'a>>,
}

/// A part of it.
enum ModelledPart<'a> {
    /// It needs no tables.
    Planned(Box<PlannedPart<'a>>),
    Plane(Box<ModelledPlane<'a>>),
}

/// A tensor of which all is settled but the groups that are not encoded yet.
pub(crate) struct PlannedTensor<'a> {
    pub(crate) view: View,
    pub(crate) parts: Vec<PlannedPart<'a>>,
}

impl PlannedTensor<'_> {
    /// Whether all of it takes less than `limit` bytes in the file, more or less.
    fn takes_less(&mut self, limit: usize, bank: &Bank) -> Result<bool> {
        take_less(&mut self.parts, limit.saturating_sub(HEAD), bank)
    }

    /// Whether some of it is not as it was.
    fn is_coded(&self) -> bool {
        self.parts.iter().any(PlannedPart::is_coded)
    }

    /// Whether some of it is predicted from the base.
    pub(crate) fn needs_base(&self) -> bool {
        self.parts.iter().any(PlannedPart::needs_base)
    }

    /// Finds out what it takes as far as that is open by much: before others are held against it.
    fn settle(&mut self, bank: &Bank) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.settle(bank))
    }

    /// Finds out what it takes.
    fn know(&mut self, bank: &Bank) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.know(usize::MAX, bank))
    }

    /// Whether its bytes are stored as they are, in one group or none: no descriptor need say so.
    pub(crate) fn is_plain(&self) -> bool {
        match &self.parts[..] {
            [only] => self.view == View::Raw && !only.is_coded() && only.groups() <= 1,
            _ => false,
        }
    }

    /// What it takes in the file at most, more or less.
    fn most_bytes(&self) -> usize {
        HEAD + self.parts.iter().map(|part| part.bytes().end).sum::<usize>()
    }

    /// What it takes at least.
    fn least_bytes(&self) -> usize {
        HEAD + self.parts.iter().map(|part| part.bytes().start).sum::<usize>()
    }

    /// What others must take less than to be better.
    fn limit(&self, tensor: Tensor<'_>) -> usize {
        if !self.is_plain() {
            return self.most_bytes();
        }
        let plain = tensor.bytes.len();
        plain.saturating_sub(PADDING).max(plain.min(INLINE))
    }
}

impl<'a> Input<'a> {
    /// Says where an error was.
    pub(crate) fn place<T>(&self, of: Result<T>) -> Result<T> {
        of.map_err(|e| match self.name {
            Some(name) => e.within(format!("tensor {name:?}")),
            None => e,
        })
    }

    /// The tensor under each view that is worth it.
    pub(crate) fn taken(&self, config: &Config, crew: Crew<'_>) -> Result<Vec<Taken<'a>>> {
        let Self { tensor, ref views, ref family, .. } = *self;
        let mut views = views.clone();
        let as_words = config.tools.is_none() && !self.is_settled;
        let mut words = if as_words { repeats::as_words(tensor)? } else { None };
        if tensor.bytes.len() > TRY_WHOLE {
            let (mut chosen, mut is_sure) = match views[..] {
                [only] => (only, true),
                _ => choose(tensor, &views, config)?,
            };
            // A sample does not know of what repeats farther apart than it is long.
            if config.level <= 8
                && tensor.bytes.len() > MOST_KEPT
                && let Some(words) = words.take()
            {
                (chosen, is_sure) = choose(tensor, &[chosen, words], config)?;
            }
            // Nor does it know of the family, and too little of columns that follow from others: what its first
            // view, the likeliest, gains by that is seen on the whole.
            let in_doubt = !is_sure && is_told_by_all(tensor, views.first())?;
            let whole = !family.is_empty() || config.level > 10 || in_doubt;
            views.truncate(usize::from(whole));
            views.extend((views.first() != Some(&chosen)).then_some(chosen));
        }
        if self.name.is_none() && config.tools.is_none() {
            blob::likeliest(&mut views, tensor.bytes, config.level)?;
        }
        views.extend(words);
        // Predictors and planes of bits look at all of a tensor.
        let at_once = config.level > 10 || config.tools.is_some();
        let is_text = self.name.is_none() && blob::is_text(tensor.bytes, config.level);
        let taken = views.iter().map(|&view| Taken::new(&tensor, view, at_once, crew).transpose());
        let mut taken: Vec<Taken<'_>> = taken.flatten().collect::<Result<_>>()?;
        taken.iter_mut().for_each(|taken| taken.is_text = is_text);
        Ok(taken)
    }

    /// Chooses all but tables for the tensor under each view that may be best.
    pub(crate) fn model<'m>(
        &'m self,
        taken: &'m [Taken<'m>],
        config: &Config,
        crew: Crew<'_>,
    ) -> Result<Vec<ModelledTensor<'m>>> {
        let mut modelled: Vec<ModelledTensor<'m>> = Vec::new();
        for taken in taken {
            let words = modelled.first().and_then(ModelledTensor::bytes);
            if words.is_none_or(|words| may_take_less(taken, words, config)) {
                modelled.push(model(taken, &self.family, config, crew)?);
            }
        }
        Ok(modelled)
    }

    /// Settles how the tensor is encoded, `modelled` under each view.
    pub(crate) fn plan<'m>(
        &'m self,
        modelled: Vec<ModelledTensor<'m>>,
        config: &Config,
        bank: &mut Bank,
    ) -> Result<PlannedTensor<'m>> {
        let (mut best, mut bytes) = (None, flat(self.tensor).limit(self.tensor));
        let before = bank.len();
        let mut kept = Vec::new();
        for modelled in modelled {
            if let Some(best) = &mut best {
                PlannedTensor::settle(best, bank)?;
                bytes = best.most_bytes();
            }
            let mut planned = modelled.plan(config, bank)?;
            let forced = self.is_settled || config.tools.is_some() && self.tensor.bytes.len() > 0;
            let raw = best.as_ref().is_none_or(|b: &PlannedTensor<'_>| b.view == View::Raw);
            // Elements as they are gain nothing by a view, and bytes tell less.
            let mut less = planned.is_coded() && planned.takes_less(bytes, bank)?;
            if less
                && let Some(best) = &mut best
                && planned.most_bytes() > best.least_bytes()
            {
                // What is known of one as far as counts tell may be more than it takes.
                let tables = bank.take_from(before);
                bank.give_back(std::mem::take(&mut kept));
                best.know(bank)?;
                kept = bank.take_from(before);
                bank.give_back(tables);
                bytes = best.most_bytes();
                less = planned.takes_less(bytes, bank)?;
            }
            let better = less || (forced && raw);
            let tables = bank.take_from(before);
            if better {
                bytes = planned.most_bytes();
                best = Some(planned);
                kept = tables;
            }
        }
        bank.give_back(kept);
        Ok(best.unwrap_or_else(|| flat(self.tensor)))
    }
}

/// The view that is smallest for some runs of rows; and whether that is by more than the first one is larger in a sample
/// than in the whole.
fn choose(tensor: Tensor<'_>, views: &[View], config: &Config) -> Result<(View, bool)> {
    let (mut best, mut most_of_first) = ((usize::MAX, View::Raw), 0.0);
    let mut buffer = Vec::new();
    for &view in views {
        let all = tensor.bytes.len();
        let Some(layout) = view.layout(tensor.dtype, tensor.shape, all as u64) else { continue };
        let unit = usize::try_from(layout.unit_bytes).unwrap_or(usize::MAX).max(1);
        let sample = sample(tensor.bytes, unit, &mut buffer)?;
        if let View::Words { width, order: WordOrder::Unsigned } = view
            && best.0 < usize::MAX
            && Words::unsigned(width, config.pco()).are_hopeless(&sample, best.0)?
        {
            continue;
        }
        let Some(parts) = layout.split(&sample) else { continue };
        let mut bank = Bank::default();
        let (taken, family) = (Taken::of_parts(layout, parts), Family::default());
        let mut planned = model(&taken, &family, config, Crew::ALONE)?.plan(config, &mut bank)?;
        planned.know(&bank)?;
        let added = bank.bytes_from(0);
        // Tables weigh less in the whole tensor than in the sample.
        let share = added * sample.len() / all.max(1);
        let bytes = planned.most_bytes() + share;
        if bytes < best.0 {
            best = (bytes, view);
        }
        if Some(&view) == views.first() {
            most_of_first = bytes as f64 - LOSS_OF_SAMPLE * sample.len() as f64;
        }
    }
    Ok((best.1, most_of_first > best.0 as f64))
}

/// Whether the whole of a tensor may decide otherwise than a sample that is in doubt about its first view: symbols, and
/// words that have an order, of which runs of rows show little. Of many words it would take too long.
fn is_told_by_all(tensor: Tensor<'_>, first: Option<&View>) -> Result<bool> {
    let width = match first {
        Some(View::Words { width, .. }) => *width,
        _ => 1,
    };
    if width != 2 || tensor.bytes.len() > MOST_DOUBTED {
        return Ok(width == 1);
    }
    let a_row = tensor.shape.last().and_then(|&cols| usize::try_from(cols).ok());
    let mut buffer = Vec::new();
    let bytes = tensor.bytes.get(0..tensor.bytes.len(), &mut buffer)?;
    Ok(words::have_order(bytes, a_row.unwrap_or(usize::MAX)))
}

/// Some runs of `unit` bytes each, about [`TRY_WHOLE`] in all: rows of embeddings differ much. More where
/// rows are so long that what columns have in common would not be seen.
fn sample(bytes: Data<'_>, unit: usize, buffer: &mut Vec<u8>) -> Result<Vec<u8>> {
    let all = bytes.len() / unit;
    let most = TRY_WHOLE.min((bytes.len() / 4).max(LEAST_SAMPLE));
    let units = (most / unit).max(ROWS.min(MOST_KEPT / unit)).clamp(1, all.max(1));
    let runs = if all > 2 * units { units.min(RUNS) } else { 1 };
    let mut sample = Vec::new();
    for run in 0..runs {
        let first = (all - units / runs) * (2 * run + 1) / (2 * runs);
        let end = (first + units / runs) * unit;
        sample.extend_from_slice(bytes.get(first * unit..end, buffer)?);
    }
    Ok(sample)
}

/// The bytes as they are.
fn flat(tensor: Tensor<'_>) -> PlannedTensor<'_> {
    let shape = PartShape::Bytes { count: tensor.bytes.len() };
    let part = PlannedPart::raw(Role::Rest, shape, tensor.bytes);
    PlannedTensor { view: View::Raw, parts: vec![part] }
}

/// Chooses all but tables for a tensor under one view.
pub(crate) fn model<'a>(
    taken: &'a Taken<'a>,
    family: &'a Family<'a>,
    config: &Config,
    crew: Crew<'_>,
) -> Result<ModelledTensor<'a>> {
    let parts = taken.of().into_iter().enumerate();
    let parts = parts.map(|(index, part)| model_part(taken, index, part, family, config, crew));
    Ok(ModelledTensor { view: taken.layout.view, parts: parts.collect::<Result<_>>()? })
}

fn model_part<'a>(
    taken: &'a Taken<'a>,
    index: usize,
    part: PartLayout,
    family: &'a Family<'a>,
    config: &Config,
    crew: Crew<'_>,
) -> Result<ModelledPart<'a>> {
    let (role, data) = (part.role, taken.data(index));
    let plane = match part.form {
        Form::Symbols { bits, cols } => {
            let cols = usize::try_from(cols).unwrap_or(usize::MAX);
            let rows = data.len().checked_div(cols).unwrap_or(0);
            let least = taken.layout.least(bits);
            let plane = PlaneRef { rows, cols, bits, least, data };
            let hints = hints(role, plane, taken, index, family, config.effort());
            let reference = family.reference.and_then(|a| a.part(taken.layout.view, index));
            ModelledPlane::new(role, plane, hints, reference, config, crew)?
        }
        Form::Words { width, float, a_row } => {
            let shape =
                PartShape::Words { width, float, count: data.len() / usize::from(width.max(1)) };
            let a_row = usize::try_from(a_row).unwrap_or(usize::MAX);
            let ordered =
                |view| matches!(view, View::Words { order: WordOrder::SignMagnitude, .. });
            let of_floats = float || ordered(taken.layout.view);
            let words =
                Words { width: shape.width(), float, of_floats, a_row, config: config.pco() };
            let words = if taken.is_text { words.of_text() } else { words };
            // As many in a group as suits them.
            let per_group = words::per_group(shape.width()).min(shape.count()).max(1);
            let way = Way::Words { data, words, per_group };
            let coded = PlannedPart::new(role, shape, way, config.threads_in_force());
            let bank = &mut Bank::default();
            let planned = coded.kept_if_small(bank)?.or_raw(data, 0, bank)?;
            return Ok(ModelledPart::Planned(Box::new(planned)));
        }
        Form::Raw { .. } => ModelledPlane::of_bytes(role, data, config, crew)?,
    };
    Ok(ModelledPart::Plane(Box::new(plane)))
}

impl<'a> ModelledTensor<'a> {
    /// Bytes that it takes in the file, if that is known.
    fn bytes(&self) -> Option<usize> {
        let bytes = self.parts.iter().map(|part| match part {
            ModelledPart::Planned(part) => {
                Some(part.bytes()).filter(Range::is_empty).map(|b| b.end)
            }
            ModelledPart::Plane(_) => None,
        });
        bytes.sum::<Option<usize>>()
    }

    /// Settles how the tensor is encoded under its view.
    fn plan(self, config: &Config, bank: &mut Bank) -> Result<PlannedTensor<'a>> {
        let parts = self.parts.into_iter().map(|part| match part {
            ModelledPart::Planned(part) => Ok(part.threads(config.threads_in_force())),
            ModelledPart::Plane(plane) => plane.plan(config, bank),
        });
        Ok(PlannedTensor { view: self.view, parts: parts.collect::<Result<_>>()? })
    }
}
