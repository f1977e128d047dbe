//! What `inspect` shows of a `.pco.zip`: its columns, and where the bytes go.

use super::bar::bar;
use super::grid::{Cell, Grid};
use super::html;
use super::style::{Style, paint};
use super::units;
use crate::io::pco_zip::{ColumnInspection, Inspection};
use crate::message::one_line;

const BAR: usize = 20;

/// As text: a line a column.
pub fn text(name: &str, file: &Inspection, colour: bool) -> String {
    let mut grid = Grid::default();
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut head: Vec<Cell> =
        ["column", "type", "stored as", "delta"].map(|name| dim(Cell::left(name))).into();
    head.extend(["nulls", "bits", "size", "share"].map(|name| dim(Cell::right(name))));
    grid.row(head);
    let most = file.columns.iter().map(|column| column.bytes).max().unwrap_or(0).max(1) as f64;
    for column in &file.columns {
        let (mode, delta) = stored_as(column);
        let bits = crate::report::bits_per_value(column.bytes, file.rows);
        let share = column.bytes as f64 / file.bytes.max(1) as f64;
        grid.row(vec![
            Cell::left(&column.name),
            Cell::left(&column.type_name).style(Style::Dim),
            Cell::left(mode),
            Cell::left(delta),
            Cell::right(if column.nulls > 0 { units::count(column.nulls) } else { String::new() }),
            Cell::right(format!("{bits:.2}")),
            Cell::right(units::bytes(column.bytes)),
            Cell::right(format!("{:.1} %", 100.0 * share)),
            Cell::left(bar(column.bytes as f64 / most, BAR)).style(Style::Bar),
        ]);
    }
    let mut lines = vec![
        paint(&one_line(name), Style::Bold, colour),
        format!("  {}", summary(file)),
        String::new(),
    ];
    lines.extend(grid.lines(colour));
    let columns: u64 = file.columns.iter().map(|column| column.bytes).sum();
    let rest = units::bytes(file.bytes.saturating_sub(columns));
    lines.push(paint(
        &format!("{rest} besides: schema.json, the directory, checksums"),
        Style::Dim,
        colour,
    ));
    lines.join("\n") + "\n"
}

/// As the body of a page.
pub fn html(file: &Inspection) -> String {
    let rows: Vec<(String, u64, String)> = file
        .columns
        .iter()
        .map(|column| {
            let (mode, delta) = stored_as(column);
            (column.name.clone(), column.bytes, format!("{}, {mode} {delta}", column.type_name))
        })
        .collect();
    let mut page = format!("<p>{}</p><h2>Where the bytes go</h2>\n", html::escape(&summary(file)));
    page.push_str(&html::bars(&rows));
    for column in &file.columns {
        for member in &column.members {
            let Some(pco) = &member.pco else { continue };
            page.push_str(&html::details(
                &format!("{}: {}", column.name, member.file),
                &html::pco(pco),
            ));
        }
    }
    page
}

fn summary(file: &Inspection) -> String {
    let what = match &file.array {
        Some(array) => {
            let extents: Vec<String> = array.shape.iter().map(u64::to_string).collect();
            format!("an array of shape ({})", extents.join(", "))
        }
        None => {
            let columns = units::counted(file.columns.len() as u64, "column");
            format!("{} × {columns}", units::counted(file.rows, "row"))
        }
    };
    format!("pco.zip: {what}, {}", units::bytes(file.bytes))
}

/// Mode and delta of the largest chunk of the first member, and what the column is besides.
fn stored_as(column: &ColumnInspection) -> (String, String) {
    let pco = column.members.iter().find_map(|member| member.pco.as_ref());
    let chunk = pco.and_then(super::inspect::largest).map(|(_, chunk)| chunk);
    let mode = match (chunk, column.distinct) {
        (_, Some(distinct)) => format!("{} distinct", units::count(distinct)),
        (Some(chunk), None) => chunk.mode.clone(),
        (None, None) => column.encoding.to_string(),
    };
    let delta = chunk.map_or("", |chunk| &chunk.delta);
    (mode, if delta == "none" { String::new() } else { delta.to_string() })
}
