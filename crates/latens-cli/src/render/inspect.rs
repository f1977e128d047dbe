//! What `inspect` prints of a Pco file: a summary, its chunks, and the largest chunk in detail.

use super::bar::bar;
use super::grid::{Cell, Grid};
use super::style::{Style, paint};
use super::units;
use crate::array::inspect::{Chunk, Latent, PcoInspection};
use crate::array::pco::count_bytes;
use crate::message::one_line;

/// Chunks and bins that are listed; of more of them, the first ones (the heaviest bins).
const MOST: usize = 16;
const BAR: usize = 24;

/// The page as text.
pub fn pco(name: &str, file: &PcoInspection, colour: bool) -> String {
    let mut lines = vec![paint(&one_line(name), Style::Bold, colour)];
    lines.extend(summary(file).into_iter().map(|line| format!("  {line}")));
    if file.chunks.len() > 1 {
        lines.push(String::new());
        lines.extend(chunks(file, colour));
    }
    if let Some((index, chunk)) = largest(file) {
        lines.push(String::new());
        let which = match file.chunks.len() {
            1 => "the only chunk".to_string(),
            _ => format!("chunk {index}, the largest"),
        };
        lines.push(paint(&which, Style::Bold, colour));
        lines.extend(parts(chunk, colour));
        for latent in chunk.latents.iter().filter(|latent| !latent.bins.is_empty()) {
            lines.push(String::new());
            lines.extend(bins(latent, colour));
        }
    }
    lines.join("\n") + "\n"
}

/// Versions, counts, sizes.
pub fn summary(file: &PcoInspection) -> Vec<String> {
    let ty = file.number_type.as_deref().unwrap_or("of no type");
    let checksum = if file.checksum { "checksums hold" } else { "no checksum" };
    let plural = if file.chunks.len() == 1 { "" } else { "s" };
    let mut sizes = format!("{} {ty}, {}", units::count(file.n), units::bytes(file.bytes));
    if file.n > 0 {
        let bits = crate::report::bits_per_value(file.bytes, file.n);
        let ratio = units::ratio(file.raw_bytes(), file.bytes);
        sizes.push_str(&format!(", {bits:.2} bits a value, {ratio} smaller than in memory"));
    }
    let mut lines = vec![
        format!(
            "standalone Pco {}, format {}, {} chunk{plural}, {checksum}",
            file.standalone_version,
            file.format_version,
            units::count(file.chunks.len() as u64),
        ),
        sizes,
    ];
    if file.trailing {
        let more = count_bytes(file.trailing_bytes);
        lines.push(format!("{more} more behind the end, from byte {} on", file.bytes));
    }
    lines
}

/// The chunk with the most bytes.
pub fn largest(file: &PcoInspection) -> Option<(usize, &Chunk)> {
    // Of equals the first.
    file.chunks.iter().enumerate().rev().max_by_key(|(_, chunk)| chunk.bytes)
}

fn chunks(file: &PcoInspection, colour: bool) -> Vec<String> {
    let mut grid = Grid::default();
    let dim = |cell: Cell| cell.style(Style::Dim);
    grid.row(vec![
        dim(Cell::right("chunk")),
        dim(Cell::right("numbers")),
        dim(Cell::left("mode")),
        dim(Cell::left("delta")),
        dim(Cell::right("bits")),
        dim(Cell::right("size")),
    ]);
    let most = file.chunks.iter().map(|chunk| chunk.bytes).max().unwrap_or(1);
    for (index, chunk) in file.chunks.iter().enumerate().take(MOST) {
        let bits = crate::report::bits_per_value(chunk.bytes, chunk.n);
        grid.row(vec![
            Cell::right(index.to_string()),
            Cell::right(units::count(chunk.n)),
            Cell::left(&chunk.mode),
            Cell::left(&chunk.delta),
            Cell::right(format!("{bits:.2}")),
            Cell::right(units::bytes(chunk.bytes)),
            Cell::left(bar(chunk.bytes as f64 / most as f64, BAR)).style(Style::Bar),
        ]);
    }
    let mut lines = grid.lines(colour);
    if file.chunks.len() > MOST {
        lines.push(format!("  … {} more", units::count((file.chunks.len() - MOST) as u64)));
    }
    lines
}

/// Where the bytes of a chunk go.
fn parts(chunk: &Chunk, colour: bool) -> Vec<String> {
    let mut grid = Grid::default();
    let dim = |cell: Cell| cell.style(Style::Dim);
    let title = format!("{}, {}", chunk.mode, chunk.delta);
    grid.row(vec![
        dim(Cell::left(title)),
        dim(Cell::right("bits")),
        dim(Cell::right("share")),
        dim(Cell::right("size")),
    ]);
    let all = chunk.bytes.max(1) as f64;
    for (name, bytes) in chunk.parts() {
        grid.row(vec![
            Cell::left(name),
            Cell::right(format!("{:.2}", bytes * 8.0 / chunk.n.max(1) as f64)),
            Cell::right(format!("{:.1} %", 100.0 * bytes / all)),
            Cell::right(units::bytes(whole(bytes))),
            Cell::left(bar(bytes / all, BAR)).style(Style::Bar),
        ]);
    }
    grid.lines(colour).into_iter().map(|line| format!("  {line}")).collect()
}

/// The bins of a latent variable, heaviest first where there are many.
fn bins(latent: &Latent, colour: bool) -> Vec<String> {
    let plural = if latent.bins.len() == 1 { "bin" } else { "bins" };
    let title = format!("  {}: {} {plural}", latent.name, latent.bins.len());
    let mut shown: Vec<usize> = (0..latent.bins.len()).collect();
    let note = if shown.len() > MOST {
        shown.sort_by_key(|&i| std::cmp::Reverse(latent.bins[i].weight));
        shown.truncate(MOST);
        shown.sort_unstable();
        let share: f64 = shown.iter().map(|&i| latent.bins[i].share).sum();
        format!(", of which the {MOST} heaviest with {:.1} % of the values", 100.0 * share)
    } else {
        String::new()
    };
    let mut grid = Grid::default();
    let dim = |cell: Cell| cell.style(Style::Dim);
    grid.row(
        ["from", "offset bits", "weight", "values", "bits a value"]
            .map(|name| dim(Cell::right(name)))
            .into(),
    );
    let most = shown.iter().map(|&i| latent.bins[i].share).fold(0.0, f64::max);
    for bin in shown.iter().map(|&i| &latent.bins[i]) {
        grid.row(vec![
            Cell::right(&bin.reads),
            Cell::right(bin.offset_bits.to_string()),
            Cell::right(format!("{}/{}", bin.weight, latent.table_size)),
            Cell::right(format!("{:.1} %", 100.0 * bin.share)),
            Cell::right(format!("{:.2}", bin.cost)),
            Cell::left(bar(bin.share / most, BAR)).style(Style::Bar),
        ]);
    }
    let rows = grid.lines(colour).into_iter().map(|line| format!("    {line}"));
    std::iter::once(format!("{}{note}", paint(&title, Style::Bold, colour))).chain(rows).collect()
}

/// Bytes as a whole number.
fn whole(bytes: f64) -> u64 {
    // `as` saturates, and takes NaN to 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, not negative"
    )]
    let whole = bytes.max(0.0).round() as u64;
    whole
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::array::inspect::Bin;

    pub(crate) fn example(chunks: usize) -> PcoInspection {
        let bin = |i: u32, bins: u32| Bin {
            lower: u64::from(i) * 100,
            reads: format!("{:+}", i * 100),
            offset_bits: i % 9,
            weight: 1 << (i % 4),
            share: 1.0 / f64::from(bins),
            cost: 6.5,
        };
        let latent = |name: &str, bins: u32| Latent {
            name: name.into(),
            bits_per_value: 3.25,
            body_bits: 851_968,
            table_size: 64,
            bins: (0..bins).map(|i| bin(i, bins)).collect(),
        };
        let chunk = Chunk {
            n: 262_144,
            number_type: "f64",
            bytes: 213_600,
            offset: 4,
            mode: "float-mult@0.01".into(),
            delta: "consecutive@1".into(),
            meta_bytes: 608,
            latents: vec![latent("primary", 40), latent("secondary", 1)],
        };
        PcoInspection {
            kind: "pco",
            standalone_version: 3,
            format_version: "4.1".into(),
            number_type: Some("f64".into()),
            n: 262_144 * chunks as u64,
            checksum: true,
            bytes: 213_600 * chunks as u64 + 100,
            trailing: false,
            trailing_bytes: 0,
            chunks: vec![chunk; chunks],
        }
    }

    #[test]
    fn shows_what_there_is() {
        for chunks in [0, 1, 3, 40] {
            let text = pco("a.pco", &example(chunks), false);
            assert!(text.contains("standalone Pco 3, format 4.1"), "{text}");
            assert_eq!(text.contains("primary"), chunks > 0);
            assert_eq!(text.contains("… 24 more"), chunks == 40);
            assert!(text.lines().count() < 60);
        }
    }
}
