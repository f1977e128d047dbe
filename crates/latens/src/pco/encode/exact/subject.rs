//! A chunk in one of the modes that are measured.

use crate::number::Latent;
use crate::pco::binning::Effort;
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::encode::whole;
use crate::pco::layout::delta::DeltaPayload;
use crate::spare;

/// The chunk in one mode. Splits are made where they are needed: beside the latents there is one at a time.
pub(super) struct Subject<'a, L> {
    pub(super) latents: &'a [L],
    pub(super) mode: ModeChoice<L>,
    /// Dictionaries take long to make, and less than the latents do.
    dict: Option<ModeLatents<L>>,
    /// Bits of the secondary variable as it is, once they are known.
    secondary_bits: Option<f64>,
}

impl<'a, L: Latent> Subject<'a, L> {
    /// With its dictionary, where it has one.
    pub(super) fn of(latents: &'a [L], mode: ModeChoice<L>, dict: Option<ModeLatents<L>>) -> Self {
        Self { latents, mode, dict, secondary_bits: None }
    }

    /// `None` where there are too many values for a dictionary.
    pub(super) fn new(latents: &'a [L], mode: ModeChoice<L>) -> Option<Self> {
        let dict = match mode {
            ModeChoice::Dict { most, order } => Some(ModeLatents::dict(latents, most, order)?),
            _ => None,
        };
        Some(Self::of(latents, mode, dict))
    }

    /// The dictionary of all latents.
    pub(super) fn into_dict(self) -> Option<ModeLatents<L>> {
        self.dict
    }

    /// A split that may be written over; `None` where the mode does not apply.
    pub(super) fn split(&self) -> Option<ModeLatents<L>> {
        match &self.dict {
            Some(dict) => Some(dict.without_dict()),
            None => ModeLatents::split(spare::copy(self.latents), self.mode),
        }
    }

    /// The split of the middle, of so many numbers.
    pub(super) fn middle(&self, n: usize) -> Option<ModeLatents<L>> {
        let start = self.latents.len().saturating_sub(n) / 2;
        let range = start..self.latents.len().min(start + n);
        match &self.dict {
            Some(dict) => Some(dict.gather(&[range])),
            None => ModeLatents::split(self.latents[range].to_vec(), self.mode),
        }
    }

    /// The same without what `delta` does not cover, and the bits of that and of the mode.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn covered(
        &mut self,
        delta: &DeltaPayload,
        effort: Effort,
    ) -> Option<(f64, ModeLatents<L>)> {
        let mut split = self.split()?;
        let mode = self.dict.as_ref().map_or(&split.mode, |dict| &dict.mode);
        let mut rest = mode.written_bits() as f64;
        if let Some(secondary) = split.secondary.take_if(|_| !delta.covers_secondary()) {
            let bits = || whole::latents_bits(&secondary, effort);
            rest += *self.secondary_bits.get_or_insert_with(bits);
            spare::give(secondary);
        }
        Some((rest, split))
    }
}
