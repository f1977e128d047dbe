//! What `advise` shows: a line a column with its sizes, the totals, and the lines for pyarrow.

use super::grid::{Cell, Grid};
use super::style::{Style, paint};
use super::units;
use crate::message::one_line;
use crate::table::advise::Advice;

/// Encodings in the order in which they are shown, and their headings.
const ENCODINGS: [(&str, &str); 8] = [
    ("plain", "plain"),
    ("plain_zstd", "+zstd"),
    ("dictionary", "dictionary"),
    ("dictionary_zstd", "+zstd"),
    ("delta_binary_packed", "delta"),
    ("delta_binary_packed_zstd", "+zstd"),
    ("byte_stream_split_zstd", "split+zstd"),
    ("pco", "pco"),
];

/// As text: the smallest size in bold, the smallest of Parquet's own as words.
pub fn text(name: &str, advice: &Advice, colour: bool) -> String {
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head = vec![dim(Cell::left("column")), dim(Cell::left("type"))];
    head.extend(ENCODINGS.map(|(_, heading)| dim(Cell::right(heading))));
    head.extend(["use", "in Parquet"].map(|heading| dim(Cell::left(heading))));
    grid.row(head);
    for column in &advice.columns {
        let mut row = vec![Cell::left(&column.name), dim(Cell::left(&column.logical_type))];
        row.extend(ENCODINGS.map(|(key, _)| {
            let bytes = column.sizes.get(key);
            let cell = Cell::right(bytes.map_or_else(|| "-".into(), |&bytes| units::bytes(bytes)));
            let best = key == column.recommended;
            cell.style(if best { Style::Good } else { Style::Plain })
        }));
        row.push(Cell::left(words(&column.recommended)).style(Style::Bold));
        row.push(Cell::left(words(&column.parquet)));
        grid.row(row);
    }
    let of = |key: &str, column: &crate::table::advise::ColumnAdvice| {
        column.sizes.get(key).copied().unwrap_or(0)
    };
    let total = |pick: fn(&crate::table::advise::ColumnAdvice) -> &str| -> u64 {
        advice.columns.iter().map(|column| of(pick(column), column)).sum()
    };
    let (best, parquet) = (total(|c| &c.recommended), total(|c| &c.parquet));
    let mut lines = vec![paint(&one_line(name), Style::Bold, colour), String::new()];
    lines.extend(grid.lines(colour));
    lines.push(String::new());
    lines.push(format!(
        "together {} so, {} with Parquet's own encodings",
        units::bytes(best),
        units::bytes(parquet)
    ));
    if let Some(rows) = advice.estimated_from {
        let all = advice.columns.first().map_or(0, |column| column.n);
        lines.push(format!(
            "sizes are estimated from {} of {} rows",
            units::count(rows),
            units::count(all)
        ));
    }
    lines.push(String::new());
    lines.push(paint("pyarrow (import pyarrow.parquet as pq):", Style::Dim, colour));
    lines.push(advice.pyarrow.trim_end().to_string());
    lines.join("\n") + "\n"
}

/// `delta_binary_packed_zstd` as it is said.
fn words(key: &str) -> String {
    let short = key.replace("delta_binary_packed", "delta").replace("byte_stream_split", "split");
    short.replace('_', " + ")
}
