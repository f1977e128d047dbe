//! What `compress` and `decompress` say when they are done: 24 lines at most.

use std::io::stderr;

use super::bar::bar;
use super::grid::{Cell, Grid, cut, width};
use super::next::next;
use super::style::{self, Style, paint};
use super::units;
use crate::array::pco::count_bytes;
use crate::format::Format;
use crate::job::CompressJob;
use crate::message::one_line;
use crate::report::{ColumnReport, CompressReport, DecompressReport};

/// Title, head, total, verdict and advice stand around the rows.
const MOST_ROWS: usize = 24 - 5;

/// The screen after `latens compress`.
pub fn compress(report: &CompressReport, job: &CompressJob) -> String {
    let columns = style::width();
    let last = match job.to {
        Format::Csv => Last {
            same: "the same values",
            next: Some("CSV keeps no payload of a NaN, and takes empty text for null".into()),
        },
        _ => Last { same: "bit-identical", next: next(report, job, columns) },
    };
    lines(report, &last, columns, style::wanted(&stderr())).join("\n") + "\n"
}

/// What stands below the table.
struct Last {
    /// What was found when the output was compared.
    same: &'static str,
    /// Commands, or what must be known of the output.
    next: Option<String>,
}

/// The line after `latens decompress`.
pub fn decompress(report: &DecompressReport) -> String {
    let checksum = match report.checksum.as_str() {
        "verified" => "checksums hold",
        "partly" => "checksums hold, where there are any",
        "absent" => "no checksum in the file",
        _ => "only a part was read: checksums not checked",
    };
    one_line(&format!(
        "{} → {}: {}, {}, {}{} in {}",
        report.input,
        report.output,
        report.what,
        checksum,
        skipped(report.trailing_bytes).map_or(String::new(), |skipped| skipped + ", "),
        units::bytes(report.output_bytes),
        units::seconds(report.seconds)
    )) + "\n"
}

/// What is said of bytes behind the end of a file, where there are any.
pub fn skipped(trailing_bytes: u64) -> Option<String> {
    (trailing_bytes > 0).then(|| format!("{} behind the end skipped", count_bytes(trailing_bytes)))
}

fn lines(report: &CompressReport, last: &Last, columns: usize, colour: bool) -> Vec<String> {
    let raw: u64 = report.columns.iter().map(|column| column.raw_bytes).sum();
    let (shown, left_out) = selection(report);
    let rows = |short: bool| {
        let mut grid = Grid::default();
        let dim = |cell: Cell| cell.style(Style::Dim);
        let mut head: Vec<Cell> =
            ["column", "type", "mode", "delta"].map(|name| dim(Cell::left(name))).into();
        head.extend(["bits", "size", "ratio"].map(|name| dim(Cell::right(name))));
        grid.row(head);
        for column in &shown {
            grid.row(cells(column, short));
        }
        if let Some((count, bytes, raw)) = left_out {
            let name = Cell::left(format!("… {count} more")).span(5);
            let size = match shown.iter().any(|column| is_by_rows(column)) {
                true => Cell::right("-"),
                false => size(bytes),
            };
            grid.row(vec![name, size, Cell::right(units::ratio(raw, bytes))]);
        }
        grid
    };
    let mut grid = rows(false);
    if grid.widths().iter().map(|width| width + 2).sum::<usize>() + 6 > columns {
        grid = rows(true);
    }
    let mut widths = grid.widths();
    widths[0] = widths[0].max(width("total"));
    widths[5] = widths[5].max(width(&units::bytes(report.output_bytes)));
    widths[6] = widths[6].max(width(&units::ratio(raw, report.output_bytes)));
    let mut widths = fit(widths, columns.saturating_sub(if shown.len() > 1 { 8 } else { 0 }));
    // What others make of the data stands between `total` and its size: make room for it.
    let used = |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>();
    let others = others(report);
    let missing = width(&others).saturating_sub(between(&widths));
    if used(&widths) + missing <= columns {
        widths[3] += missing;
    }
    grid.settle(&widths);
    let largest = shown.iter().map(|column| column.bytes).max().unwrap_or(0).max(1);
    // Of a single column there is nothing to compare.
    for (row, column) in shown.iter().enumerate().filter(|_| shown.len() > 1) {
        let share = column.bytes as f64 / largest as f64;
        let drawn = bar(share, columns.saturating_sub(used(&widths)).min(30));
        grid.push(row + 1, Cell::left(drawn).style(Style::Bar));
    }
    grid.row(total(report, raw, others, between(&widths)));

    let mut all = vec![title(report, raw, columns, colour)];
    all.append(&mut grid.lines(colour));
    all.push(verdict(report, last.same, colour));
    all.extend(last.next.as_ref().map(|next| paint(&cut(next, columns), Style::Dim, colour)));
    all
}

/// Columns of the terminal between the name of a row and its size.
fn between(widths: &[usize]) -> usize {
    widths[1..5].iter().sum::<usize>() + 2 * 3
}

/// `zstd -3 1.93 MB, Parquet+zstd 1.40 MB`
fn others(report: &CompressReport) -> String {
    let one = |(name, bytes): &(String, u64)| format!("{name} {}", units::bytes(*bytes));
    report.peers.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The sum, and what others make of the same data, behind it where there is no room.
fn total(report: &CompressReport, raw: u64, others: String, room: usize) -> Vec<Cell> {
    let bold = |cell: Cell| cell.style(Style::Bold);
    let fits = width(&others) <= room;
    let others = Cell::left(others).style(Style::Dim);
    let empty = Cell::default().span(4);
    let size = bold(size(report.output_bytes));
    let ratio = bold(Cell::right(units::ratio(raw, report.output_bytes)));
    let name = bold(Cell::left("total"));
    match fits {
        true => vec![name, others.span(4), size, ratio],
        false => vec![name, empty, size, ratio, others],
    }
}

fn size(bytes: u64) -> Cell {
    Cell::right(units::bytes(bytes))
}

/// The columns to show, and of those left out: how many, their bytes, their raw bytes.
fn selection(report: &CompressReport) -> (Vec<&ColumnReport>, Option<(usize, u64, u64)>) {
    if report.columns.len() <= MOST_ROWS {
        return (report.columns.iter().collect(), None);
    }
    let mut sizes: Vec<usize> = (0..report.columns.len()).collect();
    sizes.sort_by_key(|&i| std::cmp::Reverse(report.columns[i].bytes));
    let mut kept = sizes[..MOST_ROWS - 1].to_vec();
    kept.sort_unstable();
    let rest = sizes[MOST_ROWS - 1..].iter().map(|&i| &report.columns[i]);
    let (bytes, raw) = rest.fold((0, 0), |(b, r), c| (b + c.bytes, r + c.raw_bytes));
    let shown = kept.iter().map(|&i| &report.columns[i]).collect();
    (shown, Some((sizes.len() - kept.len(), bytes, raw)))
}

/// The cells of a row; `short` where room is scarce.
fn cells(column: &ColumnReport, short: bool) -> Vec<Cell> {
    let mode = if column.mode == "-" { &column.encoding } else { &column.mode };
    let delta = if matches!(column.delta.as_str(), "-" | "none") { "" } else { &column.delta };
    let delta = if short { delta.replace("consecutive", "consec") } else { delta.to_string() };
    let unknown = || Cell::right("-");
    let (bits, bytes) = match is_by_rows(column) {
        true => (unknown(), unknown()),
        false => (Cell::right(format!("{:.2}", column.bits_per_value)), size(column.bytes)),
    };
    vec![
        Cell::left(&column.name),
        Cell::left(&column.logical_type).style(Style::Dim),
        Cell::left(mode),
        Cell::left(delta),
        bits,
        bytes,
        Cell::right(units::ratio(column.raw_bytes, column.bytes)),
    ]
}

/// Whether the file is CSV, which lies row by row: what of it is a column's is not counted.
fn is_by_rows(column: &ColumnReport) -> bool {
    column.encoding == "text"
}

/// Widths with which the columns fit in: types, modes and names give way, each down to where it
/// still says something, then the widest first.
fn fit(mut widths: Vec<usize>, columns: usize) -> Vec<usize> {
    let over = |widths: &[usize]| {
        widths.iter().map(|width| width + 2).sum::<usize>().saturating_sub(columns)
    };
    for (column, least) in [(1, 10), (2, 10), (0, 12)] {
        let spare = widths[column].saturating_sub(least);
        widths[column] -= spare.min(over(&widths));
    }
    while over(&widths) > 0 {
        match widths[..4].iter_mut().max() {
            Some(widest) if *widest > 6 => *widest -= 1,
            _ => break,
        }
    }
    widths
}

fn title(report: &CompressReport, raw: u64, columns: usize, colour: bool) -> String {
    let rows = report.columns.iter().map(|column| column.n).max().unwrap_or(0);
    let shape = match report.columns.len() {
        1 => units::counted(rows, "number"),
        n => format!("{} × {n} columns", units::counted(rows, "row")),
    };
    let name = |name: &str, dash: &str| if name == "-" { dash.into() } else { one_line(name) };
    let files = format!("{} → {}", name(&report.input, "stdin"), name(&report.output, "stdout"));
    let memory = format!(", {} in memory", units::bytes(raw));
    let room = columns.saturating_sub(width(&files) + width(&shape) + 2);
    let about = if width(&memory) <= room { shape + &memory } else { shape };
    let files = cut(&files, columns.saturating_sub(width(&about) + 2).max(20));
    format!("{}  {}", paint(&files, Style::Bold, colour), paint(&about, Style::Dim, colour))
}

fn verdict(report: &CompressReport, same: &str, colour: bool) -> String {
    let time = units::seconds(report.seconds);
    match report.verified {
        true => format!(
            "{} (read back and compared; {time} in all)",
            paint(&format!("verified: {same}"), Style::Good, colour)
        ),
        false => format!("not verified (--no-verify), {time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(n: usize) -> CompressReport {
        let column = |i: usize| ColumnReport {
            name: format!("a_column_{i}"),
            logical_type: "timestamp[us, UTC]".into(),
            n: 1_000_000,
            nulls: 0,
            encoding: "pco".into(),
            mode: "int-mult@60000000".into(),
            delta: "consecutive@1".into(),
            bytes: 1000 * i as u64,
            bits_per_value: i as f64,
            raw_bytes: 8_000_000,
        };
        CompressReport {
            input: "nycflights_2013q1.parquet".into(),
            output: "nycflights_2013q1.pco.zip".into(),
            input_bytes: 1,
            output_bytes: 171_000,
            seconds: 0.25,
            verified: true,
            columns: (0..n).map(column).collect(),
            left_out: Vec::new(),
            peers: vec![("zstd -3".into(), 1_930_000), ("Parquet+zstd".into(), 1_400_000)],
        }
    }

    #[test]
    fn fits_24_lines_and_the_terminal() {
        for n in [0, 1, 19, 20, 300] {
            for columns in [40, 60, 80, 100, 140] {
                let last = Last { same: "bit-identical", next: Some("next: look".into()) };
                let lines = lines(&report(n), &last, columns, false);
                assert!(lines.len() <= 24);
                assert_eq!(lines.len(), n.min(19) + 5);
                for line in lines.iter().filter(|_| columns >= 80) {
                    assert!(width(line) <= columns, "{columns}: {line}");
                }
            }
        }
    }

    #[test]
    fn others_stand_on_the_line_of_the_total() {
        let last = Last { same: "bit-identical", next: None };
        let lines = lines(&report(19), &last, 80, false);
        let total = lines.iter().find(|line| line.starts_with("total")).unwrap();
        assert!(total.contains("zstd -3 1.93 MB, Parquet+zstd 1.40 MB"), "{total}");
        assert!(total.contains("171 kB"));
    }
}
