//! Batches of tANS codes and offsets: four interleaved states walked over a table, then a
//! variable number of offset bits added to each symbol's lower bound.
//!
//! The two steps are separate, as the codes of a batch all come before its offsets: [`walk`] notes
//! which slots are visited, [`unpack`] turns them into latents.

use crate::dispatch::{Present, Simd, Work};
use crate::scalar::tans as scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx512_tans as avx512, avx512_walk, bmi2_tans as bmi2, bmi2_walk};

/// Latents of a batch, at most.
pub const BATCH: usize = 256;
/// States that share the stream.
pub const LANES: usize = 4;
/// log2 of the largest table.
pub const MAX_LOG: u32 = 14;
/// Most bits of an offset.
pub const MAX_OFFSET_BITS: u8 = 64;
/// Bytes that loads may read beyond the last bit in use, and one as the first bit need not be the
/// first of its byte.
const SLACK: usize = 17;
/// The same of vectors.
const WIDE_SLACK: usize = 65;
/// The codes of a batch, or its offsets, touch no more bytes than so many, whatever the table.
pub const WINDOW: usize = (BATCH * MAX_OFFSET_BITS as usize).div_ceil(8) + WIDE_SLACK;
/// An offset of so many bits lies in the eight bytes that begin with the byte of its first bit.
pub(crate) const NARROW: u8 = 57;

mod sealed {
    pub trait Sealed {}
}

/// An unsigned integer of 8 to 64 bits.
pub trait Latent:
    sealed::Sealed + Copy + Default + std::fmt::Debug + Eq + Send + Sync + 'static
{
    /// Bits of the type.
    const WIDTH: u32;
    /// `self` plus the low bits of `offset`, wrapping.
    #[must_use]
    fn plus_low(self, offset: u64) -> Self;
    /// As a 64-bit number.
    fn widen(self) -> u64;
    /// The low bits of `x`.
    fn from_low(x: u64) -> Self;
}

macro_rules! impl_latent {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "low bits")]
        #[allow(clippy::cast_lossless, reason = "one code for all widths")]
        impl Latent for $t {
            const WIDTH: u32 = <$t>::BITS;
            #[inline(always)]
            fn plus_low(self, offset: u64) -> Self {
                self.wrapping_add(offset as $t)
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn from_low(x: u64) -> Self {
                x as $t
            }
        }
    )*};
}
impl_latent!(u8 u16 u32 u64);

/// What is emitted on leaving some slots of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbol<L> {
    /// How many slots have it.
    pub weight: u32,
    /// Bits of the stream that are added to the lower bound, at most [`MAX_OFFSET_BITS`].
    pub offset_bits: u8,
    /// The smallest latent.
    pub lower: L,
}

/// A slot of a table: a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot<L> {
    /// The next slot if all bits read are zero.
    pub base: u16,
    /// Bits of the stream that lead to the next slot, at most [`MAX_LOG`].
    pub bits: u8,
    /// Bits of the stream that are added to the lower bound.
    pub offset_bits: u8,
    /// The smallest latent.
    pub lower: L,
}

/// A slot in eight bytes: bits 0 to 7 say how many bits of the stream lead to the next slot, 8 to
/// 15 how many the offset has, 16 to 31 the next slot if all bits are zero, and 32 to 63 which
/// [`Lowers`] says the lower bound is.
/// Shifts and masks by a register look at its low bits only, so that they take the whole node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node(pub(crate) u64);

#[expect(clippy::cast_possible_truncation, reason = "fields of 8 to 32 bits")]
impl Node {
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.0 as u32 & 0xff
    }
    #[inline(always)]
    pub(crate) fn offset_bits(self) -> u32 {
        self.0 as u32 >> 8 & 0xff
    }
    #[inline(always)]
    pub(crate) fn base(self) -> u32 {
        self.0 as u32 >> 16
    }
    #[inline(always)]
    pub(crate) fn payload(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Lower bounds, by the upper half of a node.
#[derive(Clone, Debug)]
pub(crate) enum Lowers<L> {
    /// It is added to this one, the smallest of all.
    Near(L),
    /// They are too far from each other for that: it says which of these.
    Far(Vec<L>),
}

/// How offsets are best read, by what the slots of a table say of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offsets {
    /// There are none.
    None,
    /// Four at a time: none has more than [`SHORT`] bits, or hardly any.
    Short { all: bool },
    /// Two at a time: none has more than [`MEDIUM`], or hardly any.
    Medium { all: bool },
    /// One at a time.
    Long,
    /// Some have more bits than one load gives.
    Wide,
}

/// Four offsets of so many bits lie in the eight bytes that begin with the byte of the first bit.
pub(crate) const SHORT: u8 = NARROW / 4;
/// Two of so many.
pub(crate) const MEDIUM: u8 = NARROW / 2;

/// A table that is closed in itself: no bits lead from one of its slots to one that it lacks.
#[derive(Clone, Debug)]
pub struct Table<L> {
    pub(crate) nodes: Vec<Node>,
    pub(crate) lowers: Lowers<L>,
    single: Option<(L, u8)>,
    max_bits: u8,
    max_offset_bits: u8,
    offsets: Offsets,
}

/// What a table's symbols say, but for the ways between its slots.
struct Emitted<L> {
    /// By symbol, its part of a node.
    heads: Vec<u64>,
    lowers: Lowers<L>,
    /// Slots that all symbols have.
    weight: u64,
    max_offset_bits: u8,
    offsets: Offsets,
}

impl<L: Latent> Emitted<L> {
    /// `None` where there are no symbols, or one has too many bits.
    fn of(symbols: &[Symbol<L>]) -> Option<Self> {
        let max_offset_bits = symbols.iter().map(|s| s.offset_bits).max()?;
        let weights = |longer_than: Option<u8>| -> u64 {
            let counted = symbols.iter().filter(|s| longer_than.is_none_or(|n| s.offset_bits > n));
            counted.map(|s| u64::from(s.weight)).sum()
        };
        let weight = weights(None);
        if max_offset_bits > MAX_OFFSET_BITS {
            return None;
        }
        let lower = || symbols.iter().map(|s| s.lower.widen());
        let (least, greatest) = (lower().min()?, lower().max()?);
        let is_near = greatest - least <= u32::MAX.into();
        let head = |(i, s): (u64, &Symbol<L>)| {
            let payload = if is_near { s.lower.widen() - least } else { i };
            u64::from(s.offset_bits) << 8 | payload << 32
        };
        // Slots are visited about equally often. Where one in a hundred is longer it pays still to
        // take them for short.
        let hardly_any_above = |most: u8| weights(Some(most)) * 100 <= weight;
        let offsets = match max_offset_bits {
            0 => Offsets::None,
            1..=NARROW if hardly_any_above(SHORT) => {
                Offsets::Short { all: max_offset_bits <= SHORT }
            }
            1..=NARROW if hardly_any_above(MEDIUM) => {
                Offsets::Medium { all: max_offset_bits <= MEDIUM }
            }
            1..=NARROW => Offsets::Long,
            _ => Offsets::Wide,
        };
        let lowers = match is_near {
            true => Lowers::Near(L::from_low(least)),
            false => Lowers::Far(symbols.iter().map(|s| s.lower).collect()),
        };
        let heads = (0..).zip(symbols).map(head).collect();
        Some(Self { heads, lowers, weight, max_offset_bits, offsets })
    }
}

/// What a table took, for another one: memory fresh from the system costs more than a table.
#[derive(Debug, Default)]
pub struct Memory(Vec<Node>);

impl<L: Latent> Table<L> {
    /// The table of `2^log` slots over which Pco spreads the symbols, in `memory`; `None` where
    /// their weights do not sum to as many, one has none, or a count of bits passes its limit.
    pub fn spread(log: u32, symbols: &[Symbol<L>], memory: Memory) -> Option<Self> {
        let emitted = Emitted::of(symbols)?;
        let least = symbols.iter().map(|s| s.weight).min()?;
        if log > MAX_LOG || least == 0 || emitted.weight != 1 << log {
            return None;
        }
        let mut nodes = memory.0;
        spread::make(log, symbols, &emitted.heads, &mut nodes)?;
        // The fewest slots have the most bits.
        let max_bits = u8::try_from(log - least.ilog2()).ok()?;
        let single = match symbols {
            [s] if log == 0 => Some((s.lower, s.offset_bits)),
            _ => None,
        };
        let Emitted { lowers, max_offset_bits, offsets, .. } = emitted;
        Some(Self { nodes, lowers, single, max_bits, max_offset_bits, offsets })
    }

    /// Takes the table's memory away, which then has no slots.
    pub fn take_memory(&mut self) -> Memory {
        Memory(std::mem::take(&mut self.nodes))
    }

    /// Its slots, to look at.
    pub fn slots(&self) -> impl ExactSizeIterator<Item = Slot<L>> {
        #[expect(clippy::cast_possible_truncation, reason = "fields of 8 and 16 bits")]
        self.nodes.iter().map(|node| Slot {
            base: node.base() as u16,
            bits: node.bits() as u8,
            offset_bits: node.offset_bits() as u8,
            lower: match &self.lowers {
                Lowers::Near(least) => least.plus_low(node.payload().into()),
                Lowers::Far(lowers) => lowers[node.payload() as usize],
            },
        })
    }

    /// The one slot's lower bound and offset bits, where there is but one: such a table has no
    /// codes.
    pub fn single(&self) -> Option<(L, u8)> {
        self.single
    }

    /// Bytes that a walk of `n` codes may touch, from that of its first bit on.
    pub fn codes_window(&self, n: usize) -> usize {
        (n * usize::from(self.max_bits)).div_ceil(8) + SLACK
    }

    /// Bytes that unpacking `n` latents may touch, from that of the first bit on.
    pub fn offsets_window(&self, n: usize) -> usize {
        (n * usize::from(self.max_offset_bits)).div_ceil(8) + WIDE_SLACK
    }
}

/// The slots that a walk has visited: a batch's codes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Codes {
    pub(crate) nodes: [Node; BATCH],
    /// Behind the nodes: what a kernel has no registers for.
    pub(crate) beside: [usize; 3],
    n: usize,
    /// Where they point into a table of lower bounds, its length.
    end: usize,
    max_offset_bits: u8,
}

impl Default for Codes {
    fn default() -> Self {
        let nodes = [Node::default(); BATCH];
        Self { nodes, beside: [0; 3], n: 0, end: 0, max_offset_bits: 0 }
    }
}

impl Codes {
    /// Says whose nodes there will be.
    #[inline(always)]
    fn are_of<L: Latent>(&mut self, table: &Table<L>, n: usize) {
        self.n = n;
        self.end = match &table.lowers {
            Lowers::Near(_) => usize::MAX,
            Lowers::Far(lowers) => lowers.len(),
        };
        self.max_offset_bits = table.max_offset_bits;
    }

    /// Drops the codes from the `n`th on; returns how many bits they had.
    pub fn cut_to(&mut self, n: usize) -> usize {
        let bits = |node: &Node| node.bits() as usize;
        let dropped = self.nodes[..self.n].get(n..).map_or(0, |nodes| nodes.iter().map(bits).sum());
        self.n = self.n.min(n);
        dropped
    }

    /// Bits that the offsets of the latents take.
    pub fn offset_bits(&self, present: Present) -> usize {
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
pub struct Walk<'a, L> {
    /// Where the states go.
    pub table: &'a Table<L>,
    /// The states, slots of the table.
    pub states: &'a mut [u32; LANES],
    /// From where.
    pub stream: Stream<'a>,
    /// How many, at most [`BATCH`].
    pub n: usize,
    /// Where to.
    pub codes: &'a mut Codes,
}

impl<L: Latent> Walk<'_, L> {
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
        let Codes { n, end, max_offset_bits, .. } = self.codes;
        assert!(*max_offset_bits <= self.table.max_offset_bits, "other codes");
        if let Lowers::Far(lowers) = &self.table.lowers {
            assert!(*end <= lowers.len(), "other codes");
        }
        assert!(self.dst.len() == *n, "as many latents as codes");
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
    codes.are_of(table, n);
    let visited = &mut codes.nodes[..n];
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; `Walk::check` has found states inside of the table,
            // which is closed, and bytes enough.
            unsafe { bmi2_walk::walk(&table.nodes, table.max_bits, states, stream, visited) }
        }
        _ => scalar::walk(&table.nodes, states, stream, visited),
    }
}

/// Whether [`walk_and_unpack`] does both at once, so that it is faster than one after the other.
#[inline]
pub fn is_fast_at_once(present: Present) -> bool {
    present.simd() == Simd::Avx512
}

/// [`walk`], and [`unpack`] of the codes of another batch or variable; returns the walk's bits. At
/// once, where that is faster.
///
/// # Panics
/// As those two.
#[inline]
pub fn walk_and_unpack<L: Latent>(
    present: Present,
    next: Walk<'_, L>,
    now: Unpack<'_, L>,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if present.simd() == Simd::Avx512
        && next.n == BATCH
        && now.codes.n == BATCH
        && now.table.max_offset_bits <= avx512::MOST
        && let Ok(dst) = <&mut [L; BATCH]>::try_from(&mut *now.dst)
    {
        next.check();
        let Unpack { table, codes, stream, .. } = now;
        Unpack { table, codes, stream, dst }.check();
        let shadow = avx512_walk::Shadow {
            lowers: &table.lowers,
            visited: &codes.nodes,
            stream,
            dst,
            offsets: table.max_offset_bits > 0,
        };
        let Walk { table, states, stream, n, codes } = next;
        codes.are_of(table, n);
        // SAFETY: the set is present; the checks have found all that both steps demand.
        return unsafe {
            avx512_walk::walk(&table.nodes, table.max_bits, states, stream, codes, shadow)
        };
    }
    unpack(present, now);
    walk(present, next)
}

/// Turns a batch of codes into latents; returns how many bits their offsets take.
///
/// # Panics
/// Where `unpack` is not as its fields demand.
#[inline]
pub fn unpack<L: Latent>(present: Present, unpack: Unpack<'_, L>) -> usize {
    unpack.check();
    let Unpack { table, codes, stream, dst } = unpack;
    let visited = &codes.nodes[..codes.n];
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 if table.offsets != Offsets::None && table.max_offset_bits <= avx512::MOST => {
            // SAFETY: the set is present; `Unpack::check` has found all codes inside of the
            // table, as many latents, and bytes enough.
            unsafe { avx512::unpack(&table.lowers, visited, stream, dst) }
        }
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; `Unpack::check` has found all codes inside of the
            // table, as many latents, and bytes enough.
            unsafe { bmi2::unpack(&table.lowers, table.offsets, visited, stream, dst) }
        }
        _ => scalar::unpack(&table.lowers, table.offsets, visited, stream, dst),
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
    stream.check((usize::from(width) * dst.len()).div_ceil(8) + SLACK);
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; bytes are enough.
            unsafe { bmi2::unpack_single(lower, width, stream, dst) }
        }
        _ => scalar::unpack_single(lower, width, stream, dst),
    }
}

mod spread;
#[cfg(test)]
mod tests;
