//! What `inspect` shows of a checkpoint as people ship it: a line a tensor.

use super::grid::{Cell, Grid, end_of};
use super::html;
use super::style::{Style, paint};
use super::tensors::{LONGEST, shape};
use super::units;
use crate::checkpoint::flat::FlatInspection;
use crate::message::one_line;

const NEXT: &str =
    "--ablate weighs tools on it; `latens compress`, and inspect of that, show where bytes go";

/// As text.
pub fn text(name: &str, file: &FlatInspection, colour: bool) -> String {
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head: Vec<Cell> =
        ["tensor", "type", "shape", "packing"].map(|t| dim(Cell::left(t))).into();
    head.extend(["bits", "order 0", "size"].map(|t| dim(Cell::right(t))));
    grid.row(head);
    for tensor in &file.tensors {
        grid.row(vec![
            Cell::left(end_of(&tensor.name, LONGEST)),
            dim(Cell::left(&tensor.dtype)),
            dim(Cell::left(shape(&tensor.shape))),
            Cell::left(&tensor.packing),
            Cell::right(format!("{:.2}", tensor.bits_per_weight)),
            dim(Cell::right(format!("{:.3}", tensor.order0_entropy))),
            Cell::right(units::bytes(tensor.bytes)),
        ]);
    }
    let mut lines = vec![paint(&one_line(name), Style::Bold, colour)];
    lines.extend(summary(file).into_iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    lines.extend(grid.lines(colour));
    lines.push(paint(NEXT, Style::Dim, colour));
    lines.join("\n") + "\n"
}

/// As the body of a page.
pub fn html(file: &FlatInspection) -> String {
    let row = |t: &crate::checkpoint::flat::FlatTensor| {
        let note = format!("{}, {}, {:.2} bits a weight", t.dtype, t.packing, t.bits_per_weight);
        (t.name.clone(), t.bytes, note)
    };
    let rows: Vec<(String, u64, String)> = file.tensors.iter().map(row).collect();
    let mut page = String::new();
    for line in summary(file) {
        page.push_str(&format!("<p>{}</p>\n", html::escape(&line)));
    }
    page.push_str("<h2>Where the bytes are</h2>\n");
    page.push_str(&html::bars(&rows));
    page
}

fn summary(file: &FlatInspection) -> Vec<String> {
    let tensors = units::counted(file.tensors.len() as u64, "tensor");
    let mut lines = vec![format!("{}: {tensors}, {}", file.kind, units::bytes(file.bytes))];
    for (name, len) in file.files.iter().filter(|_| file.files.len() > 1) {
        lines.push(one_line(&format!("{name}, {}", units::bytes(*len))));
    }
    lines.extend(file.notes.iter().map(|note| one_line(note)));
    lines
}
