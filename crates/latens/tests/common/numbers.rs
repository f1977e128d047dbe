//! Numbers of many shapes, the same in every run.

use latens::{Latent, Number, NumberKind, NumberType, f16};

/// A small generator of pseudo-random numbers (splitmix64), the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `end` − 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// The number of type `T` nearest to `x`, integers modulo their width.
pub fn number<T: Number>(x: f64) -> T {
    let bits = match T::TYPE {
        NumberType::F16 => u64::from(f16::from_f64(x).to_bits()),
        NumberType::F32 => u64::from((x as f32).to_bits()),
        NumberType::F64 => x.to_bits(),
        _ => (x as i128) as u64,
    };
    T::from_bits(T::L::truncate(bits))
}

/// The shapes of [`make`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All bits random: nothing to compress.
    Random,
    /// All the same.
    Constant,
    /// Small magnitudes of both signs.
    Small,
    /// A random walk that runs over both ends of the type.
    Walk,
    /// Whole multiples of a step, some of them off.
    Multiples,
    /// A period of 37 with a slow drift.
    Periodic,
    /// Nine distinct values, far apart.
    Few,
    /// Zeros, extremes and, of floats, infinities, subnormals, NaNs quiet and signalling.
    Special,
    /// A sine with noise.
    Smooth,
    /// Squares: differences of differences are constant.
    Squares,
}

impl Shape {
    pub const ALL: [Shape; 10] = [
        Shape::Random,
        Shape::Constant,
        Shape::Small,
        Shape::Walk,
        Shape::Multiples,
        Shape::Periodic,
        Shape::Few,
        Shape::Special,
        Shape::Smooth,
        Shape::Squares,
    ];
}

/// Bits of the numbers that break things.
pub fn special_bits(ty: NumberType) -> Vec<u64> {
    let k = ty.bits();
    let ones = u64::MAX >> (64 - k);
    let top = 1u64 << (k - 1);
    let mut bits = vec![0, 1, 2, ones, ones - 1, top, top - 1, top + 1, top | 1, ones ^ top];
    if ty.kind() == NumberKind::Float {
        let m = ty.mantissa_bits();
        let infinity = (ones ^ top) >> m << m;
        let quiet = 1u64 << (m - 1);
        let one = match ty {
            NumberType::F16 => 0x3c00,
            NumberType::F32 => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        };
        for sign in [0, top] {
            bits.extend(
                [
                    0,                        // zero
                    1,                        // smallest subnormal
                    (1 << m) - 1,             // largest subnormal
                    1 << m,                   // smallest normal
                    infinity - 1,             // largest finite
                    infinity,                 // infinity
                    infinity | quiet,         // quiet NaN
                    infinity | quiet | 0x123, // quiet NaN with a payload
                    infinity | 1,             // signalling NaN
                    infinity | (quiet - 1),   // signalling NaN, all payload
                    ones ^ top,               // quiet NaN, all payload
                    one,
                    one + 1,
                    one - 1,
                ]
                .map(|b| b | sign),
            );
        }
    }
    bits
}

/// `n` numbers of a shape.
pub fn make<T: Number>(shape: Shape, n: usize, seed: u64) -> Vec<T> {
    let mut random = Random(seed ^ (shape as u64) << 32 ^ u64::from(T::TYPE.pco_byte()) << 48);
    let from_bits = |bits: u64| T::from_bits(T::L::truncate(bits));
    let specials = special_bits(T::TYPE);
    let few: Vec<u64> = (0..9).map(|_| random.word()).collect();
    let float = T::TYPE.kind() == NumberKind::Float;
    let mut walk = 0u64.wrapping_sub(random.word() % 1000);
    let steps = 1u64 << (T::TYPE.bits() / 2);
    (0..n)
        .map(|i| match shape {
            Shape::Random => from_bits(random.word()),
            Shape::Constant => number(7.0),
            Shape::Small => number(random.below(40) as f64 - 20.0),
            Shape::Walk => {
                walk = walk.wrapping_add(random.word() % steps).wrapping_sub(steps / 4);
                from_bits(walk)
            }
            Shape::Multiples => {
                let off = if random.below(20) == 0 { random.below(5) as f64 } else { 0.0 };
                let whole = random.below(60_000) as f64;
                if float {
                    number::<T>(whole * 0.01 + off * 1e-9)
                } else if T::TYPE.bits() == 8 {
                    number(random.below(36) as f64 * 7.0 + off)
                } else {
                    number(whole * 1000.0 + off)
                }
            }
            Shape::Periodic => {
                let phase = (i % 37) as u64;
                from_bits(phase.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add((i / 370) as u64))
            }
            Shape::Few => from_bits(few[random.below(9)]),
            Shape::Special => from_bits(*random.pick(&specials)),
            Shape::Smooth => {
                let x = (i as f64 * 0.05).sin() * 100.0 + 100.0;
                number(x + random.below(8) as f64 * 0.25)
            }
            Shape::Squares => number((i as f64) * (i as f64) * 0.5),
        })
        .collect()
}
