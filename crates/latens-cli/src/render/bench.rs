//! What `bench` shows: a line a codec.

use super::bar::bar;
use super::grid::{Cell, Grid};
use super::html;
use super::style::{Style, paint};
use super::units;
use crate::bench::BenchReport;
use crate::message::one_line;

const BAR: usize = 24;

/// As text; the smallest and the fastest in each direction stand out.
pub fn text(report: &BenchReport, colour: bool) -> String {
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head = vec![dim(Cell::left("codec"))];
    head.extend(
        ["size", "ratio", "compress", "decompress"].map(|heading| dim(Cell::right(heading))),
    );
    grid.row(head);
    let best =
        |f: fn(&crate::bench::CodecReport) -> f64| report.codecs.iter().map(f).fold(0.0, f64::max);
    let (ratio, compress, decompress) =
        (best(|c| c.ratio), best(|c| c.compress_mb_s), best(|c| c.decompress_mb_s));
    let mark = |cell: Cell, is: bool| cell.style(if is { Style::Good } else { Style::Plain });
    for codec in &report.codecs {
        let speed = |mb: f64| format!("{mb:.0} MB/s");
        grid.row(vec![
            Cell::left(&codec.codec),
            Cell::right(units::bytes(codec.bytes)),
            mark(Cell::right(format!("{:.3}", codec.ratio)), codec.ratio >= ratio),
            mark(Cell::right(speed(codec.compress_mb_s)), codec.compress_mb_s >= compress),
            mark(Cell::right(speed(codec.decompress_mb_s)), codec.decompress_mb_s >= decompress),
            Cell::left(bar(codec.ratio / ratio.max(1e-9), BAR)).style(Style::Bar),
        ]);
    }
    let mut lines = vec![
        paint(&one_line(&report.input), Style::Bold, colour),
        format!("  {}", summary(report)),
        String::new(),
    ];
    lines.extend(grid.lines(colour));
    if !report.left_out.is_empty() {
        let names = one_line(&report.left_out.join(", "));
        lines.push(paint(&format!("not numbers, not measured: {names}"), Style::Dim, colour));
    }
    lines.join("\n") + "\n"
}

/// As the body of a page.
pub fn html(report: &BenchReport) -> String {
    let rows: Vec<(String, u64, String)> = report
        .codecs
        .iter()
        .map(|c| {
            let speeds = format!("{:.0} / {:.0} MB/s", c.compress_mb_s, c.decompress_mb_s);
            (c.codec.clone(), c.bytes, format!("({:.3}), {speeds}", c.ratio))
        })
        .collect();
    format!(
        "<p>{}</p><h2>Size (ratio), speed of compressing / decompressing</h2>\n{}",
        html::escape(&summary(report)),
        html::bars(&rows)
    )
}

fn summary(report: &BenchReport) -> String {
    let what = match report.columns {
        0 => "a checkpoint".to_string(),
        1 => "one column".to_string(),
        n => format!("{n} columns, each on its own"),
    };
    let part = if report.only_a_part { ", the first 256 MiB of each" } else { "" };
    let threads = match report.threads {
        1 => "one thread".to_string(),
        n => format!("{n} threads"),
    };
    format!(
        "{what}, {} in memory{part}; {threads}, medians of {} rounds by turns, results compared",
        units::bytes(report.bytes),
        report.codecs.iter().map(|codec| codec.rounds).min().unwrap_or(0)
    )
}
