//! Order, errors and panics.

use super::*;
use crate::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn results_are_taken_in_order() {
    for threads in [0, 1, 2, 3, 100] {
        let mut taken = Vec::new();
        let take = |i| {
            taken.push(i);
            Ok(())
        };
        in_order(500, threads, || (), |(), i| Ok(i), take).unwrap();
        assert_eq!(taken, (0..500).collect::<Vec<_>>());
    }
}

#[test]
fn the_first_error_ends_it() {
    for threads in [1, 2, 5] {
        let mut taken = 0;
        let bad = |i: usize| if i % 7 == 6 { Err(Error::invalid(i.to_string())) } else { Ok(i) };
        let take = |_| {
            taken += 1;
            Ok(())
        };
        let error = in_order(50, threads, || (), |(), i| bad(i), take).unwrap_err();
        assert!(error.to_string().contains('6'), "{error}");
        assert_eq!(taken, 6);
        let full = in_order(50, threads, || (), |(), i| Ok(i), |i| bad(i).map(|_| ()));
        assert!(full.is_err());
    }
}

/// Index `i` has `i % 4` pieces; opening one or making a piece fails where it is told to, or panics.
struct Work {
    bad_open: usize,
    bad_piece: (usize, usize),
    panics: bool,
}

impl Work {
    fn fail<T>(&self, what: String) -> Result<T> {
        if self.panics { panic!("{what}") } else { Err(Error::invalid(what)) }
    }
}

impl Pieces for Work {
    type Own = ();
    type Open = usize;
    type Piece = (usize, usize);

    fn own(&self) {}

    fn open(&self, (): &mut (), i: usize) -> Result<(usize, usize)> {
        if i == self.bad_open { self.fail(format!("open {i}")) } else { Ok((i, i % 4)) }
    }

    fn piece(&self, (): &mut (), &i: &usize, j: usize) -> Result<(usize, usize)> {
        if (i, j) == self.bad_piece { self.fail(format!("piece {i} {j}")) } else { Ok((i, j)) }
    }
}

const NEVER: usize = usize::MAX;

#[test]
fn pieces_are_taken_in_order_up_to_the_first_error() {
    for threads in [0, 1, 2, 3, 20] {
        for (bad_open, bad_piece) in
            [(NEVER, (NEVER, 0)), (0, (NEVER, 0)), (40, (41, 0)), (41, (39, 2)), (99, (1, 0))]
        {
            let mut taken = Vec::new();
            let take = |&i: &usize, piece: Option<(usize, usize)>| {
                assert!(piece.is_none_or(|(of, _)| of == i));
                taken.push((i, piece.map(|(_, j)| j)));
                Ok(())
            };
            let work = Work { bad_open, bad_piece, panics: false };
            let done = pieces_in_order(&work, 100, threads, take);
            let all =
                (0..100).flat_map(|i| (0..i % 4).map(move |j| (i, Some(j))).chain([(i, None)]));
            let is_good = |(i, j): &(usize, Option<usize>)| {
                *i != bad_open && (*i, j.unwrap_or(9)) != bad_piece
            };
            let wanted: Vec<_> = all.take_while(is_good).collect();
            assert_eq!(taken, wanted);
            assert_eq!(done.is_err(), bad_open != NEVER);
            let refused = pieces_in_order(&work, 100, threads, |_, _| Err(Error::invalid("no")));
            assert!(refused.is_err());
        }
    }
}

#[test]
fn a_panic_is_no_deadlock() {
    for (bad_open, bad_piece) in [(0, (NEVER, 0)), (57, (NEVER, 0)), (NEVER, (3, 1))] {
        let work = Work { bad_open, bad_piece, panics: true };
        let run = || pieces_in_order(&work, 100, 4, |_, _| Ok(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
    for at in [0, 20, 49] {
        let f = |(): &mut (), i: usize| if i == at { panic!("at {i}") } else { Ok(i) };
        let run = || in_order(50, 4, || (), f, |_| Ok(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}

/// A helper that panics before anything has been begun.
#[test]
fn a_panic_before_the_first_step_is_no_deadlock() {
    let caller = std::thread::current().id();
    let (panicking, wait) = (AtomicBool::new(false), Duration::from_millis(50));
    let make = || {
        if std::thread::current().id() != caller {
            panicking.store(true, Ordering::Relaxed);
            panic!("on purpose");
        }
        while !panicking.load(Ordering::Relaxed) {
            std::thread::sleep(wait);
        }
        std::thread::sleep(wait);
    };
    let all = || in_order(5, 2, make, |(), i| Ok(i), |_| Ok(()));
    assert!(catch_unwind(AssertUnwindSafe(all)).is_err());
}
