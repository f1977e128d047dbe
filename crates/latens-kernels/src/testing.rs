//! One macro that holds every kernel against its scalar twin, on all instruction sets present, and
//! the numbers that tests take.

/// Defines a test that computes `$body` once with [`Simd::Scalar`](crate::dispatch::Simd::Scalar)
/// and once with every other instruction set of this processor, for every case of `$cases`, and
/// asserts that the results are the same.
///
/// ```
/// latens_kernels::twin_test!(sums_agree, [vec![1u32, 2], vec![]], |simd, case| {
///     let _ = simd;
///     case.iter().sum::<u32>()
/// });
/// ```
#[macro_export]
macro_rules! twin_test {
    ($(#[$meta:meta])* $name:ident, $cases:expr, |$simd:ident, $case:ident| $body:expr) => {
        $(#[$meta])*
        #[test]
        fn $name() {
            use $crate::dispatch::Simd;
            let sets = Simd::available();
            println!("instruction sets: {:?}", sets.iter().map(|s| s.name()).collect::<Vec<_>>());
            for (number, case) in ($cases).into_iter().enumerate() {
                let $case = &case;
                let run = |$simd: Simd| $body;
                let scalar = run(Simd::Scalar);
                for set in &sets[1..] {
                    assert!(run(*set) == scalar, "{} differs, case {number}: {case:?}", set.name());
                }
            }
        }
    };
}

/// Numbers that look random, the same on every run.
#[cfg(test)]
pub(crate) fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
