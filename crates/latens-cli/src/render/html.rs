//! One self-contained page: no scripts, nothing fetched, pictures as inline SVG.

use std::fmt::Write;

use super::inspect::{largest, summary};
use super::units;
use crate::array::inspect::{Chunk, Latent, PcoInspection};

/// Colours of the parts of a chunk, in the order of [`Chunk::parts`].
const COLOURS: [&str; 5] = ["#2a9d8f", "#e9c46a", "#e76f51", "#7b8cde", "#b56576"];
const WIDTH: f64 = 900.0;
/// Columns that the picture of all chunks has at most: neighbours are summed beyond it.
const MOST_COLUMNS: usize = 180;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2rem auto;\
padding:0 1rem;color:#222;background:#fff}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\
svg{width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}\
table{border-collapse:collapse}td,th{padding:.15rem .8rem;text-align:right;\
border-bottom:1px solid #8884}td:first-child,th:first-child{text-align:left}\
.key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181a1b}}";

/// A page around `body`.
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}</body></html>\n"
    )
}

/// A Pco file: what it is, where the bytes go, the bins of its largest chunk.
pub fn pco(file: &PcoInspection) -> String {
    let mut html = String::new();
    for line in summary(file) {
        let _ = writeln!(html, "<p>{}</p>", escape(&line));
    }
    if let Some((index, chunk)) = largest(file) {
        html.push_str("<h2>Where the bytes go</h2>\n");
        html.push_str(&legend(chunk));
        html.push_str(&all_chunks(file));
        html.push_str(&parts_table(chunk, index, file.chunks.len()));
        for latent in chunk.latents.iter().filter(|latent| !latent.bins.is_empty()) {
            html.push_str(&bins(latent));
        }
    }
    html
}

/// Horizontal bars: name, bytes, and what else is to be said of each.
pub fn bars(rows: &[(String, u64, String)]) -> String {
    const ROW: f64 = 22.0;
    let most = rows.iter().map(|(_, bytes, _)| *bytes).max().unwrap_or(0).max(1) as f64;
    let mut svg = open_svg(rows.len() as f64 * ROW + 4.0, "bytes of each column");
    for (i, (name, bytes, note)) in rows.iter().enumerate() {
        let y = i as f64 * ROW;
        let width = (*bytes as f64 / most * 420.0).max(1.0);
        let (name, label) = (escape(name), escape(&format!("{} {note}", units::bytes(*bytes))));
        let _ = writeln!(
            svg,
            "<text x=\"170\" y=\"{:.0}\" text-anchor=\"end\">{name}</text>\
             <rect x=\"180\" y=\"{:.0}\" width=\"{width:.1}\" height=\"16\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.0}\">{label}</text>",
            y + 14.0,
            y + 2.0,
            COLOURS[0],
            186.0 + width,
            y + 14.0,
        );
    }
    svg + "</svg>\n"
}

/// A table: a head, and rows of cells.
pub fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let head: String = head.iter().map(|cell| format!("<th>{}</th>", escape(cell))).collect();
    let mut html = format!("<table><tr>{head}</tr>\n");
    for row in rows {
        let row: String = row.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        let _ = writeln!(html, "<tr>{row}</tr>");
    }
    html + "</table>\n"
}

/// A part of a page that opens on a click.
pub fn details(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escape(summary))
}

fn legend(chunk: &Chunk) -> String {
    let parts = chunk.parts();
    let keys = parts.iter().enumerate().map(|(i, (name, _))| {
        format!("<span class=\"key\" style=\"background:{}\"></span>{}", colour(i), escape(name))
    });
    format!("<p>{}</p>\n", keys.collect::<String>())
}

/// A stacked column for each chunk, or for each run of neighbours where there are many.
fn all_chunks(file: &PcoInspection) -> String {
    const HEIGHT: f64 = 220.0;
    let group = file.chunks.len().div_ceil(MOST_COLUMNS).max(1);
    let groups: Vec<&[Chunk]> = file.chunks.chunks(group).collect();
    let bytes = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.bytes).sum::<u64>();
    let most = groups.iter().map(|chunks| bytes(chunks)).max().unwrap_or(0).max(1) as f64;
    let step = (WIDTH / groups.len() as f64).min(120.0);
    let mut svg = open_svg(HEIGHT + 20.0, "bytes of the chunks by what they are for");
    for (column, chunks) in groups.iter().enumerate() {
        let x = column as f64 * step;
        let mut y = HEIGHT;
        let _ = write!(svg, "<g><title>{}</title>", escape(&hint(chunks, column * group)));
        let parts = chunks.iter().map(|chunk| chunk.parts().len()).max().unwrap_or(0);
        for part in 0..parts {
            let sum = chunks.iter().filter_map(|chunk| chunk.parts().get(part).map(|p| p.1));
            let height = sum.sum::<f64>() / most * (HEIGHT - 10.0);
            y -= height;
            let _ = write!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{}\"/>",
                step * 0.9,
                colour(part)
            );
        }
        svg.push_str("</g>\n");
    }
    let _ = writeln!(
        svg,
        "<text x=\"0\" y=\"{:.0}\">{} in file order, the highest column {}</text></svg>",
        HEIGHT + 15.0,
        units::counted(file.chunks.len() as u64, "chunk"),
        units::bytes(bytes(groups.iter().max_by_key(|g| bytes(g)).copied().unwrap_or(&[])))
    );
    svg
}

fn hint(chunks: &[Chunk], first: usize) -> String {
    match chunks {
        [chunk] => format!(
            "chunk {first}: {}, {}, {}, {}",
            units::counted(chunk.n, "number"),
            units::bytes(chunk.bytes),
            chunk.mode,
            chunk.delta
        ),
        many => format!("chunks {first} to {}", first + many.len() - 1),
    }
}

fn parts_table(chunk: &Chunk, index: usize, of: usize) -> String {
    let which = match of {
        1 => "The only chunk".to_string(),
        _ => format!("Chunk {index}, the largest"),
    };
    let head = format!(
        "<h2>{which}: {}, {}</h2>\n<table><tr><th>part</th><th>bits a value</th><th>share</th></tr>",
        escape(&chunk.mode),
        escape(&chunk.delta)
    );
    let rows = chunk.parts().into_iter().map(|(name, bytes)| {
        format!(
            "<tr><td>{}</td><td>{:.3}</td><td>{:.1} %</td></tr>",
            escape(&name),
            bytes * 8.0 / chunk.n.max(1) as f64,
            100.0 * bytes / chunk.bytes.max(1) as f64
        )
    });
    format!("{head}{}</table>\n", rows.collect::<String>())
}

/// Bins side by side: as wide as values fall in them, as high as a value costs there. The area is
/// the size.
fn bins(latent: &Latent) -> String {
    const HEIGHT: f64 = 180.0;
    let most = latent.bins.iter().map(|bin| bin.cost).fold(1.0, f64::max);
    let mut svg = open_svg(HEIGHT + 20.0, "bins");
    let mut x = 0.0;
    for (i, bin) in latent.bins.iter().enumerate() {
        let width = bin.share * WIDTH;
        let offset = f64::from(bin.offset_bits) / most * (HEIGHT - 10.0);
        let code = (bin.cost - f64::from(bin.offset_bits)) / most * (HEIGHT - 10.0);
        let _ = writeln!(
            svg,
            "<g><title>bin {i} from {}: weight {}/{}, {} offset bits, {:.2} bits a value</title>\
             <rect x=\"{x:.2}\" y=\"{:.1}\" width=\"{width:.2}\" height=\"{offset:.1}\" fill=\"{}\" \
             stroke=\"#8886\" stroke-width=\".5\"/>\
             <rect x=\"{x:.2}\" y=\"{:.1}\" width=\"{width:.2}\" height=\"{code:.1}\" fill=\"{}\" \
             stroke=\"#8886\" stroke-width=\".5\"/></g>",
            escape(&bin.reads),
            bin.weight,
            latent.table_size,
            bin.offset_bits,
            bin.cost,
            HEIGHT - offset,
            COLOURS[0],
            HEIGHT - offset - code,
            COLOURS[1],
        );
        x += width;
    }
    let _ = writeln!(
        svg,
        "<text x=\"0\" y=\"{:.0}\">values in the bin (width) × bits a value (height, at most {most:.1}): \
         the area is the size; below the offset, above it the code</text></svg>",
        HEIGHT + 15.0
    );
    format!(
        "<h2>{}: {}, {:.2} bits a value</h2>\n{svg}",
        escape(&latent.name),
        units::counted(latent.bins.len() as u64, "bin"),
        latent.bits_per_value
    )
}

fn open_svg(height: f64, label: &str) -> String {
    format!("<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{label}\">\n")
}

fn colour(part: usize) -> &'static str {
    COLOURS[part % COLOURS.len()]
}

/// Text that cannot be markup.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::inspect::tests::example;
    use super::*;

    #[test]
    fn self_contained_and_escaped() {
        for chunks in [0, 1, 3, 1000] {
            let html = page("<b>&.pco", &pco(&example(chunks)));
            assert!(html.contains("<title>&lt;b&gt;&amp;.pco</title>"));
            assert!(!html.contains("http") && !html.contains("<script"));
            assert!(!html.contains("NaN") && !html.contains("inf\""));
            assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
            assert_eq!(html.contains("<svg"), chunks > 0);
        }
        assert!(bars(&[("a\"b".into(), 10, String::new())]).contains("a&quot;b"));
    }
}
