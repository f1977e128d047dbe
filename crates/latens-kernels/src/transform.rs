//! Reversible transforms of 8 × 8 blocks by lifting: DCT-II and ADST, eight vectors of eight numbers at a time.
//!
//! A transform of eight numbers is a list of rotations of two lanes each, then an order and signs; `specs/wcodec-tiles.md`
//! says what a rotation is. Lists are written out as code, so that lanes stay in registers.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_transform;

/// Rows and columns of a block.
pub const SIDE: usize = 8;

/// A block, row by row.
pub type Block = [i16; SIDE * SIDE];

/// Which transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// DCT-II: `X[k] = c(k) · Σ x[n] · cos(π (2n + 1) k / 16)`.
    Dct,
    /// DST-IV: `X[k] = ½ · Σ x[n] · sin(π (2n + 1)(2k + 1) / 32)`.
    Adst,
}

/// Residuals to coefficients, in place: along columns, then along rows. Sums wrap at 32 bits, and the low 16 are kept.
#[inline]
pub fn forward(present: Present, kind: Kind, block: &mut Block) {
    #[cfg(target_arch = "x86_64")]
    match present.simd() {
        // SAFETY: `present` is what the processor has.
        Simd::Avx512 | Simd::Avx2 => return unsafe { avx2_transform::forward(kind, block) },
        _ => {}
    }
    let _ = present;
    // SAFETY: arrays need no instructions.
    unsafe { forward_of::<[i32; SIDE]>(kind, block) }
}

/// Undoes [`forward`].
#[inline]
pub fn inverse(present: Present, kind: Kind, block: &mut Block) {
    #[cfg(target_arch = "x86_64")]
    match present.simd() {
        // SAFETY: `present` is what the processor has.
        Simd::Avx512 | Simd::Avx2 => return unsafe { avx2_transform::inverse(kind, block) },
        _ => {}
    }
    let _ = present;
    // SAFETY: arrays need no instructions.
    unsafe { inverse_of::<[i32; SIDE]>(kind, block) }
}

/// Eight numbers of 32 bits.
///
/// # Safety
/// All functions need the instructions that the type is made for.
pub(crate) trait Lane: Copy {
    /// The numbers of a row.
    unsafe fn of(row: &[i16; SIDE]) -> Self;
    /// The low 16 bits of each.
    unsafe fn put(self, row: &mut [i16; SIDE]);
    /// `(k · x + 512) >> 10`.
    unsafe fn scaled(self, k: i32) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn minus(self, other: Self) -> Self;
    unsafe fn negated(self) -> Self;
    /// Rows as columns.
    unsafe fn transposed(lanes: [Self; SIDE]) -> [Self; SIDE];
}

impl Lane for [i32; SIDE] {
    #[inline(always)]
    unsafe fn of(row: &[i16; SIDE]) -> Self {
        row.map(i32::from)
    }

    #[inline(always)]
    unsafe fn put(self, row: &mut [i16; SIDE]) {
        #[expect(clippy::cast_possible_truncation, reason = "low bits are what is wanted")]
        let low = self.map(|x| x as i16);
        *row = low;
    }

    #[inline(always)]
    unsafe fn scaled(self, k: i32) -> Self {
        self.map(|x| k.wrapping_mul(x).wrapping_add(512) >> 10)
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i].wrapping_add(other[i]))
    }

    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i].wrapping_sub(other[i]))
    }

    #[inline(always)]
    unsafe fn negated(self) -> Self {
        self.map(i32::wrapping_neg)
    }

    #[inline(always)]
    unsafe fn transposed(lanes: [Self; SIDE]) -> [Self; SIDE] {
        std::array::from_fn(|i| std::array::from_fn(|j| lanes[j][i]))
    }
}

/// Rotates lanes `a` and `b`.
///
/// # Safety
/// As for [`Lane`].
#[inline(always)]
unsafe fn turn<L: Lane>(x: &mut [L; SIDE], a: usize, b: usize, p: i32, u: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        x[a] = x[a].plus(x[b].scaled(p));
        x[b] = x[b].minus(x[a].scaled(u));
        x[a] = x[a].plus(x[b].scaled(p));
    }
}

/// Undoes [`turn`].
///
/// # Safety
/// As for [`Lane`].
#[inline(always)]
unsafe fn turn_back<L: Lane>(x: &mut [L; SIDE], a: usize, b: usize, p: i32, u: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        x[a] = x[a].minus(x[b].scaled(p));
        x[b] = x[b].plus(x[a].scaled(u));
        x[a] = x[a].minus(x[b].scaled(p));
    }
}

/// # Safety
/// As for [`Lane`].
#[inline(always)]
unsafe fn signed<L: Lane>(lane: L, minus: bool) -> L {
    // SAFETY: the caller's promise.
    if minus { unsafe { lane.negated() } } else { lane }
}

/// Rotations in reverse, each undone.
macro_rules! turn_all_back {
    ($x:ident; [] $(($a:literal, $b:literal, $p:literal, $u:literal))*) => {
        $(turn_back(&mut $x, $a, $b, $p, $u);)*
    };
    ($x:ident; [$first:tt $($rest:tt)*] $($done:tt)*) => {
        turn_all_back!($x; [$($rest)*] $first $($done)*)
    };
}

/// A transform of eight numbers and what undoes it: rotations of lanes a and b by the two constants, then of each
/// coefficient the lane that it ends in, and whether its sign is changed.
macro_rules! transform {
    (
        $there:ident, $back:ident:
        [$(($a:literal, $b:literal, $p:literal, $u:literal)),* $(,)?],
        [$(($to:literal, $lane:literal, $minus:literal)),* $(,)?]
    ) => {
        /// # Safety
        /// As for [`Lane`].
        #[inline(always)]
        unsafe fn $there<L: Lane>(mut x: [L; SIDE]) -> [L; SIDE] {
            // SAFETY: the caller's promise.
            unsafe {
                $(turn(&mut x, $a, $b, $p, $u);)*
                [$(signed(x[$lane], $minus)),*]
            }
        }

        /// # Safety
        /// As for [`Lane`].
        #[inline(always)]
        unsafe fn $back<L: Lane>(from: [L; SIDE]) -> [L; SIDE] {
            let mut x = from;
            // SAFETY: the caller's promise.
            unsafe {
                $(x[$lane] = signed(from[$to], $minus);)*
                turn_all_back!(x; [$(($a, $b, $p, $u))*]);
            }
            x
        }
    };
}

// Sums and differences of mirrored lanes; the sums are a DCT-II of four, the differences a DCT-IV of four, which is
// two rotations, two DCT-II of two, and one rotation. Angles: π/4 where p is 424, π/8 (204), π/16 (101), 3π/16 (311).
transform!(
    dct, dct_back:
    [
        (0, 7, 424, 724),
        (1, 6, 424, 724),
        (2, 5, 424, 724),
        (3, 4, 424, 724),
        (0, 3, 424, 724),
        (1, 2, 424, 724),
        (0, 1, 424, 724),
        (3, 2, 204, 392),
        (7, 4, 101, 200),
        (6, 5, 311, 569),
        (7, 6, 424, 724),
        (4, 5, 424, 724),
        (6, 4, 424, 724),
    ],
    [
        (0, 0, false),
        (1, 7, true),
        (2, 3, true),
        (3, 6, false),
        (4, 1, true),
        (5, 4, true),
        (6, 2, false),
        (7, 5, true),
    ]
);

// Four rotations of mirrored lanes, two transforms of four made of sums and differences, and three rotations that join
// them. Angles: π/32 where p is 50, 3π/32 (152), 5π/32 (256), 7π/32 (366), π/4 (424), ±π/8 (204).
transform!(
    adst, adst_back:
    [
        (7, 0, 50, 100),
        (6, 1, 152, 297),
        (5, 2, 256, 483),
        (4, 3, 366, 650),
        (7, 4, 424, 724),
        (6, 5, 424, 724),
        (7, 6, 424, 724),
        (4, 5, 204, 392),
        (0, 3, 424, 724),
        (1, 2, 424, 724),
        (3, 2, 424, 724),
        (0, 1, -204, -392),
        (4, 1, 424, 724),
        (6, 3, 424, 724),
        (5, 0, 424, 724),
    ],
    [
        (0, 7, false),
        (1, 4, false),
        (2, 1, false),
        (3, 3, true),
        (4, 6, true),
        (5, 0, false),
        (6, 5, false),
        (7, 2, false),
    ]
);

/// # Safety
/// As for [`Lane`].
#[inline(always)]
unsafe fn load<L: Lane>(block: &Block) -> [L; SIDE] {
    let rows = block.as_chunks::<SIDE>().0;
    // SAFETY: the caller's promise.
    std::array::from_fn(|i| unsafe { L::of(&rows[i]) })
}

/// # Safety
/// As for [`Lane`].
#[inline(always)]
unsafe fn store<L: Lane>(lanes: [L; SIDE], block: &mut Block) {
    for (row, lane) in block.as_chunks_mut::<SIDE>().0.iter_mut().zip(lanes) {
        // SAFETY: the caller's promise.
        unsafe { lane.put(row) };
    }
}

/// # Safety
/// As for [`Lane`].
#[inline(always)]
pub(crate) unsafe fn forward_of<L: Lane>(kind: Kind, block: &mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        let rows = load::<L>(block);
        let coefficients = match kind {
            Kind::Dct => L::transposed(dct(L::transposed(dct(rows)))),
            Kind::Adst => L::transposed(adst(L::transposed(adst(rows)))),
        };
        store(coefficients, block);
    }
}

/// # Safety
/// As for [`Lane`].
#[inline(always)]
pub(crate) unsafe fn inverse_of<L: Lane>(kind: Kind, block: &mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        let columns = L::transposed(load::<L>(block));
        let residuals = match kind {
            Kind::Dct => dct_back(L::transposed(dct_back(columns))),
            Kind::Adst => adst_back(L::transposed(adst_back(columns))),
        };
        store(residuals, block);
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    /// Blocks of small numbers, of the largest there are, and of bits as they come.
    fn blocks() -> Vec<Block> {
        let mut next = noise(5);
        let mut all = vec![[0; 64], [i16::MIN; 64], [i16::MAX; 64]];
        for round in 0..300 {
            all.push(std::array::from_fn(|_| match round % 3 {
                0 => (next() % 511) as i16 - 255,
                1 if next().is_multiple_of(2) => i16::MIN,
                1 => i16::MAX,
                _ => next() as i16,
            }));
        }
        all
    }

    twin_test!(all_kernels_transform_alike, blocks(), |simd, block| {
        let present = Present::new(simd);
        let of = |kind: Kind| {
            let (mut there, mut back) = (*block, *block);
            forward(present, kind, &mut there);
            inverse(present, kind, &mut back);
            (there, back)
        };
        [of(Kind::Dct), of(Kind::Adst)]
    });

    #[test]
    fn what_was_transformed_comes_back() {
        for mut block in blocks().into_iter().filter(|b| b.iter().all(|x| x.unsigned_abs() < 2048))
        {
            let before = block;
            for kind in [Kind::Dct, Kind::Adst] {
                forward(Present::in_use(), kind, &mut block);
                inverse(Present::in_use(), kind, &mut block);
                assert_eq!(block, before, "{kind:?}");
            }
        }
    }
}
