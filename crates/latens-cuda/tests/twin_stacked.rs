//! Pairs of two rows: files made by hand, from the specification alone, are decoded by library and kernels to what
//! they were made of.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod by_hand;
mod twin_common;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use by_hand::stacked::{Blocks, Stacked};
use latens::Limits;
use latens::wcodec::Reader;
use twin_common::{Count, Twin, build};

const ONE: &[Blocks] = &[Blocks { rows: 1, cols: 26, added: false }];
/// Odd, but more than there are columns.
const WIDE: &[Blocks] = &[Blocks { rows: 2, cols: 27, added: true }];
const TWO: &[Blocks] =
    &[Blocks { rows: 1, cols: 16, added: false }, Blocks { rows: 3, cols: 24, added: true }];
/// So few columns that the host decodes them.
const NARROW: &[Blocks] = &[Blocks { rows: 1, cols: 4, added: false }];

fn shape(rows: usize, cols: usize, group_rows: usize, blocks: &'static [Blocks]) -> Stacked {
    Stacked {
        rows,
        cols,
        group_rows,
        blocks,
        row_levels: true,
        col_levels: true,
        with_means: true,
        bias: -20,
        compact: true,
        escapes: false,
    }
}

#[test]
fn stacked_pairs_come_back() {
    let Some(program) = build("twin-stacked", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    let shapes = [
        (shape(40, 64, 16, &[]), 3),
        (shape(7, 2, 3, &[]), 3),
        (shape(1, 500, 1, &[]), 1),
        (shape(33, 26, 33, ONE), 1),
        (shape(9, 26, 4, WIDE), 3),
        // The last group is one row.
        (shape(37, 96, 12, TWO), 4),
        (shape(200, 48, 131, TWO), 2),
        (shape(50, 40, 9, NARROW), 0),
    ];
    for (shape, groups) in shapes {
        for turn in 0..64 {
            let [row_levels, col_levels, with_means, far, compact, escapes] =
                [1, 2, 4, 8, 16, 32].map(|bit| turn & bit != 0);
            // Sums that levels of columns do not bring back among those of a map, too.
            let bias = if far { -300 } else { shape.bias };
            let shape =
                Stacked { row_levels, col_levels, with_means, bias, compact, escapes, ..shape };
            let (file, data) = shape.file(|_| ());
            let reader = Reader::open(file, Limits::default()).unwrap();
            assert!(reader.tensor(0).unwrap() == data, "{shape:?}");
            let mut count = Count::default();
            twin.agrees("stacked", &reader, &mut count);
            assert!(count.groups == groups && count.errors == 0, "{shape:?}: {count:?}");
        }
    }
}

#[test]
fn rows_of_their_own_are_the_same_in_both_halves() {
    let Some(program) = build("twin-own-rows", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    let escaped = |shape| Stacked { escapes: true, ..shape };
    let (odd, even) = (shape(7, 26, 7, ONE), shape(6, 26, 6, ONE));
    for (shape, errors) in [(odd, 1), (even, 0), (escaped(odd), 1), (escaped(even), 0)] {
        // The last pair of rows in the last column.
        let (file, _) = shape.file(|coded| coded.last_mut().unwrap().0 ^= 0x10);
        let reader = Reader::open(file, Limits::default()).unwrap();
        let mut count = Count::default();
        twin.agrees("stacked", &reader, &mut count);
        assert!(count.errors == errors && count.groups == 1, "{count:?}");
    }
}
