//! The latents of a page as bits.
//!
//! tANS runs backwards: each variable's codes are made from its last latent to its first, then
//! all variables are written forwards, batch by batch.

use crate::ans::tans;
use crate::bits::writer::BitWriter;
use crate::number::Latent;
use crate::pco::binning::lookup::Lookup;
use crate::pco::encode::split::Stored;
use crate::pco::layout::page_meta::PageVariable;
use crate::pco::layout::variable::Variable;
use crate::pco::layout::{BATCH_N, LANES};

/// A variable's bins with what is needed to code by them.
#[derive(Clone, Debug)]
pub(crate) struct VariableCoder<L> {
    pub(crate) variable: Variable<L>,
    encoder: tans::Encoder,
    lookup: Lookup<L>,
}

/// A variable of a page, coded: ready to be written.
#[derive(Debug)]
pub(crate) struct Coded<L> {
    meta: PageVariable<L>,
    log: u32,
    /// By latent: bits of code, and how many.
    codes: Vec<(u16, u8)>,
    /// By latent: its place in its bin, and how many bits that has.
    offsets: Vec<(L, u8)>,
}

impl<L: Latent> VariableCoder<L> {
    /// For bins that [`binning::train`](crate::pco::binning::train) has made.
    pub(crate) fn new(variable: Variable<L>) -> Self {
        let weights: Vec<u32> = variable.bins.iter().map(|bin| bin.weight).collect();
        let encoder = if weights.is_empty() {
            tans::Encoder::new(0, &[1])
        } else {
            tans::Encoder::new(variable.log, &weights)
        };
        let lookup = Lookup::new(&variable.bins);
        Self { variable, encoder, lookup }
    }

    /// Codes what a page stores of the variable.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "codes have 14 bits, widths are at most 64"
    )]
    pub(crate) fn encode(&self, stored: &Stored<L>) -> Coded<L> {
        let n = stored.latents.len();
        let mut states = [self.encoder.initial_state(); LANES];
        let mut codes = vec![(0u16, 0u8); n];
        let mut offsets = vec![(L::ZERO, 0u8); n];
        let coded = codes.iter_mut().zip(&mut offsets);
        for (t, (&latent, (code, offset))) in stored.latents.iter().zip(coded).enumerate().rev() {
            let symbol = self.lookup.find(latent);
            let bin = &self.variable.bins[symbol];
            *offset = (latent.sub(bin.lower), bin.offset_bits as u8);
            let state = &mut states[t % LANES];
            let (next, bits) = self.encoder.step(*state, symbol);
            *code = ((*state & ((1 << bits) - 1)) as u16, bits as u8);
            *state = next;
        }
        let slots = states.map(|state| self.encoder.slot(state));
        let meta = PageVariable { state: stored.state.clone(), slots };
        Coded { meta, log: self.variable.log, codes, offsets }
    }
}

impl<L: Latent> Coded<L> {
    /// Writes the latents of the batch that starts at number `start`.
    fn write_batch(&self, w: &mut BitWriter, start: usize) {
        let n = self.codes.len();
        let range = start.min(n)..(start + BATCH_N).min(n);
        if self.log > 0 {
            for &(code, bits) in &self.codes[range.clone()] {
                w.write(u64::from(code), u32::from(bits));
            }
        }
        for &(offset, bits) in &self.offsets[range] {
            w.write(offset.to_u64(), u32::from(bits));
        }
    }
}

/// Writes a page of `n` numbers.
pub(crate) fn write<P: Latent, S: Latent>(
    w: &mut BitWriter,
    n: usize,
    delta: Option<&Coded<u32>>,
    primary: &Coded<P>,
    secondary: Option<&Coded<S>>,
) {
    if let Some(coded) = delta {
        coded.meta.write(w, coded.log);
    }
    primary.meta.write(w, primary.log);
    if let Some(coded) = secondary {
        coded.meta.write(w, coded.log);
    }
    w.align();
    for start in (0..n).step_by(BATCH_N) {
        if let Some(coded) = delta {
            coded.write_batch(w, start);
        }
        primary.write_batch(w, start);
        if let Some(coded) = secondary {
            coded.write_batch(w, start);
        }
    }
    w.align();
}
