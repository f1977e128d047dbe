//! What `compress` says of a checkpoint: 24 lines at most.

use std::io::stderr;
use std::path::Path;

use super::bar::bar;
use super::grid::{Cell, Grid, cut, end_of, width};
use super::next;
use super::style::{self, Style, paint};
use super::units;
use crate::checkpoint::{CheckpointReport, TensorReport};
use crate::job::Output;
use crate::message::one_line;
use latens::wcodec::checkpoint::LONGEST_NAME;

/// Title, head, two rows of sums, verdict and advice stand around the tensors.
const MOST_ROWS: usize = 24 - 6;
/// Columns that everything but a name takes. Of a name its end is kept, which tells the tensors of
/// a layer apart.
const BESIDES: usize = 64;

/// The screen after `latens compress`.
pub fn compress(report: &CheckpointReport, output: &Output, base: Option<&Path>) -> String {
    let columns = style::width();
    let next = next::of_checkpoint(output, base, columns);
    lines(report, next.as_deref(), columns, style::wanted(&stderr())).join("\n") + "\n"
}

fn lines(
    report: &CheckpointReport,
    next: Option<&str>,
    columns: usize,
    colour: bool,
) -> Vec<String> {
    let mut order: Vec<&TensorReport> = report.tensors.iter().collect();
    order.sort_by_key(|tensor| std::cmp::Reverse(tensor.bytes));
    let beside = report.notes.len() + usize::from(report.unnamed > 0);
    let shown = order.len().min(MOST_ROWS.saturating_sub(beside));
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head: Vec<Cell> = ["tensor", "type", "shape"].map(|t| dim(Cell::left(t))).into();
    head.extend(["bits", "size", "ratio"].map(|t| dim(Cell::right(t))));
    grid.row(head);
    let most = order.first().map_or(1, |tensor| tensor.bytes).max(1) as f64;
    for tensor in &order[..shown] {
        grid.row(vec![
            Cell::left(end_of(&tensor.name, columns.saturating_sub(BESIDES).max(16))),
            dim(Cell::left(kind(tensor))),
            dim(Cell::left(shape(&tensor.shape))),
            Cell::right(format!("{:.2}", tensor.bits_per_weight)),
            Cell::right(units::bytes(tensor.bytes)),
            Cell::right(units::ratio(tensor.raw_bytes, tensor.bytes)),
            Cell::left(bar(tensor.bytes as f64 / most, 12)).style(Style::Bar),
        ]);
    }
    let sums = |name: String, raw: u64, bytes: u64| {
        let (size, ratio) = (units::bytes(bytes), units::ratio(raw, bytes));
        vec![Cell::left(name).span(4), Cell::right(size), Cell::right(ratio)]
    };
    let rest = &order[shown..];
    let sum = |f: fn(&TensorReport) -> u64| rest.iter().map(|t| f(t)).sum::<u64>();
    if !rest.is_empty() {
        let name = format!("… {} more, smaller", units::count(rest.len() as u64));
        grid.row(sums(name, sum(|t| t.raw_bytes), sum(|t| t.bytes)));
    }
    let total = sums("total".into(), report.input_bytes, report.output_bytes);
    grid.row(total.into_iter().map(|cell| cell.style(Style::Bold)).collect());
    let about = units::counted(report.tensors.len() as u64, "tensor");
    let output = if report.output == "-" { "stdout" } else { &report.output };
    let files = format!("{} → {}", one_line(&report.input), one_line(output));
    let files = cut(&files, columns.saturating_sub(width(&about) + 2).max(20));
    let (files, about) = (paint(&files, Style::Bold, colour), paint(&about, Style::Dim, colour));
    let mut all = vec![format!("{files}  {about}")];
    all.append(&mut grid.lines(colour));
    if report.unnamed > 0 {
        let count = units::counted(report.unnamed as u64, "more tensor");
        let why = format!("no name, or over {LONGEST_NAME} bytes of it or 32 dimensions");
        all.push(format!("{count} kept as bytes of the file: {why}"));
    }
    all.extend(report.notes.iter().map(|note| cut(&one_line(note), 2 * columns)));
    let time = units::seconds(report.seconds);
    all.push(match report.verified {
        true => format!(
            "{} (read back and compared; {time} in all)",
            paint("verified: bit-identical", Style::Good, colour)
        ),
        false => format!("not verified (--no-verify), {time}"),
    });
    all.extend(next.map(|next| paint(next, Style::Dim, colour)));
    all
}

fn kind(tensor: &TensorReport) -> String {
    match tensor.packing.is_empty() {
        true => tensor.dtype.clone(),
        false => format!("{} {}", tensor.dtype, tensor.packing),
    }
}

fn shape(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("×")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_24_lines() {
        for n in [0, 1, 18, 19, 500] {
            let tensor = |i: usize| TensorReport {
                name: format!("model.layers.{i}.self_attn.q_proj.weight_packed.and.so.on"),
                dtype: "I8".into(),
                shape: vec![4096, 4096],
                packing: "int8".into(),
                codec: "direct".into(),
                bytes: 1000 * i as u64,
                bits_per_weight: 7.1,
                raw_bytes: 1 << 24,
            };
            let report = CheckpointReport {
                input: "m.safetensors".into(),
                output: "m.wcodec".into(),
                input_bytes: 1 << 30,
                output_bytes: 1 << 29,
                seconds: 1.0,
                verified: true,
                tensors: (0..n).map(tensor).collect(),
                unnamed: 3,
                notes: vec!["a note".into(), "another".into()],
            };
            let lines = lines(&report, Some("next: look"), 100, false);
            assert!(lines.len() <= 24, "{n}: {}", lines.len());
            assert!(lines.iter().all(|line| width(line) <= 100), "{lines:#?}");
        }
    }
}
