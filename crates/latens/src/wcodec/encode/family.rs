//! The tensors and parts that say something of a tensor's weights.

use crate::wcodec::class::SourceBytes;
use crate::wcodec::encode::levels::Measure;
use crate::wcodec::encode::sources::{Candidate, Effort, Hints, Numbers};
use crate::wcodec::encode::symbols::PlaneRef;
use crate::wcodec::encode::taken::Taken;
use crate::wcodec::encode::tiled::Reference;
use crate::wcodec::layout::source::{NumberForm, PartOf, Source};
use crate::wcodec::plane::Role;
use crate::wcodec::view::{Form, PartLayout, View};
use std::fmt;

/// Steps of levels of blocks: 2^-3 octaves, and half of that where these say where symbols are.
const FRACTION: u32 = 3;
const FRACTION_OF_PLACES: u32 = 4;

/// Another tensor whose numbers say something of this one's.
#[derive(Clone, Debug)]
pub(crate) struct Sibling<'a> {
    /// What refers to it in the file.
    pub(crate) of: PartOf,
    pub(crate) form: NumberForm,
    pub(crate) numbers: Numbers<'a>,
    pub(crate) block_rows: usize,
    pub(crate) block_cols: usize,
}

/// The tensors that belong to a tensor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family<'a> {
    pub(crate) scale: Option<Sibling<'a>>,
    pub(crate) zero: Option<Sibling<'a>>,
    /// What is added to weights: less the scale, it says where their zero lies.
    pub(crate) bias: Option<Sibling<'a>>,
    pub(crate) row_map: Option<(PartOf, SourceBytes<'a>)>,
    /// The tensor that this one may be like.
    pub(crate) reference: Option<&'a Alike<'a>>,
}

/// A tensor whose parts those of this one may be like, under one view.
pub(crate) struct Alike<'a> {
    pub(crate) taken: Taken<'a>,
    /// What refers to each part in the file; none where it is not referred to.
    pub(crate) of: Vec<Option<PartOf>>,
}

impl fmt::Debug for Alike<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alike").field("of", &self.of).finish_non_exhaustive()
    }
}

impl Alike<'_> {
    /// The view under which they may be.
    pub(crate) fn view(&self) -> View {
        self.taken.layout.view
    }

    /// What a part may be predicted from, under a view.
    pub(crate) fn part(&self, view: View, index: usize) -> Option<Reference<'_>> {
        let of = self.of.get(index).filter(|_| view == self.view())?.as_ref()?;
        Some(Reference { of, symbols: self.taken.data(index) })
    }
}

impl Family<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { scale, zero, bias, row_map, reference } = self;
        let siblings = [scale, zero, bias];
        siblings.iter().all(|s| s.is_none()) && row_map.is_none() && reference.is_none()
    }
}

impl<'a> Family<'a> {
    /// A sibling as what levels, which are added or not, or zero points come from.
    fn candidate(&self, sibling: &Sibling<'a>, fraction: u32, added: bool) -> Candidate<'a> {
        let row_map = self.row_map.as_ref();
        Candidate {
            source: Source {
                of: sibling.of.clone(),
                form: sibling.form,
                block_rows: sibling.block_rows,
                block_cols: sibling.block_cols,
                fraction,
                added,
                row_map: row_map.map(|(of, _)| of.clone()),
            },
            numbers: sibling.numbers,
            row_map: row_map.map(|(_, map)| *map),
        }
    }
}

/// A part of the tensor itself, by its number, as what levels of the weights of `plane` come from: one of numbers of
/// blocks, as many in each row.
fn of_part<'a>(
    plane: PlaneRef<'_>,
    taken: &'a Taken<'a>,
    (number, part): (usize, PartLayout),
    fraction: u32,
) -> Option<Candidate<'a>> {
    let (form, width, bits) = match (part.role, part.form) {
        (
            Role::Scale | Role::SuperScale | Role::Min | Role::SuperMin,
            Form::Words { width: 2, float: true, .. },
        ) => (NumberForm::F16, 2, 16),
        (Role::Scale | Role::Min, Form::Symbols { bits: 8, .. }) => (NumberForm::Signed, 1, 8),
        (Role::Scale | Role::Min, Form::Symbols { bits, .. }) => (NumberForm::Unsigned, 1, bits),
        _ => return None,
    };
    let numbers = Numbers { bytes: taken.data(number), width, bits };
    let n = numbers.bytes.len() / width;
    let a_row = n.checked_div(plane.rows).filter(|a| *a > 0 && a * plane.rows == n)?;
    plane.cols.is_multiple_of(a_row).then(|| Candidate {
        source: Source {
            of: PartOf::Own(number),
            form,
            block_rows: 1,
            block_cols: plane.cols / a_row,
            fraction,
            added: matches!(part.role, Role::Min | Role::SuperMin),
            row_map: None,
        },
        numbers,
        row_map: None,
    })
}

/// What might explain the symbols of a part: its siblings.
pub(crate) fn hints<'a>(
    role: Role,
    plane: PlaneRef<'_>,
    taken: &'a Taken<'a>,
    index: usize,
    family: &Family<'a>,
    effort: Effort,
) -> Hints<'a> {
    let measure = if role == Role::Exponent { Measure::Place } else { Measure::Size };
    let side = role != Role::Mantissa;
    let mut hints = Hints { side, effort, ..Hints::none(measure) };
    if role != Role::Weights {
        return hints;
    }
    let parts = taken.of();
    let placed = parts.iter().any(|part| part.role == Role::Min) || family.bias.is_some();
    let fraction = if placed { FRACTION_OF_PLACES } else { FRACTION };
    let own = parts.into_iter().enumerate().take(index);
    hints.levels.extend(own.filter_map(|(i, part)| of_part(plane, taken, (i, part), fraction)));
    let candidate = |sibling: &Sibling<'a>, added| family.candidate(sibling, fraction, added);
    hints.levels.extend(family.scale.as_ref().map(|scale| candidate(scale, false)));
    hints.levels.extend(family.bias.as_ref().map(|bias| candidate(bias, true)));
    hints.levels.sort_by_key(|candidate| candidate.source.added);
    hints.zero = family.zero.as_ref().map(|zero| candidate(zero, false));
    hints
}
