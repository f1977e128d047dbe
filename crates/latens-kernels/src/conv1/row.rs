//! What vectors compute with: a number for each of the sums that are begun together.

/// Sums that are begun together.
pub(crate) const BLOCK: usize = 8;
/// Those of them that are gone on with together.
pub(crate) const HALF: usize = BLOCK / 2;

/// A number for each sum of a block, within a line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [i64; BLOCK]);

/// A number for each sum of half a block.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(crate) struct HalfRow(pub(crate) [i64; HALF]);

/// The sums of a block.
pub(crate) trait Sums: Copy {
    /// Those of its second half.
    type Late: Copy;

    /// # Safety
    /// Callers are compiled for the processor that these are for; so with the others.
    unsafe fn new(biases: &Row) -> Self;

    /// With the products of a latent and its taps, which are numbers of 32 bits.
    #[must_use]
    unsafe fn plus(self, taps: &Row, x: i32) -> Self;

    /// The first half one by one, and the second.
    unsafe fn halves(self) -> ([i64; HALF], Self::Late);

    /// The second half with products of more latents, one by one.
    unsafe fn late(late: Self::Late, taps: &[HalfRow; HALF], since: &[i32; HALF]) -> [i64; HALF];
}

/// On any processor.
#[derive(Clone, Copy)]
pub(crate) struct Plain([i64; BLOCK]);

impl Sums for Plain {
    type Late = [i64; HALF];

    #[inline(always)]
    unsafe fn new(biases: &Row) -> Self {
        Self(biases.0)
    }

    #[inline(always)]
    unsafe fn plus(mut self, taps: &Row, x: i32) -> Self {
        add_products(&mut self.0, &taps.0, x);
        self
    }

    #[inline(always)]
    unsafe fn halves(self) -> ([i64; HALF], [i64; HALF]) {
        (std::array::from_fn(|i| self.0[i]), std::array::from_fn(|i| self.0[HALF + i]))
    }

    #[inline(always)]
    unsafe fn late(
        mut late: [i64; HALF],
        taps: &[HalfRow; HALF],
        since: &[i32; HALF],
    ) -> [i64; HALF] {
        for (taps, &x) in taps.iter().zip(since) {
            add_products(&mut late, &taps.0, x);
        }
        late
    }
}

#[inline(always)]
fn add_products(sums: &mut [i64], taps: &[i64], x: i32) {
    for (sum, &tap) in sums.iter_mut().zip(taps) {
        *sum = sum.wrapping_add(tap.wrapping_mul(x.into()));
    }
}
