//! What vectors compute with: a number for each of the sums that are begun together.

/// Sums that are begun together.
pub(crate) const BLOCK: usize = 8;

/// A number for each sum of a block, within a line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [i64; BLOCK]);

/// The sums of a block.
pub(crate) trait Sums: Copy {
    /// As they are taken one by one.
    type Singly: Singly;

    /// Whether to take sums as not negative gains anything.
    const HASTE: bool;

    /// # Safety
    /// Callers are compiled for the processor that these are for; so with the others.
    unsafe fn new(biases: &Row) -> Self;

    /// With the products of a latent and its taps, which are numbers of 32 bits.
    #[must_use]
    unsafe fn plus(self, taps: &Row, x: i32) -> Self;

    unsafe fn singly(self) -> Self::Singly;
}

/// The sums of a block of which one after the other is complete.
pub(crate) trait Singly: Sums {
    unsafe fn sum(self, t: usize) -> i64;
}

/// On any processor.
#[derive(Clone, Copy)]
pub(crate) struct Plain([i64; BLOCK]);

impl Sums for Plain {
    type Singly = Self;
    const HASTE: bool = false;

    #[inline(always)]
    unsafe fn new(biases: &Row) -> Self {
        Self(biases.0)
    }

    #[inline(always)]
    unsafe fn plus(mut self, taps: &Row, x: i32) -> Self {
        for (sum, &tap) in self.0.iter_mut().zip(&taps.0) {
            *sum = sum.wrapping_add(tap.wrapping_mul(x.into()));
        }
        self
    }

    #[inline(always)]
    unsafe fn singly(self) -> Self {
        self
    }
}

impl Singly for Plain {
    #[inline(always)]
    unsafe fn sum(self, t: usize) -> i64 {
        self.0[t]
    }
}
