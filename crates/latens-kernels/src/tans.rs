//! Batches of tANS codes and offsets: four interleaved states walked over a table, then a
//! variable number of offset bits added to each symbol's lower bound.
//!
//! The two steps are separate, as the codes of a batch all come before its offsets: [`walk`] notes
//! which slots are visited, [`unpack`] turns them into latents.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
use crate::scalar::tans as scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::bmi2_tans as bmi2;

/// Latents of a batch, at most.
pub const BATCH: usize = 256;
/// States that share the stream.
pub const LANES: usize = 4;
/// log2 of the largest table.
pub const MAX_LOG: u32 = 14;
/// Most bits of an offset.
pub const MAX_OFFSET_BITS: u8 = 64;
/// Bytes that loads may read beyond the last bit in use.
const SLACK: usize = 16;
/// The codes of a batch, or its offsets, touch no more bytes than so many, whatever the table.
pub const WINDOW: usize = (7 + BATCH * MAX_OFFSET_BITS as usize) / 8 + SLACK;
/// An offset of so many bits lies in the eight bytes that begin with the byte of its first bit.
pub(crate) const NARROW: u8 = 57;

mod sealed {
    pub trait Sealed {}
}

/// An unsigned integer of 8 to 64 bits.
pub trait Latent:
    sealed::Sealed + Copy + Default + std::fmt::Debug + Eq + Send + Sync + 'static
{
    /// `self` plus the low bits of `offset`, wrapping.
    #[must_use]
    fn plus_low(self, offset: u64) -> Self;
}

macro_rules! impl_latent {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        impl Latent for $t {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "low bits")]
            fn plus_low(self, offset: u64) -> Self {
                self.wrapping_add(offset as $t)
            }
        }
    )*};
}
impl_latent!(u8 u16 u32 u64);

/// A slot of a table: a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot<L> {
    /// The next slot if all bits read are zero.
    pub base: u16,
    /// Bits of the stream that lead to the next slot, at most [`MAX_LOG`].
    pub bits: u8,
    /// Bits of the stream that are added to the lower bound, at most [`MAX_OFFSET_BITS`].
    pub offset_bits: u8,
    /// The smallest latent of the slot's symbol.
    pub lower: L,
}

/// What a walk needs of a slot, in four bytes: bits 0 to 7 say how many bits of the stream lead to
/// the next slot, 8 to 15 how many the offset has, 16 to 31 the next slot if all bits are zero.
/// Shifts and masks by a register look at its low bits only, so that they take the whole node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(pub(crate) u32);

impl Node {
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.0 & 0xff
    }
    #[inline(always)]
    pub(crate) fn offset_bits(self) -> u32 {
        self.0 >> 8 & 0xff
    }
    #[inline(always)]
    pub(crate) fn base(self) -> u32 {
        self.0 >> 16
    }
}

/// A table that is closed in itself: no bits lead from one of its slots to one that it lacks.
#[derive(Clone, Debug)]
pub struct Table<L> {
    pub(crate) nodes: Vec<Node>,
    /// By slot; as many as nodes.
    pub(crate) lowers: Vec<L>,
    max_bits: u8,
    pub(crate) max_offset_bits: u8,
}

impl<L: Latent> Table<L> {
    /// A table of one slot or more, `None` where it is not closed in itself or a count of bits
    /// passes its limit.
    pub fn new(slots: impl Iterator<Item = Slot<L>>) -> Option<Self> {
        let mut table = Self {
            nodes: Vec::with_capacity(slots.size_hint().0),
            lowers: Vec::with_capacity(slots.size_hint().0),
            max_bits: 0,
            max_offset_bits: 0,
        };
        let mut end = 1;
        for Slot { base, bits, offset_bits, lower } in slots {
            if u32::from(bits) > MAX_LOG || offset_bits > MAX_OFFSET_BITS {
                return None;
            }
            end = end.max(usize::from(base) + (1 << bits));
            table.max_bits = table.max_bits.max(bits);
            table.max_offset_bits = table.max_offset_bits.max(offset_bits);
            let node = u32::from(bits) | u32::from(offset_bits) << 8 | u32::from(base) << 16;
            table.nodes.push(Node(node));
            table.lowers.push(lower);
        }
        (end <= table.nodes.len()).then_some(table)
    }

    /// The one slot's lower bound and offset bits, where there is but one: such a table has no
    /// codes.
    pub fn single(&self) -> Option<(L, u8)> {
        match (&*self.nodes, &*self.lowers) {
            ([_], [lower]) => Some((*lower, self.max_offset_bits)),
            _ => None,
        }
    }

    /// Bytes that a walk of `n` codes may touch, from that of its first bit on.
    pub fn codes_window(&self, n: usize) -> usize {
        (7 + n * usize::from(self.max_bits)) / 8 + SLACK
    }

    /// Bytes that unpacking `n` latents may touch, from that of the first bit on.
    pub fn offsets_window(&self, n: usize) -> usize {
        (7 + n * usize::from(self.max_offset_bits)) / 8 + SLACK
    }
}

/// The slots that a walk has visited: a batch's codes.
#[derive(Clone, Debug)]
pub struct Codes {
    pub(crate) slots: [u16; BATCH],
    n: usize,
    /// All slots are below.
    end: usize,
}

impl Default for Codes {
    fn default() -> Self {
        Self { slots: [0; BATCH], n: 0, end: 0 }
    }
}

/// Bits of a stream, from a byte on.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// From the byte of the first bit on, as many as the table's window says or more.
    pub bytes: &'a [u8],
    /// The first bit, below 8.
    pub bit: usize,
}

impl Stream<'_> {
    #[inline(always)]
    fn check(&self, window: usize) {
        assert!(self.bit < 8 && self.bytes.len() >= window, "too few bytes");
    }
}

/// A batch of codes to read.
#[derive(Debug)]
pub struct Walk<'a, W> {
    /// Where the states go.
    pub table: &'a Table<W>,
    /// The states, slots of the table.
    pub states: &'a mut [u32; LANES],
    /// From where.
    pub stream: Stream<'a>,
    /// How many, at most [`BATCH`].
    pub n: usize,
    /// Where to.
    pub codes: &'a mut Codes,
}

impl<W: Latent> Walk<'_, W> {
    /// What the kernels rely on.
    #[inline(always)]
    fn check(&self) {
        let end = self.table.nodes.len();
        assert!(self.n <= BATCH && self.states.iter().all(|&s| (s as usize) < end));
        self.stream.check(self.table.codes_window(self.n));
    }
}

/// A batch of offsets to add.
#[derive(Debug)]
pub struct Unpack<'a, L> {
    /// What the codes stand for.
    pub table: &'a Table<L>,
    /// From a walk over the same table.
    pub codes: &'a Codes,
    /// From where.
    pub stream: Stream<'a>,
    /// Where to, as many as codes.
    pub dst: &'a mut [L],
}

impl<L: Latent> Unpack<'_, L> {
    /// What the kernels rely on.
    #[inline(always)]
    fn check(&self) {
        let Table { nodes, lowers, .. } = self.table;
        assert!(self.codes.end <= nodes.len() && self.codes.end <= lowers.len(), "other codes");
        assert!(self.dst.len() == self.codes.n, "as many latents as codes");
        self.stream.check(self.table.offsets_window(self.codes.n));
    }
}

/// Reads a batch of codes; returns how many bits they take.
///
/// # Panics
/// Where `walk` is not as its fields demand.
#[inline]
pub fn walk<L: Latent>(present: Present, walk: Walk<'_, L>) -> usize {
    walk.check();
    let Walk { table, states, stream, n, codes } = walk;
    codes.n = n;
    codes.end = table.nodes.len();
    let slots = &mut codes.slots[..n];
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; `Walk::check` has found states inside of the table,
            // which is closed, and bytes enough.
            unsafe { bmi2::walk(&table.nodes, states, stream, slots) }
        }
        _ => scalar::walk(&table.nodes, states, stream, slots),
    }
}

/// Turns a batch of codes into latents; returns how many bits their offsets take.
///
/// # Panics
/// Where `unpack` is not as its fields demand.
#[inline]
pub fn unpack<L: Latent>(present: Present, unpack: Unpack<'_, L>) -> usize {
    unpack.check();
    let Unpack { table, codes, stream, dst } = unpack;
    let slots = &codes.slots[..codes.n];
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; `Unpack::check` has found all codes inside of the
            // table, as many latents, and bytes enough.
            unsafe { bmi2::unpack(table, slots, stream, dst) }
        }
        _ => scalar::unpack(table, slots, stream, dst),
    }
}

/// Reads latents of a table of one slot: `width` bits each that are added to `lower`.
///
/// # Panics
/// Where `width` is above [`MAX_OFFSET_BITS`] or the bytes are too few: there must be 16 more than
/// the fields take.
#[inline]
pub fn unpack_single<L: Latent>(
    present: Present,
    lower: L,
    width: u8,
    stream: Stream<'_>,
    dst: &mut [L],
) {
    if width == 0 {
        return dst.fill(lower);
    }
    assert!(width <= MAX_OFFSET_BITS);
    stream.check((7 + usize::from(width) * dst.len()) / 8 + SLACK);
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; bytes are enough.
            unsafe { bmi2::unpack_single(lower, width, stream, dst) }
        }
        _ => scalar::unpack_single(lower, width, stream, dst),
    }
}

#[cfg(test)]
mod tests;
