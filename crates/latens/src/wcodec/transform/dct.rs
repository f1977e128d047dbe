//! DCT-II of eight numbers: `X[k] = c(k) · Σ x[n] · cos(π (2n + 1) k / 16)`.
//!
//! Sums and differences of mirrored lanes; the sums are a DCT-II of four, the differences a DCT-IV
//! of four, which is two rotations, two DCT-II of two, and one rotation.

use super::{Plan, Rotation};

/// Angles: π/4 where p is 424, π/8 (204), π/16 (101), 3π/16 (311).
pub(super) static PLAN: Plan = Plan {
    rotations: &[
        Rotation(0, 7, 424, 724),
        Rotation(1, 6, 424, 724),
        Rotation(2, 5, 424, 724),
        Rotation(3, 4, 424, 724),
        Rotation(0, 3, 424, 724),
        Rotation(1, 2, 424, 724),
        Rotation(0, 1, 424, 724),
        Rotation(3, 2, 204, 392),
        Rotation(7, 4, 101, 200),
        Rotation(6, 5, 311, 569),
        Rotation(7, 6, 424, 724),
        Rotation(4, 5, 424, 724),
        Rotation(6, 4, 424, 724),
    ],
    outputs: [
        (0, false),
        (7, true),
        (3, true),
        (6, false),
        (1, true),
        (4, true),
        (2, false),
        (5, true),
    ],
};
