//! The codes of a batch: which slots were visited.

use super::slot::Node;
use super::stream::BATCH;
use super::table::Ways;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
use crate::dispatch::{Present, Work};
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx512_tans as avx512;

/// Nodes between a walk and the sum of their offset bits: they have reached the cache.
pub(crate) const BEFORE: usize = 64;

/// See [`crate::tans::shadow`].
pub(crate) type Beside = [usize; 10];

/// The slots that a walk has visited: a batch's codes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Codes {
    /// No nodes: a kernel that sums up what is so far back begins here.
    pub(crate) before: [Node; BEFORE],
    pub(crate) nodes: [Node; BATCH],
    /// Behind the nodes: what a kernel has no registers for.
    pub(crate) beside: Beside,
    /// Bits that the offsets take, where a kernel has summed them up.
    pub(crate) summed: Option<u32>,
    pub(super) n: usize,
    /// Where they point into a table of lower bounds, its length.
    pub(super) end: u32,
    pub(super) max_offset_bits: u8,
}

impl Default for Codes {
    fn default() -> Self {
        let nodes = [Node::default(); BATCH];
        let before = [Node::default(); BEFORE];
        Self { before, nodes, beside: [0; 10], summed: None, n: 0, end: 0, max_offset_bits: 0 }
    }
}

impl Codes {
    /// Behind the nodes, with all that lies around.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn end(&mut self) -> *mut Beside {
        let all: *mut Self = self;
        // SAFETY: the field that follows the nodes.
        unsafe { &raw mut (*all).beside }
    }

    /// Says whose nodes there will be.
    #[inline(always)]
    pub(super) fn are_of(&mut self, ways: Ways<'_>, n: usize) {
        self.n = n;
        self.summed = None;
        self.end = ways.end;
        self.max_offset_bits = ways.max_offset_bits;
    }

    /// Drops the codes from the `n`th on; returns how many bits they had.
    #[inline]
    pub fn cut_to(&mut self, n: usize) -> usize {
        if n >= self.n {
            return 0;
        }
        let bits = |node: &Node| node.bits() as usize;
        let dropped = self.nodes[..self.n].get(n..).map_or(0, |nodes| nodes.iter().map(bits).sum());
        if n < self.n {
            (self.n, self.summed) = (n, None);
        }
        dropped
    }

    /// Bits that the offsets of the latents take.
    #[inline]
    pub fn offset_bits(&self, present: Present) -> usize {
        match self.summed {
            Some(bits) => bits as usize,
            None => self.sum_up(present),
        }
    }

    fn sum_up(&self, present: Present) -> usize {
        let visited = &self.nodes[..self.n];
        match present.simd() {
            _ if self.max_offset_bits == 0 => 0,
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the set is present.
            Simd::Avx512 => unsafe { avx512::offset_bits(visited) },
            _ => present.run(OffsetBits(visited)),
        }
    }
}

/// A sum over nodes.
struct OffsetBits<'a>(&'a [Node]);

impl Work for OffsetBits<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        // Below 2^15, as there are 256 of 64 at most.
        self.0.iter().map(|node| node.offset_bits()).sum::<u32>() as usize
    }
}
