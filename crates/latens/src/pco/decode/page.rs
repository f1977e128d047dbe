//! A page: its variables' latents joined to numbers, batch after batch.

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Latent, Number};
use crate::pco::decode::table::Table;
use crate::pco::decode::variable::VariableDecoder;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::{ChunkMeta, Primary};
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::{dict, float_mult, float_quant, int_mult};
use std::ops::Range;

/// A chunk's metadata with its tables: what all its pages share.
#[derive(Clone, Debug)]
pub(crate) struct ChunkTables<L> {
    pub(crate) meta: ChunkMeta<L>,
    delta: Option<Table<u32>>,
    primary: Primary<Table<L>, Table<u32>>,
    secondary: Option<Table<L>>,
}

impl<L: Latent> ChunkTables<L> {
    /// Builds the tables for pages of at most `n` numbers, within the limits.
    pub(crate) fn new(meta: ChunkMeta<L>, n: usize, limits: &Limits) -> Result<Self> {
        limits.check_alloc(meta.decode_bytes(n), "the tables and windows of a chunk")?;
        Ok(Self {
            delta: meta.delta_variable.as_ref().map(Table::new),
            primary: match &meta.primary {
                Primary::Latents(variable) => Primary::Latents(Table::new(variable)),
                Primary::Indices(variable) => Primary::Indices(Table::new(variable)),
            },
            secondary: meta.secondary.as_ref().map(Table::new),
            meta,
        })
    }
}

/// Where the decoding of a page stands. Bits are counted from the start of the page.
#[derive(Clone, Debug)]
pub(crate) struct PageState<L> {
    left: usize,
    /// Numbers in `scratch.primary` that are decoded and not yet taken.
    ready: Range<usize>,
    delta: Option<VariableDecoder<u32>>,
    primary: Primary<VariableDecoder<L>, VariableDecoder<u32>>,
    secondary: Option<VariableDecoder<L>>,
    spent: Spent,
    scratch: Box<Scratch<L>>,
}

/// Bits that the batches of a page took, by variable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) delta: u64,
    pub(crate) primary: u64,
    pub(crate) secondary: u64,
}

/// Latents of a batch.
#[derive(Clone, Debug)]
struct Scratch<L> {
    lookbacks: [u32; BATCH_N],
    indices: [u32; BATCH_N],
    primary: [L; BATCH_N],
    secondary: [L; BATCH_N],
}

impl<L: Latent> PageState<L> {
    /// Reads the metadata of a page of `n` numbers.
    pub(crate) fn read(r: &mut BitReader<'_>, tables: &ChunkTables<L>, n: usize) -> Result<Self> {
        let delta_payload = &tables.meta.delta;
        let delta = match &tables.delta {
            Some(table) => Some(VariableDecoder::read(r, table, None)?),
            None => None,
        };
        let primary = match &tables.primary {
            Primary::Latents(table) => {
                Primary::Latents(VariableDecoder::read(r, table, Some(delta_payload))?)
            }
            Primary::Indices(table) => {
                Primary::Indices(VariableDecoder::read(r, table, Some(delta_payload))?)
            }
        };
        let secondary = match &tables.secondary {
            Some(table) => {
                let delta = delta_payload.covers_secondary().then_some(delta_payload);
                Some(VariableDecoder::read(r, table, delta)?)
            }
            None => None,
        };
        r.align("the page metadata")?;
        let scratch = Box::new(Scratch {
            lookbacks: [0; BATCH_N],
            indices: [0; BATCH_N],
            primary: [L::ZERO; BATCH_N],
            secondary: [L::ZERO; BATCH_N],
        });
        Ok(Self {
            left: n,
            ready: 0..0,
            delta,
            primary,
            secondary,
            spent: Spent::default(),
            scratch,
        })
    }

    /// Numbers not yet decoded; those that wait to be taken do not count.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Bits of the batches so far.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// Numbers decoded and not yet taken.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Whether all numbers have been taken.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left == 0 && self.ready.is_empty()
    }

    /// Decodes the next batch into [`PageState::take`]'s reach, which must be empty.
    pub(crate) fn next_batch(
        &mut self,
        tables: &ChunkTables<L>,
        src: &[u8],
        bit: &mut usize,
    ) -> Result<()> {
        debug_assert!(self.ready.is_empty());
        let n = self.left.min(BATCH_N);
        let payload = &tables.meta.delta;
        let Scratch { lookbacks, indices, primary, secondary } = &mut *self.scratch;
        let mut stored = 0;
        let before = *bit;
        if let (Some(decoder), Some(table)) = (&mut self.delta, &tables.delta) {
            stored = n.min(self.left.saturating_sub(payload.state_n()));
            decoder.decode(table, payload, &[], self.left, src, bit, &mut lookbacks[..stored])?;
        }
        let after_delta = *bit;
        let lookbacks = &lookbacks[..stored];
        match (&mut self.primary, &tables.primary) {
            (Primary::Latents(decoder), Primary::Latents(table)) => {
                decoder.decode(
                    table,
                    payload,
                    lookbacks,
                    self.left,
                    src,
                    bit,
                    &mut primary[..n],
                )?;
            }
            (Primary::Indices(decoder), Primary::Indices(table)) => {
                decoder.decode(
                    table,
                    payload,
                    lookbacks,
                    self.left,
                    src,
                    bit,
                    &mut indices[..n],
                )?;
            }
            _ => return Err(Error::invalid("a page decoded with another chunk's tables")),
        }
        let after_primary = *bit;
        if let (Some(decoder), Some(table)) = (&mut self.secondary, &tables.secondary) {
            decoder.decode(table, payload, lookbacks, self.left, src, bit, &mut secondary[..n])?;
        }
        self.spent.delta += (after_delta - before) as u64;
        self.spent.primary += (after_primary - after_delta) as u64;
        self.spent.secondary += (*bit - after_primary) as u64;
        join(&tables.meta.mode, &indices[..n], &mut primary[..n], &secondary[..n])
            .map_err(|what| Error::corrupt(*bit as u64 / 8, what))?;
        self.left -= n;
        self.ready = 0..n;
        Ok(())
    }

    /// Moves decoded numbers to the front of `dst`; how many, 0 when a batch must be decoded first.
    pub(crate) fn take<T: Number<L = L>>(&mut self, dst: &mut [T]) -> usize {
        let n = self.ready.len().min(dst.len());
        let from = self.ready.start;
        for (x, &latent) in dst.iter_mut().zip(&self.scratch.primary[from..from + n]) {
            *x = T::from_latent(latent);
        }
        self.ready.start += n;
        n
    }
}

/// Latents to the numbers' ordered latents, in place of the primary ones.
fn join<L: Latent>(
    mode: &ModePayload<L>,
    indices: &[u32],
    primary: &mut [L],
    secondary: &[L],
) -> std::result::Result<(), String> {
    match mode {
        ModePayload::Classic => Ok(()),
        ModePayload::IntMult { base } => match int_mult::join(primary, secondary, *base) {
            true => Ok(()),
            false => Err(format!("a remainder in the batch that ends here is not below the base {base}")),
        },
        ModePayload::FloatMult { base } => match float_mult::join(primary, secondary, *base) {
            true => Ok(()),
            false => Err("a multiple in the batch that ends here is beyond the floats".to_owned()),
        },
        ModePayload::FloatQuant { q } => match float_quant::join(primary, secondary, *q) {
            true => Ok(()),
            false => Err(format!("a latent in the batch that ends here is too wide for FloatQuant of {q} bits")),
        },
        ModePayload::Dict { values } => dict::join(indices, values, primary).map_err(|index| {
            format!(
                "index {index} in the batch that ends here is outside of the dictionary of {} values",
                values.len()
            )
        }),
    }
}
