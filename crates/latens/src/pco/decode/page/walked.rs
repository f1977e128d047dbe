//! The codes of the variable that is read, and those that come behind its offsets.

use crate::error::Result;
use crate::number::Latent;
use crate::pco::decode::batch::{self, Next};
use crate::pco::decode::table::Table;
use crate::pco::layout::LANES;
use latens_kernels::tans::{self, Codes};
use std::mem;

/// Where the reading of a batch stands.
pub(super) struct Walked<'a> {
    pub(super) src: &'a [u8],
    pub(super) bit: &'a mut usize,
    pub(super) codes: &'a mut Codes,
    next: &'a mut Codes,
    /// Bits that `codes` took where they have been read, but for moving past them.
    ahead: Option<usize>,
    swapped: &'a mut bool,
}

impl<'a> Walked<'a> {
    /// `swapped` says which of `all` come first, `ahead` whether they have been read.
    #[inline(always)]
    pub(super) fn new(
        src: &'a [u8],
        bit: &'a mut usize,
        all: &'a mut [Codes; 2],
        swapped: &'a mut bool,
        ahead: Option<usize>,
    ) -> Self {
        let [even, odd] = all;
        let (codes, next) = if *swapped { (odd, even) } else { (even, odd) };
        Self { src, bit, codes, next, ahead, swapped }
    }

    /// Takes from here whether the next codes have been read.
    #[inline(always)]
    pub(super) fn take_ahead(&mut self) -> Option<usize> {
        self.ahead.take()
    }

    /// Reads `n` codes, or moves past those that have been.
    #[inline(always)]
    pub(super) fn walk<L: Latent>(
        &mut self,
        table: &Table<L>,
        slots: &mut [u32; LANES],
        n: usize,
    ) -> Result<()> {
        match self.ahead.take() {
            Some(bits) => *self.bit += bits,
            None => batch::walk(table, slots, self.src, self.bit, self.codes, n)?,
        }
        Ok(())
    }

    /// [`batch::unpack`]; whether the next codes have been read and the latents finished.
    #[inline(always)]
    pub(super) fn unpack<L: Latent>(
        &mut self,
        table: &Table<L>,
        dst: &mut [L],
        next: Option<Next<'_, L>>,
    ) -> Result<bool> {
        let next = next.map(|next| (next, &mut *self.next));
        self.ahead = batch::unpack(table, self.src, self.bit, self.codes, dst, next)?;
        Ok(self.moved_on())
    }

    /// [`batch::unpack_beside`]; whether that has been done.
    #[inline(always)]
    pub(super) fn unpack_beside<L: Latent>(
        &mut self,
        table: &tans::Table<L>,
        end: usize,
        dst: &mut [L],
        next: Next<'_, L>,
    ) -> bool {
        let next = (next, &mut *self.next);
        self.ahead = batch::unpack_beside(table, self.src, self.bit, end, self.codes, dst, next);
        self.moved_on()
    }

    #[inline(always)]
    fn moved_on(&mut self) -> bool {
        let is_ahead = self.ahead.is_some();
        if is_ahead {
            mem::swap(&mut self.codes, &mut self.next);
            *self.swapped ^= true;
        }
        is_ahead
    }
}
