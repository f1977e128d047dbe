//! A chunk: its latents, bins and metadata, ready for its pages to be written.

use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::number::{Latent, NumberType};
use crate::pco::binning::ranked::Ranked;
use crate::pco::binning::{self, Effort};
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::encode::choose;
use crate::pco::encode::page::{self, VariableCoder};
use crate::pco::encode::plan::Ranks;
use crate::pco::encode::split::{self, PageLatents, Stored};
use crate::pco::encode::{states, whole};
use crate::pco::layout::chunk_meta::{ChunkMeta, Primary};
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;

/// A chunk with everything chosen.
#[derive(Clone, Debug)]
pub(crate) struct Chunk<L: Latent> {
    pub(crate) meta: ChunkMeta<L>,
    pages: Vec<PageLatents<L>>,
    delta: Option<VariableCoder<u32>>,
    primary: Primary<VariableCoder<L>, VariableCoder<u32>>,
    secondary: Option<VariableCoder<L>>,
}

impl<L: Latent> Chunk<L> {
    /// Plans and trains a chunk of numbers of type `ty`, given as ordered latents and cut into
    /// pages of the given lengths, which must sum to the count of the numbers.
    pub(crate) fn new(
        latents: Vec<L>,
        ty: NumberType,
        page_lens: &[usize],
        config: &Config,
    ) -> Result<Self> {
        config.validate(ty)?;
        let sum = page_lens.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
        if sum != Some(latents.len()) {
            return Err(Error::invalid("the pages' lengths do not sum to the chunk's"));
        }
        let plan = choose::plan(latents, ty, config)?;
        config.watch.ask()?;
        let mode = plan.latents.mode.clone();
        let has_indices = plan.latents.primary.latents().is_none();
        let has_secondary = plan.latents.secondary.is_some();
        let (effort, estimates) = (Effort::of(config), Effort::of_estimates(config.level));
        let mut delta = plan.delta;
        let pages = if page_lens.len() == 1 {
            let mut page = match plan.lookbacks {
                Some(lookbacks) => split::with_lookbacks(plan.latents, &delta, lookbacks),
                None => split::whole(plan.latents, &delta),
            };
            if config.delta == DeltaSpec::Auto
                && let Some(log) = whole::state_log(&page, &delta, estimates)
            {
                states::lengthen(&mut page, &mut delta, log);
            }
            vec![page]
        } else {
            let mut start = 0;
            let to_page = |&n: &usize| {
                start += n;
                split::page(&plan.latents, &delta, start - n..start)
            };
            page_lens.iter().map(to_page).collect()
        };
        config.watch.ask()?;
        // A chunk without pages has the variable too.
        let lookbacks = matches!(delta, DeltaPayload::Lookback { .. })
            .then(|| train(&pages, None, effort, |p| p.delta.as_ref()));
        let ranks = if pages.len() == 1 { plan.ranks } else { Ranks::NONE };
        let primary = if has_indices {
            let ranked = ranks.primary.as_ref().and_then(|ranks| ranks.indices());
            Primary::Indices(train(&pages, ranked, effort, |p| p.primary.indices()))
        } else {
            let ranked = ranks.primary.as_ref().and_then(|ranks| ranks.latents());
            Primary::Latents(train(&pages, ranked, effort, |p| p.primary.latents()))
        };
        config.watch.ask()?;
        let secondary = has_secondary
            .then(|| train(&pages, ranks.secondary.as_ref(), effort, |p| p.secondary.as_ref()));
        let meta = ChunkMeta {
            mode,
            delta,
            delta_variable: lookbacks.as_ref().map(|coder| coder.variable.clone()),
            primary: match &primary {
                Primary::Latents(coder) => Primary::Latents(coder.variable.clone()),
                Primary::Indices(coder) => Primary::Indices(coder.variable.clone()),
            },
            secondary: secondary.as_ref().map(|coder| coder.variable.clone()),
        };
        Ok(Self { meta, pages, delta: lookbacks, primary, secondary })
    }

    /// A chunk of one page in Classic mode with one bin and no deltas: its size is known beforehand.
    pub(crate) fn plain(latents: Vec<L>) -> Self {
        let n = latents.len();
        let coder = VariableCoder::new(binning::one_for_all(&latents), &[n]);
        let stored = Stored { state: Vec::new(), latents };
        Self {
            meta: ChunkMeta {
                mode: ModePayload::Classic,
                delta: DeltaPayload::None,
                delta_variable: None,
                primary: Primary::Latents(coder.variable.clone()),
                secondary: None,
            },
            pages: vec![PageLatents {
                n,
                delta: None,
                primary: Primary::Latents(stored),
                secondary: None,
            }],
            delta: None,
            primary: Primary::Latents(coder),
            secondary: None,
        }
    }

    /// Pages of the chunk.
    pub(crate) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Appends the metadata.
    pub(crate) fn write_meta(&self, w: &mut BitWriter) {
        self.meta.write(w);
    }

    /// Appends a page.
    pub(crate) fn write_page(&self, index: usize, w: &mut BitWriter) {
        let latents = &self.pages[index];
        let delta =
            self.delta.as_ref().zip(latents.delta.as_ref()).map(|(c, s)| c.encode(index, s));
        let secondary = self
            .secondary
            .as_ref()
            .zip(latents.secondary.as_ref())
            .map(|(c, s)| c.encode(index, s));
        match (&self.primary, &latents.primary) {
            (Primary::Latents(coder), Primary::Latents(stored)) => {
                let primary = coder.encode(index, stored);
                page::write(w, latents.n, delta.as_ref(), &primary, secondary.as_ref());
            }
            (Primary::Indices(coder), Primary::Indices(stored)) => {
                let primary = coder.encode(index, stored);
                page::write(w, latents.n, delta.as_ref(), &primary, secondary.as_ref());
            }
            _ => debug_assert!(false, "pages are made by the same plan"),
        }
    }
}

/// Bins for one variable over all pages, which is ranked already where it is that of one.
fn train<'a, L: Latent, V: Latent>(
    pages: &'a [PageLatents<L>],
    ranked: Option<&Ranked<V>>,
    effort: Effort,
    pick: impl Fn(&'a PageLatents<L>) -> Option<&'a Stored<V>>,
) -> VariableCoder<V> {
    let parts: Vec<&[V]> =
        pages.iter().map(|page| pick(page).map_or(&[][..], |s| &s.latents)).collect();
    train_parts(&parts, ranked, effort)
}

/// The same by what each page stores; called from several places.
#[inline(never)]
fn train_parts<V: Latent>(
    parts: &[&[V]],
    ranked: Option<&Ranked<V>>,
    effort: Effort,
) -> VariableCoder<V> {
    let trained = match parts[..] {
        [all] => binning::train(all, ranked, effort),
        _ => binning::train(&parts.concat(), None, effort),
    };
    let stored: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    VariableCoder::new(trained, &stored)
}
