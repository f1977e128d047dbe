//! ADST of eight numbers, the DST-IV: `X[k] = ½ · Σ x[n] · sin(π (2n + 1)(2k + 1) / 32)`.
//!
//! Four rotations of mirrored lanes, two transforms of four made of sums and differences, and
//! three rotations that join them.

use super::{Plan, Rotation};

/// Angles: π/32 where p is 50, 3π/32 (152), 5π/32 (256), 7π/32 (366), π/4 (424), ±π/8 (204).
pub(super) static PLAN: Plan = Plan {
    rotations: &[
        Rotation(7, 0, 50, 100),
        Rotation(6, 1, 152, 297),
        Rotation(5, 2, 256, 483),
        Rotation(4, 3, 366, 650),
        Rotation(7, 4, 424, 724),
        Rotation(6, 5, 424, 724),
        Rotation(7, 6, 424, 724),
        Rotation(4, 5, 204, 392),
        Rotation(0, 3, 424, 724),
        Rotation(1, 2, 424, 724),
        Rotation(3, 2, 424, 724),
        Rotation(0, 1, -204, -392),
        Rotation(4, 1, 424, 724),
        Rotation(6, 3, 424, 724),
        Rotation(5, 0, 424, 724),
    ],
    outputs: [
        (7, false),
        (4, false),
        (1, false),
        (3, true),
        (6, true),
        (0, false),
        (5, false),
        (2, false),
    ],
};
