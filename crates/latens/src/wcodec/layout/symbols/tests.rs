use super::*;
use crate::wcodec::layout::prediction::{BY_TILE, LINEAR};
use crate::wcodec::layout::source::{EntryRef, PartOf};
use crate::wcodec::predictor::linear::Weights;
use crate::wcodec::view::View;

#[test]
fn symbols_come_back() {
    let prediction = Prediction {
        tile_rows: 8,
        tile_cols: 4096,
        predictor: BY_TILE,
        centre: 3,
        transform: false,
        means: Some(vec![1, 2, 3, 4, 5, 6]),
        weights: None,
        reference: Some(PartOf::Other { entry: EntryRef::Entry(9), view: View::Raw, part: 0 }),
    };
    let classes = ClassRule { rows: vec![1; 5], maps: vec![[0; 256]], ..ClassRule::default() };
    let plain = Symbols {
        count: 30,
        cols: 6,
        group_rows: 2,
        table_bits: 12,
        tables: vec![3, 1],
        classes: Some(classes),
        ..Symbols::default()
    };
    let linear = Prediction {
        predictor: LINEAR,
        weights: Weights::new(2, 6, &[0, 1, 2, 127, 128, 129, 200, 254, 255]),
        ..prediction.clone()
    };
    let linear = Symbols { prediction: Some(linear), ..plain.clone() };
    let predicted = Symbols { prediction: Some(prediction.clone()), ..plain.clone() };
    let pairs = Symbols { pairs: true, recut: Some(4), cols: 4, classes: None, ..plain.clone() };
    let column = Prediction { predictor: COLUMN, reference: None, ..prediction.clone() };
    let column = Symbols { pairs: true, prediction: Some(column), classes: None, ..plain.clone() };
    let mut all_tiles = Vec::new();
    let other = Symbols { prediction: Some(prediction.clone()), ..column.clone() };
    other.write(&mut all_tiles);
    assert!(Symbols::read(&mut Fields::new(&all_tiles), 4, 5, 6, false).is_err());
    for symbols in [plain, predicted, linear, pairs, column] {
        let mut out = Vec::new();
        symbols.write(&mut out);
        let mut fields = Fields::new(&out);
        assert_eq!(Symbols::read(&mut fields, 4, 5, 6, false).unwrap(), symbols);
        assert_eq!(fields.left(), 0);
    }
}

#[test]
fn groups_cover_all_symbols() {
    let symbols = Symbols { count: 33, cols: 6, group_rows: 2, ..Symbols::default() };
    assert_eq!((symbols.rows(), symbols.groups()), (6, 3));
    assert_eq!(symbols.group_range(2), 24..33);
}
