//! Batches of tANS codes and offsets: four interleaved states walked over a table, then a
//! variable number of offset bits added to each symbol's lower bound.
//!
//! The two steps are separate, as the codes of a batch all come before its offsets: [`walk`] notes
//! which slots are visited, [`unpack`] turns them into latents.

mod both;
pub(crate) mod codes;
mod encode;
mod finish;
mod multiples;
pub(crate) mod offsets;
pub(crate) mod pages;
mod pairs;
mod quiet;
mod room;
mod row;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod shadow;
pub(crate) mod slot;
mod spread;
pub(crate) mod stream;
mod table;

#[cfg(target_arch = "aarch64")]
use crate::aarch64::{neon_latents, neon_walk};
use crate::dispatch::{Present, Simd};
use crate::scalar::tans as scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_walk, avx512_tans as avx512, avx512_walk, bmi2_tans as bmi2, bmi2_walk};
#[cfg(target_arch = "x86_64")]
use offsets::Offsets;
use slot::Lowers;
use stream::SLACK;

pub use crate::latent::Latent;
pub use both::Both;
pub use codes::Codes;
pub use encode::Encoder;
pub use finish::{Finish, Map};
pub use multiples::Multiples;
pub use pages::{PAGES, PageCodes, PagePlace, PageTable};
pub use pairs::{Pairs, PairsDone, Side};
pub use room::Room;
pub use row::{Done, Row};
pub use slot::{MAX_LOG, MAX_OFFSET_BITS, Slot, Symbol};
pub use stream::{BATCH, LANES, Stream, WIDE_SLACK, WINDOW};
pub use table::{Memory, Table, Ways};

/// A batch of codes to read.
#[derive(Debug)]
pub struct Walk<'a> {
    /// Where the states go.
    pub ways: Ways<'a>,
    /// The states, slots of the table.
    pub states: &'a mut [u32; LANES],
    /// From where.
    pub stream: Stream<'a>,
    /// How many, at most [`BATCH`].
    pub n: usize,
    /// Where to.
    pub codes: &'a mut Codes,
}

impl Walk<'_> {
    /// What the kernels rely on.
    #[inline(always)]
    fn check(&self) {
        let end = self.ways.nodes.len();
        assert!(self.n <= BATCH && self.states.iter().all(|&s| (s as usize) < end));
        self.stream.check(self.ways.codes_window(self.n));
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
            assert!(*end as usize <= lowers.len(), "other codes");
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
pub fn walk(present: Present, walk: Walk<'_>) -> usize {
    walk.check();
    let Walk { ways, states, stream, n, codes } = walk;
    codes.are_of(ways, n);
    let visited = &mut codes.nodes[..n];
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 | Simd::Avx512 => {
            // SAFETY: the set is present; `Walk::check` has found states inside of the table,
            // which is closed, and bytes enough.
            unsafe { bmi2_walk::walk(ways.nodes, ways.max_bits, states, &stream, visited) }
        }
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => {
            // SAFETY: likewise.
            let (bits, summed) = unsafe {
                neon_walk::walk(ways.nodes, ways.max_offset_bits, states, stream, visited)
            };
            codes.summed = summed;
            bits
        }
        _ => scalar::walk(ways.nodes, states, stream, visited),
    }
}

/// Most bits of an offset that is unpacked beside a walk, where that is faster than one after the other.
#[inline]
fn most_at_once(present: Present) -> Option<u8> {
    match present.simd() {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => Some(avx512::MOST),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => Some(avx2_walk::MOST),
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => Some(neon_latents::MOST),
        _ => None,
    }
}

impl<L: Latent> Table<L> {
    /// Whether [`walk_and_unpack`] does both at once for latents of this table, so that it is faster
    /// than one after the other.
    #[inline]
    pub fn is_fast_at_once(&self, present: Present) -> bool {
        most_at_once(present).is_some_and(|most| self.max_offset_bits <= most)
    }
}

/// [`walk`], and [`unpack`] of the codes of another batch or variable with what follows; returns the
/// walk's bits. At once, where that is faster.
///
/// # Panics
/// As those two.
#[inline]
pub fn walk_and_unpack<L: Latent>(
    present: Present,
    next: Walk<'_>,
    now: Unpack<'_, L>,
    finish: Finish<'_, L>,
) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if now.table.is_fast_at_once(present)
        && next.n == BATCH
        && now.codes.n == BATCH
        && let Ok(dst) = <&mut [L; BATCH]>::try_from(&mut *now.dst)
    {
        next.check();
        let Unpack { table, codes, stream, .. } = now;
        Unpack { table, codes, stream, dst }.check();
        let is_all = finish.is_done_beside(present);
        let later = finish.moments.len() - finish.sums_at_once(present);
        let (later, moments) = finish.moments.split_at_mut(later);
        let shadow = shadow::Shadow {
            lowers: &table.lowers,
            #[cfg(target_arch = "aarch64")]
            visited: codes,
            stream,
            dst,
            max_offset_bits: table.max_offset_bits,
            moments,
            #[cfg(target_arch = "x86_64")]
            multiples: finish.multiples.filter(|_| is_all),
            map: if is_all { finish.map } else { Map::NONE },
        };
        // By reference: for a copy larger pieces are read than were just stored, and these waited for.
        #[cfg(target_arch = "x86_64")]
        let visited = codes;
        #[cfg(target_arch = "x86_64")]
        let Walk { ways, states, ref stream, n, codes } = next;
        #[cfg(target_arch = "aarch64")]
        let Walk { ways, states, stream, n, codes } = next;
        let nodes = ways.nodes;
        codes.are_of(ways, n);
        // SAFETY: the set is present; the checks have found all that both steps demand.
        let bits = unsafe {
            match present.simd() {
                #[cfg(target_arch = "x86_64")]
                Simd::Avx512 => {
                    let (most, all) = (ways.max_bits, ways.max_offset_bits);
                    let bits =
                        avx512_walk::walk(nodes, most, states, stream, codes, visited, shadow);
                    // It sums up no more than that.
                    codes.summed = codes.summed.filter(|_| all <= avx512::MOST);
                    bits
                }
                #[cfg(target_arch = "x86_64")]
                _ => avx2_walk::walk(nodes, ways.max_bits, states, stream, codes, visited, shadow),
                #[cfg(target_arch = "aarch64")]
                _ => {
                    let most = ways.max_offset_bits;
                    neon_latents::walk(nodes, most, states, stream, codes, shadow)
                }
            }
        };
        if !is_all {
            Finish { moments: later, ..finish }.run(present, now.dst);
        }
        return bits;
    }
    let Unpack { table, codes, stream, dst } = now;
    unpack(present, Unpack { table, codes, stream, dst });
    finish.run(present, dst);
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
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => {
            let offsets = (table.offsets, table.max_offset_bits);
            // SAFETY: likewise.
            unsafe { neon_latents::unpack(&table.lowers, offsets, visited, stream, dst) }
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
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => {
            // SAFETY: likewise.
            unsafe { neon_latents::unpack_single(lower, width, stream, dst) }
        }
        _ => scalar::unpack_single(lower, width, stream, dst),
    }
}

#[cfg(test)]
mod tests;
