//! One macro that holds every kernel against its scalar twin, on all instruction sets present.

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
