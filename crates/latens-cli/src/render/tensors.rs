//! What `inspect` shows of a `.wcodec`: a line a tensor, and what its tools are worth.

use super::bar::bar;
use super::grid::{Cell, Grid, end_of};
use super::html;
use super::style::{Style, paint};
use super::units;
use crate::checkpoint::ablate::Ablation;
use crate::checkpoint::inspect::{CheckpointInspection, Tensor};
use crate::message::one_line;

const BAR: usize = 12;
/// Columns that a name takes at most: one long name would move everything else out of sight. `--json` has all of it.
pub const LONGEST: usize = 80;

/// As text.
pub fn text(name: &str, file: &CheckpointInspection, colour: bool) -> String {
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head: Vec<Cell> =
        ["tensor", "shape", "packing", "codec"].map(|t| dim(Cell::left(t))).into();
    head.extend(["bits", "flat", "order 0", "size"].map(|t| dim(Cell::right(t))));
    head.push(dim(Cell::left("")));
    head.push(dim(Cell::left("tools")));
    grid.row(head);
    let most = file.tensors.iter().map(|t| t.bytes).max().unwrap_or(0).max(1) as f64;
    for tensor in &file.tensors {
        let [packing, codec, bits, flat, entropy] = cells(tensor);
        grid.row(vec![
            Cell::left(end_of(&tensor.name, LONGEST)),
            dim(Cell::left(shapes(tensor))),
            dim(Cell::left(packing)),
            Cell::left(codec),
            Cell::right(bits),
            dim(Cell::right(flat)),
            dim(Cell::right(entropy)),
            Cell::right(units::bytes(tensor.bytes)),
            Cell::left(bar(tensor.bytes as f64 / most, BAR)).style(Style::Bar),
            dim(Cell::left(tools(tensor))),
        ]);
    }
    let mut lines = vec![paint(&one_line(name), Style::Bold, colour)];
    lines.extend(summary(file).into_iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    lines.extend(grid.lines(colour));
    lines.push(paint(&footer(file), Style::Dim, colour));
    lines.join("\n") + "\n"
}

/// Packing, codec, bits a weight, flat bits, entropy of a tensor.
fn cells(tensor: &Tensor) -> [String; 5] {
    let none = || "-".to_string();
    let flat = tensor.weights.map(|n| crate::report::bits_per_value(tensor.flat_bytes, n));
    [
        // Of what cannot be read only the type is known.
        tensor.packing.clone().unwrap_or_else(|| tensor.dtype.clone()),
        tensor.codec.clone().unwrap_or_else(none),
        tensor.bits_per_weight.map_or_else(none, |bits| format!("{bits:.3}")),
        flat.map_or_else(none, |bits| format!("{bits:.2}")),
        tensor.order0_entropy.map_or_else(none, |bits| format!("{bits:.3}")),
    ]
}

/// The tensor's shape, and that of its weights where some share an element.
fn shapes(tensor: &Tensor) -> String {
    let elements: u64 = tensor.shape.iter().fold(1, |n, d| n.saturating_mul(*d));
    let own = shape(&tensor.shape);
    match (tensor.rows, tensor.cols) {
        (Some(rows), Some(cols)) => {
            let packed =
                tensor.weights == rows.checked_mul(cols) && tensor.weights > Some(elements);
            if packed { format!("{own} of {}", shape(&[rows, cols])) } else { own }
        }
        _ => own,
    }
}

/// As the body of a page.
pub fn html(file: &CheckpointInspection) -> String {
    let bar = |t: &Tensor| {
        let note = match (&t.packing, &t.codec, t.bits_per_weight) {
            (Some(packing), Some(codec), Some(bits)) => {
                format!("{packing}, {codec}, {bits:.2} bits a weight")
            }
            _ => t.unread().unwrap_or_default(),
        };
        (t.name.clone(), t.bytes, note)
    };
    let rows: Vec<(String, u64, String)> = file.tensors.iter().map(bar).collect();
    let mut page = String::new();
    for line in summary(file) {
        page.push_str(&format!("<p>{}</p>\n", html::escape(&line)));
    }
    page.push_str("<h2>Where the bytes go</h2>\n");
    page.push_str(&html::bars(&rows));
    page.push_str(&format!("<p>{}</p>\n", html::escape(&footer(file))));
    page.push_str("<h2>Tensor by tensor</h2>\n");
    let rows = file.tensors.iter().map(|t| {
        let [packing, codec, bits, flat, entropy] = cells(t);
        let (name, size) = (t.name.clone(), units::bytes(t.bytes));
        vec![name, shapes(t), packing, codec, bits, flat, entropy, size, tools(t)]
    });
    let head = [
        "tensor",
        "shape",
        "packing",
        "codec",
        "bits a weight",
        "flat",
        "order 0",
        "size",
        "tools",
    ];
    page + &html::table(&head, rows)
}

/// What each tool gains or costs.
pub fn ablation(name: &str, found: &Ablation, colour: bool) -> String {
    let dim = |cell: Cell| cell.style(Style::Dim);
    let mut grid = Grid::default();
    let mut head = vec![dim(Cell::left("tool"))];
    head.extend(["file", "of flat", "bits a weight of all"].map(|t| dim(Cell::right(t))));
    head.push(dim(Cell::left("forced")));
    grid.row(head);
    let share =
        |bytes: u64| format!("{:.2} %", 100.0 * bytes as f64 / found.flat_bytes.max(1) as f64);
    for row in &found.rows {
        let gains = row.bits_per_weight.is_some_and(|bits| bits < -0.0005);
        let none = || "-".to_string();
        grid.row(vec![
            Cell::left(row.tool),
            Cell::right(row.bytes.map_or_else(none, units::bytes)),
            Cell::right(row.bytes.map_or_else(none, share)),
            Cell::right(row.bits_per_weight.map_or_else(none, |bits| format!("{bits:+.4}")))
                .style(if gains { Style::Good } else { Style::Plain }),
            dim(Cell::left(&row.what)),
        ]);
    }
    let (chosen, plain) = (found.chosen_bytes, found.plain_bytes);
    let mut lines = vec![
        paint(&one_line(name), Style::Bold, colour),
        format!(
            "  {} flat, {} weights, {} of them quantised; the encoder's own choice: {} ({})",
            units::bytes(found.flat_bytes),
            units::count(found.weights),
            units::count(found.quantised),
            units::bytes(chosen),
            share(chosen)
        ),
        format!(
            "  each tool forced on every plane of symbols, against none but classes: {} ({})",
            units::bytes(plain),
            share(plain)
        ),
        String::new(),
    ];
    lines.extend(grid.lines(colour));
    lines.join("\n") + "\n"
}

fn summary(file: &CheckpointInspection) -> Vec<String> {
    let tensors = units::counted(file.tensors.len() as u64, "tensor");
    let [bytes, flat] = [file.bytes, file.flat_bytes].map(units::bytes);
    let mut lines = vec![match file.files.is_empty() {
        false => {
            let ratio = units::ratio(file.flat_bytes, file.bytes);
            format!("wcodec: {tensors}, {bytes} of {flat} flat ({ratio})")
        }
        true => format!("wcodec: {tensors} of {flat} flat; {bytes}, which name no source file"),
    }];
    for (name, len) in &file.files {
        lines.push(one_line(&format!("holds {name}, {}", units::bytes(*len))));
    }
    lines.extend(file.base.as_ref().map(|base| one_line(&format!("made against {base}"))));
    lines.push(format!("model hash {}", file.model_hash));
    lines
}

/// What no codec made smaller, and of how many tensors that is not known.
fn footer(file: &CheckpointInspection) -> String {
    let of = |whole: bool| {
        let raw = file.tensors.iter().filter(|t| t.raw == Some(whole)).filter_map(|t| t.raw_bytes);
        let raw = raw.filter(|&bytes| bytes > 0);
        let (count, bytes) = raw.fold((0u64, 0u64), |(n, sum), bytes| (n + 1, sum + bytes));
        (count > 0).then(|| (units::counted(count, "tensor"), units::bytes(bytes)))
    };
    let raw = match (of(true), of(false)) {
        (None, None) => "nothing stayed raw".to_string(),
        (Some((tensors, bytes)), None) => format!("{tensors} stayed raw, {bytes}"),
        (None, Some((tensors, bytes))) => format!("parts of {tensors} stayed raw, {bytes}"),
        (Some((tensors, bytes)), Some((partly, more))) => {
            format!("{tensors} stayed raw, {bytes}, and parts of {partly}, {more}")
        }
    };
    let unread = file.tensors.iter().filter(|tensor| tensor.unread().is_some()).count() as u64;
    let raw = match unread {
        0 => raw,
        all if all == file.tensors.len() as u64 => "no tensor was read".into(),
        _ => format!("{} not read, of the others {raw}", units::counted(unread, "tensor")),
    };
    let all: u64 = file.tensors.iter().map(|tensor| tensor.bytes).sum();
    let rest = units::bytes(file.bytes.saturating_sub(all));
    format!("{raw}; {rest} besides: tables, headers, index")
}

/// `32×3×3×3`
pub(super) fn shape(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("×")
}

/// Predictors and transforms that are used, with their shares, contexts and pairs; or why nothing is known of them.
fn tools(tensor: &Tensor) -> String {
    if let Some(unread) = tensor.unread() {
        return format!("{} flat; {unread}", units::bytes(tensor.flat_bytes));
    }
    let mut words = Vec::new();
    for uses in [&tensor.predictors, &tensor.transforms] {
        let all: u64 = uses.values().sum();
        for (name, &count) in uses.iter().filter(|(name, _)| **name != "NONE") {
            if count > 0 {
                words.push(format!("{name} {:.0} %", 100.0 * count as f64 / all.max(1) as f64));
            }
        }
    }
    if !tensor.contexts.is_empty() {
        words.push(format!("classes by {}", tensor.contexts.join(", ")));
    }
    if let Some(pairs) = tensor.pairs {
        words.push(format!("pairs of {pairs}"));
    }
    words.join(", ")
}
