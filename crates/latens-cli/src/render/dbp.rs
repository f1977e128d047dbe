//! What `inspect` shows of a `.dbp`: its shape, and how wide its miniblocks are.

use std::collections::BTreeMap;

use super::bar::bar;
use super::grid::{Cell, Grid};
use super::html;
use super::style::{Style, paint};
use super::units;
use crate::array::inspect_dbp::DbpInspection;
use crate::message::one_line;

/// Blocks that are listed.
const MOST: usize = 16;
const BAR: usize = 24;

/// As text.
pub fn text(name: &str, file: &DbpInspection, colour: bool) -> String {
    let mut lines = vec![
        paint(&one_line(name), Style::Bold, colour),
        format!("  {}", summary(file)),
        String::new(),
        paint("widths of miniblocks", Style::Bold, colour),
    ];
    let widths = widths(file);
    let all = widths.values().sum::<u64>().max(1) as f64;
    let most = widths.values().copied().max().unwrap_or(1) as f64;
    let mut grid = Grid::default();
    grid.row(["bits", "miniblocks", "share"].map(dim_right).into());
    for (width, &count) in &widths {
        grid.row(vec![
            Cell::right(width.to_string()),
            Cell::right(units::count(count)),
            Cell::right(format!("{:.1} %", 100.0 * count as f64 / all)),
            Cell::left(bar(count as f64 / most, BAR)).style(Style::Bar),
        ]);
    }
    lines.extend(grid.lines(colour));
    lines.push(String::new());
    lines.push(paint("blocks", Style::Bold, colour));
    let mut grid = Grid::default();
    let mut head: Vec<Cell> = ["block", "byte", "min delta"].map(dim_right).into();
    head.push(Cell::left("widths").style(Style::Dim));
    grid.row(head);
    for (index, block) in file.blocks.iter().take(MOST).enumerate() {
        let widths: Vec<String> = block.widths.iter().map(u8::to_string).collect();
        grid.row(vec![
            Cell::right(index.to_string()),
            Cell::right(block.at.to_string()),
            Cell::right(block.min_delta.to_string()),
            Cell::left(widths.join(" ")),
        ]);
    }
    lines.extend(grid.lines(colour));
    if file.blocks.len() > MOST {
        let more = units::count((file.blocks.len() - MOST) as u64);
        lines.push(paint(&format!("and {more} more"), Style::Dim, colour));
    }
    lines.join("\n") + "\n"
}

/// As the body of a page.
pub fn html(file: &DbpInspection) -> String {
    let rows: Vec<(String, u64, String)> = widths(file)
        .into_iter()
        .map(|(width, count)| (format!("{width} bits"), count, String::new()))
        .collect();
    let summary = html::escape(&summary(file));
    format!("<p>{summary}</p><h2>Widths of miniblocks</h2>\n{}", html::bars(&rows))
}

fn dim_right(text: &str) -> Cell {
    Cell::right(text).style(Style::Dim)
}

fn summary(file: &DbpInspection) -> String {
    let bits = crate::report::bits_per_value(file.bytes as u64, file.n);
    format!(
        "DELTA_BINARY_PACKED: {}, {}, {bits:.2} bits a number; blocks of {} in {}",
        units::counted(file.n, "number"),
        units::bytes(file.bytes as u64),
        file.block_size,
        units::counted(file.miniblocks as u64, "miniblock"),
    )
}

/// How many miniblocks have which width.
fn widths(file: &DbpInspection) -> BTreeMap<u8, u64> {
    let mut counts = BTreeMap::new();
    for &width in file.blocks.iter().flat_map(|block| &block.widths) {
        *counts.entry(width).or_insert(0) += 1;
    }
    counts
}
