use super::*;
use crate::rans::tests::{Case, Decoded, cases, with_group, with_two};
use crate::scalar::rans::finish;
use crate::x86_64::lanes512::tests::Model;

#[test]
fn the_kernels_on_the_model_agree_with_scalar() {
    let mut scaled = 0;
    for case in cases() {
        let scalar = case.decode(crate::dispatch::Simd::Scalar);
        let tables = Tables::new(&case.slots, case.bits).unwrap();
        let levels = matches!(case.classes(), Classes::Levels(_));
        let one = with_group(&case, |group| {
            let mut cursors = [Cursor::new(group)];
            // SAFETY: the model needs no instructions, and looks up what is there.
            unsafe { rows::<Model, 1, false>(tables, &mut cursors, usize::MAX) };
            let [cursor] = cursors;
            assert!(cursor.safe_rows() == 0 || levels, "the vectors did their part");
            scaled += if levels { cursor.written } else { 0 };
            finish(tables, cursor)
        });
        assert_eq!(one, scalar, "{case:?}");
        let two = with_two(&case, &case, |two| {
            let mut cursors = two.map(Cursor::new);
            // SAFETY: as above.
            unsafe { rows::<Model, 2, false>(tables, &mut cursors, usize::MAX) };
            cursors.map(|cursor| finish(tables, cursor))
        });
        assert_eq!(two, [scalar.clone(), scalar.clone()], "{case:?}");
        some::<3>(&case, &scalar);
        some::<4>(&case, &scalar);
    }
    assert!(scaled > 100_000, "levels of few enough classes");
}

/// The case so many times together: some rows of it, then the others.
fn some<const G: usize>(case: &Case, scalar: &Decoded) {
    let tables = Tables::new(&case.slots, case.bits).unwrap();
    let mut outs = [(); G].map(|()| vec![0xee; case.count]);
    let mut groups = outs.each_mut().map(|out| case.group(out));
    let mut cursors = groups.each_mut().map(Cursor::new);
    for most in [0, 1, 11, usize::MAX] {
        let before = cursors.each_ref().map(|cursor| cursor.written);
        // SAFETY: the model needs no instructions, and looks up what is there.
        unsafe { rows::<Model, G, false>(tables, &mut cursors, most) };
        assert!(cursors.iter().zip(before).all(|(c, before)| (c.written - before) / LANES <= most));
    }
    let read = cursors.map(|cursor| finish(tables, cursor));
    let states = groups.map(|group| group.states);
    for ((read, states), out) in read.into_iter().zip(states).zip(outs) {
        assert_eq!((read, out, states), *scalar, "{case:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn slots_by_gathers_and_by_single_loads_agree() {
    use super::real::together_by;
    if !crate::dispatch::Simd::Avx512.is_available() {
        println!("no AVX-512 on this processor: nothing was compared");
        return;
    }
    for case in cases() {
        let tables = Tables::new(&case.slots, case.bits).unwrap();
        let decode = |single: bool| {
            with_two(&case, &case, |two| {
                let mut cursors = two.map(Cursor::new);
                // SAFETY: as just asked; the cases are valid.
                unsafe {
                    if single {
                        together_by::<true>(tables, &mut cursors);
                    } else {
                        together_by::<false>(tables, &mut cursors);
                    }
                }
                cursors.map(|cursor| finish(tables, cursor))
            })
        };
        assert_eq!(decode(true), decode(false), "{case:?}");
    }
}

/// However many there are, and one of them shorter: what is left is not for whoever decodes one alone.
#[cfg(target_arch = "x86_64")]
#[test]
fn nothing_is_left_of_groups_that_end_elsewhere() {
    use super::real::together_by;
    if !crate::dispatch::Simd::Avx512.is_available() {
        println!("no AVX-512 on this processor: nothing was compared");
        return;
    }
    for case in cases().into_iter().filter(|case| !matches!(case.classes(), Classes::Levels(_))) {
        let tables = Tables::new(&case.slots, case.bits).unwrap();
        for (count, shorter) in (1..10).flat_map(|count| (0..count).map(move |at| (count, at))) {
            let mut outs = vec![vec![0; case.count]; count];
            outs[shorter].truncate(case.count / 2);
            let mut groups = Vec::new();
            for out in &mut outs {
                let classes = case.classes().first(out.len());
                groups.push(crate::rans::Group { classes, ..case.group(out) });
            }
            let mut cursors: Vec<_> = groups.iter_mut().map(Cursor::new).collect();
            // SAFETY: as just asked; the cases are valid.
            unsafe { together_by::<true>(tables, &mut cursors) };
            assert!(cursors.iter().all(|c| c.safe_rows() == 0), "{shorter} of {count}: {case:?}");
        }
    }
}
