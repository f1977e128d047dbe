//! Blocks as they come: what their minimum and widths say, and what is wrong with them.

use latens_kernels::delta::MAX_WIDTH;
use latens_kernels::lane::Lane;

use crate::bits::{varint, zigzag};
use crate::delta_binary_packed::layout::Layout;
use crate::error::{Error, Result};

/// The block that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a, L> {
    pub(super) min_delta: L,
    /// Of the miniblocks not behind us, the current one first, as far as they are sound.
    pub(super) widths: &'a [u8],
    /// Body of the current miniblock and all after it.
    pub(super) bytes: &'a [u8],
    /// Values of the current miniblock behind us.
    pub(super) inside: usize,
    /// Values to come from sound miniblocks.
    pub(super) left: usize,
    pub(super) defect: Option<Defect>,
}

/// What is wrong with a miniblock. An [`Error`] is made of it each time it is reported.
#[derive(Clone, Copy, Debug)]
pub(super) enum Defect {
    Width { at: usize, width: u8, most: u8 },
    Body { miniblock: usize, need: usize, have: usize, end: usize },
}

impl Defect {
    #[cold]
    pub(super) fn error(self) -> Error {
        match self {
            Defect::Width { at, width, most } => Error::corrupt(
                at as u64,
                format!("a miniblock of {width} bits a value; at most {most} are allowed"),
            ),
            Defect::Body { miniblock, need, have, end } => Error::truncated(
                end as u64,
                format!("the body of miniblock {miniblock} takes {need} bytes, {have} are left"),
            ),
        }
    }
}

impl<'a, L: Lane> Block<'a, L> {
    /// None yet.
    #[inline]
    pub(super) fn none() -> Self {
        Self { min_delta: L::default(), widths: &[], bytes: &[], inside: 0, left: 0, defect: None }
    }

    /// Reads the minimum and the widths of the block at `start`, where `remaining` values are still
    /// to come; also returns where the block ends.
    #[inline]
    pub(super) fn read(
        bytes: &'a [u8],
        start: usize,
        layout: Layout,
        remaining: u64,
        strict: bool,
    ) -> Result<(Self, usize)> {
        let mut at = start;
        let min_delta = zigzag::decode(varint::read(bytes, &mut at, "a minimum delta")?);
        if strict && !fits::<L>(min_delta) {
            return Err(Error::corrupt(
                start as u64,
                format!("a minimum delta of {min_delta} in 32-bit numbers"),
            ));
        }
        let (miniblocks, step) = (layout.miniblocks(), layout.values_per_miniblock());
        let rest = bytes.get(at..).unwrap_or_default();
        let Some((widths, bodies)) = rest.split_at_checked(miniblocks) else {
            return Err(Error::truncated(
                bytes.len() as u64,
                format!("{miniblocks} bytes of widths are due, {} are left", rest.len()),
            ));
        };
        let in_block = usize::try_from(remaining).unwrap_or(usize::MAX);
        let in_block = in_block.min(layout.block_size());
        let whole = in_block == layout.block_size();
        let widths = if whole { widths } else { &widths[..in_block.div_ceil(step)] };
        let most = if strict { L::BITS.to_le_bytes()[0] } else { MAX_WIDTH };

        // One pass over sound widths; the search for what is wrong comes after.
        let bits: usize = widths.iter().map(|&w| usize::from(w)).sum();
        let widest = widths.iter().copied().max().unwrap_or(0);
        let mut end = bits.checked_mul(step / 8).filter(|&size| size <= bodies.len());
        let (mut sound, mut left, mut defect) = (widths, in_block, None);
        if widest > most || end.is_none() {
            let mut size = 0usize;
            for (i, &width) in widths.iter().enumerate() {
                let have = bodies.len() - size;
                let need = (step / 8).saturating_mul(width.into());
                let last = i + 1 == widths.len() && in_block as u64 == remaining;
                if width > most {
                    defect = Some(Defect::Width { at: at + i, width, most });
                } else if need <= have {
                    size += need;
                    continue;
                } else if last && !strict {
                    let values = in_block - i * step;
                    let bits = values % 8 * usize::from(width);
                    let least = (values / 8).saturating_mul(width.into());
                    if least.saturating_add(bits.div_ceil(8)) <= have {
                        size += have;
                        continue;
                    }
                }
                let end = bytes.len();
                defect = defect.or(Some(Defect::Body { miniblock: i, need, have, end }));
                sound = &widths[..i];
                left = i * step;
                break;
            }
            end = Some(size);
        }
        let end = at + miniblocks + end.unwrap_or(0);
        let min_delta = L::truncate(min_delta.cast_unsigned());
        Ok((Self { min_delta, widths: sound, bytes: bodies, inside: 0, left, defect }, end))
    }

    /// Moves on by whole miniblocks, to the first value of the one after them.
    #[inline]
    pub(super) fn pass_miniblocks(&mut self, count: usize, step: usize) {
        let (passed, widths) = self.widths.split_at(count.min(self.widths.len()));
        let bits: usize = passed.iter().map(|&w| usize::from(w)).sum();
        self.widths = widths;
        self.bytes = self.bytes.get((step / 8).saturating_mul(bits)..).unwrap_or_default();
        self.inside = 0;
    }
}

/// Whether a number of the stream is one that a strict writer may write for numbers of so many bits.
#[inline]
pub(super) fn fits<L: Lane>(value: i64) -> bool {
    L::BITS == 64 || i32::try_from(value).is_ok()
}
