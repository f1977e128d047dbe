//! What `inspect` shows of a Parquet file: its columns' encodings, and its delta pages.

use super::bar::bar;
use super::grid::{Cell, Grid};
use super::html;
use super::style::{Style, paint};
use super::units;
use crate::io::parquet::{ColumnInspection, ParquetInspection};
use crate::message::one_line;

const BAR: usize = 20;
/// Widths of miniblocks that are listed for a column.
const MOST: usize = 6;

/// As text: a line a column, and a line for each that has delta pages.
pub fn text(name: &str, file: &ParquetInspection, colour: bool) -> String {
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head: Vec<Cell> =
        ["column", "type", "codec", "pages"].map(|t| dim(Cell::left(t))).into();
    head.extend(["bits", "size"].map(|t| dim(Cell::right(t))));
    grid.row(head);
    let most = file.columns.iter().map(|column| column.bytes).max().unwrap_or(0).max(1) as f64;
    for column in &file.columns {
        grid.row(vec![
            Cell::left(&column.name),
            dim(Cell::left(&column.physical_type)),
            dim(Cell::left(column.compression.join(" "))),
            Cell::left(pages(column)),
            Cell::right(format!("{:.2}", crate::report::bits_per_value(column.bytes, column.n))),
            Cell::right(units::bytes(column.bytes)),
            Cell::left(bar(column.bytes as f64 / most, BAR)).style(Style::Bar),
        ]);
    }
    let mut lines = vec![
        paint(&one_line(name), Style::Bold, colour),
        format!("  {}", summary(file)),
        String::new(),
    ];
    lines.extend(grid.lines(colour));
    let delta: Vec<&ColumnInspection> =
        file.columns.iter().filter(|column| !column.delta.is_empty()).collect();
    if !delta.is_empty() {
        lines.push(String::new());
        lines.push(paint("delta pages", Style::Bold, colour));
        let mut grid = Grid::default();
        let mut head = vec![dim(Cell::left("column"))];
        head.extend(["blocks", "of", "min deltas"].map(|t| dim(Cell::right(t))));
        head.push(dim(Cell::left("widths of miniblocks in bits (share)")));
        grid.row(head);
        for column in delta {
            let shape = column.delta.first().map(|page| (page.block_size, page.miniblocks));
            let (size, parts) = shape.unwrap_or((0, 0));
            let minima = column.all.min_deltas.map_or(String::new(), |(least, greatest)| {
                if least == greatest {
                    least.to_string()
                } else {
                    format!("{least} … {greatest}")
                }
            });
            grid.row(vec![
                Cell::left(&column.name),
                Cell::right(units::count(column.all.count)),
                Cell::right(format!("{size}/{parts}")),
                Cell::right(minima),
                Cell::left(widths(column)),
            ]);
        }
        lines.extend(grid.lines(colour));
    }
    lines.join("\n") + "\n"
}

/// As the body of a page.
pub fn html(file: &ParquetInspection) -> String {
    let rows: Vec<(String, u64, String)> = file
        .columns
        .iter()
        .map(|c| (c.name.clone(), c.bytes, format!("{}, {}", c.physical_type, pages(c))))
        .collect();
    let summary = html::escape(&summary(file));
    let mut page = format!("<p>{summary}</p><h2>Where the bytes go</h2>\n{}", html::bars(&rows));
    for column in file.columns.iter().filter(|column| !column.delta.is_empty()) {
        let widths: Vec<(String, u64, String)> = column
            .all
            .widths
            .iter()
            .map(|(width, &count)| (format!("{width} bits"), count, String::new()))
            .collect();
        let title = format!("{}: widths of miniblocks", column.name);
        page.push_str(&html::details(&title, &html::bars(&widths)));
    }
    page
}

fn summary(file: &ParquetInspection) -> String {
    let by = file.created_by.as_deref().map_or(String::new(), |by| format!(", by {by}"));
    one_line(&format!(
        "Parquet: {} × {}, {}, {}{by}",
        units::counted(file.rows, "row"),
        units::counted(file.columns.len() as u64, "column"),
        units::counted(file.row_groups as u64, "row group"),
        units::bytes(file.bytes)
    ))
}

/// `PLAIN 3, RLE_DICTIONARY 1`
fn pages(column: &ColumnInspection) -> String {
    let one = |(encoding, count): (&String, &u64)| format!("{encoding} {count}");
    column.pages.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `7 (80 %), 8 (20 %)`: the most frequent ones first.
fn widths(column: &ColumnInspection) -> String {
    let mut all: Vec<(u8, u64)> =
        column.all.widths.iter().map(|(&width, &count)| (width, count)).collect();
    all.sort_by_key(|&(width, count)| (std::cmp::Reverse(count), width));
    let sum = all.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
    let one =
        |&(width, count): &(u8, u64)| format!("{width} ({:.0} %)", 100.0 * count as f64 / sum);
    let mut parts: Vec<String> = all.iter().take(MOST).map(one).collect();
    if all.len() > MOST {
        parts.push("…".into());
    }
    parts.join(", ")
}
