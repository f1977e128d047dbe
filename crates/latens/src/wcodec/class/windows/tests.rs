use super::*;
use crate::wcodec::class::{Blocks, RowSums};
use crate::wcodec::layout::source::{NumberForm, PartOf};
use latens_kernels::rans::Levels;
use std::borrow::Cow;

const COLS: usize = 192;

/// A source of so wide blocks, and its numbers, for three rows.
fn source(block_cols: usize, scale: i16) -> (Source, Blocks) {
    let stride = COLS.div_ceil(block_cols);
    let values = (0..3 * stride).map(|i| i16::try_from(i * 37 % 90).unwrap() * scale).collect();
    let blocks = Blocks { values, first: 0, block_rows: 1, block_cols, stride, row_map: None };
    let (of, form) = (PartOf::Own(0), NumberForm::Unsigned);
    (
        Source { of, form, block_rows: 1, block_cols, fraction: 0, added: false, row_map: None },
        blocks,
    )
}

/// Windows say what classes written down symbol by symbol say.
#[test]
fn windows_hold_the_classes() {
    let widths = [(32, 1), (64, 7), (128, 3), (96, 1), (191, 2), (192, 40), (1000, 3), (40, 1)];
    // The bias, how many levels columns have, and how far these are apart.
    let of_cols = [
        (100, 2, 1),
        (0, 41, 1),
        (-3000, 64, 1),
        (3000, 21, 1),
        (140, 65, 1),
        (60, 3, 80),
        (-200, 64, 3),
        (140, 65, 3),
    ];
    let (mut sliding, mut by_level) = (0, 0);
    for (step, (width, scale), (bias, levels, apart), maps) in [1, 2]
        .into_iter()
        .flat_map(|step| widths.map(|width| (step, width)))
        .flat_map(|(step, width)| of_cols.map(|cols| (step, width, cols)))
        .flat_map(|(step, width, cols)| [1, 2, 3].map(|maps| (step, width, cols, maps)))
    {
        let cols = COLS / step;
        let map = |m: usize| std::array::from_fn(|i| u8::try_from((i + m) / 3 % 8).unwrap());
        let ((of_levels, levels_of), (of_zero, zeros)) = (source(width, scale), source(64, 1));
        let rule = ClassRule {
            rows: vec![3, 90, 250],
            cols: (0..cols).map(|c| u8::try_from(30 + c * 7 % levels * apart).unwrap()).collect(),
            bias,
            levels: vec![of_levels],
            zero: (maps > 1).then_some(of_zero),
            maps: (0..maps).map(map).collect(),
        };
        let zero = (maps > 1).then_some(Cow::Owned(zeros));
        let terms = Terms { rule: &rule, levels: vec![levels_of].into(), zero };
        let windows = Windows::new(&rule, step, cols);
        let whole = width % (step * LANES) == 0 || coded(width, step) >= cols;
        let slides = (levels - 1) * apart < WINDOW;
        assert!(windows.is_some() == (whole && levels <= WINDOW && (slides || maps < 3)));
        let Some(windows) = windows else { continue };
        *(if slides { &mut sliding } else { &mut by_level }) += 1;
        for row in 0..3 {
            let mut wanted = vec![0; cols];
            terms.classes(row, step, &mut RowSums::default(), &mut wanted);
            let mut starts = vec![0; cols / LANES];
            windows.starts_of_rows(&terms, row, step, &mut starts);
            assert!(Levels::new(&windows.map, &starts, &windows.cols).is_some());
            let class = |c: usize| {
                windows.map[usize::from(starts[c / LANES]) + usize::from(windows.cols[c])]
            };
            assert_eq!((0..cols).map(class).collect::<Vec<_>>(), wanted);
        }
    }
    assert_eq!((sliding, by_level), (132, 44));
}

/// Rows that have no levels of their own begin where each of them does alone, whatever comes of their blocks.
#[test]
fn rows_without_levels_begin_where_each_does() {
    for (step, width) in [1, 2].into_iter().flat_map(|step| [64, 128, 192, 96].map(|w| (step, w))) {
        let (cols, (of_levels, levels_of)) = (COLS / step, source(width, 3));
        let rule = ClassRule {
            rows: Vec::new(),
            cols: Vec::new(),
            bias: 120,
            levels: vec![of_levels],
            zero: None,
            maps: vec![std::array::from_fn(|i| u8::try_from(i / 40).unwrap())],
        };
        let terms = Terms { rule: &rule, levels: vec![levels_of].into(), zero: None };
        let Some(windows) = Windows::new(&rule, step, cols) else { continue };
        let a_row = cols / LANES;
        // Beyond the third row there are no values.
        let mut each = vec![0; 4 * a_row];
        for (row, starts) in each.chunks_mut(a_row).enumerate() {
            windows.starts_of_rows(&terms, row, step, starts);
        }
        for first in 0..4 {
            let mut starts = vec![0; (4 - first) * a_row];
            windows.starts_of_rows(&terms, first, step, &mut starts);
            assert_eq!(starts, each[first * a_row..], "{step}, {width}, from {first}");
        }
    }
}
