//! Rows of cells, aligned.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{Style, paint};
use crate::message::one_line;

/// A cell: text, side, style.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    right: bool,
    style: Style,
    /// Columns of the grid that it covers.
    span: usize,
}

impl Default for Cell {
    fn default() -> Self {
        Cell { text: String::new(), right: false, style: Style::Plain, span: 1 }
    }
}

impl Cell {
    /// Text, to the left.
    pub fn left(text: impl AsRef<str>) -> Self {
        Cell { text: one_line(text.as_ref()), ..Cell::default() }
    }

    /// A number, to the right.
    pub fn right(text: impl AsRef<str>) -> Self {
        Cell { right: true, ..Cell::left(text) }
    }

    /// Over so many columns.
    #[must_use]
    pub fn span(mut self, columns: usize) -> Self {
        self.span = columns;
        self
    }

    /// In a style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows of cells; a row may be shorter than others.
#[derive(Debug, Default)]
pub struct Grid {
    rows: Vec<Vec<Cell>>,
    /// Widths that are settled; further columns take what they need.
    settled: Vec<usize>,
}

impl Grid {
    /// Settle the widths of the first columns: longer cells are cut.
    pub fn settle(&mut self, widths: &[usize]) {
        self.settled = widths.to_vec();
    }

    /// One more cell at the end of a row.
    pub fn push(&mut self, row: usize, cell: Cell) {
        if let Some(row) = self.rows.get_mut(row) {
            row.push(cell);
        }
    }

    /// One more row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The widths that the columns take; cells over several of them do not count.
    pub fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            let mut column = 0;
            for cell in row {
                widths.resize(widths.len().max(column + cell.span), 0);
                if cell.span == 1 {
                    widths[column] = width(&cell.text).max(widths[column]);
                }
                column += cell.span;
            }
        }
        for (width, settled) in widths.iter_mut().zip(&self.settled) {
            *width = *settled;
        }
        widths
    }

    /// The rows as lines, two spaces between columns, nothing at the end of a line.
    pub fn lines(&self, colour: bool) -> Vec<String> {
        let widths = self.widths();
        self.rows.iter().map(|row| line(row, &widths, colour)).collect()
    }
}

fn line(row: &[Cell], widths: &[usize], colour: bool) -> String {
    let mut text = String::new();
    let mut gap = 0;
    let mut column = 0;
    for cell in row {
        let covered = &widths[column..column + cell.span];
        let room = covered.iter().sum::<usize>() + 2 * cell.span.saturating_sub(1);
        let shown = cut(&cell.text, room);
        let spare = room - width(&shown);
        let before = gap + if cell.right { spare } else { 0 };
        if shown.is_empty() {
            gap += 2 + room;
        } else {
            text.extend(std::iter::repeat_n(' ', before));
            text.push_str(&paint(&shown, cell.style, colour));
            gap = 2 + if cell.right { 0 } else { spare };
        }
        column += cell.span;
    }
    text
}

/// At most so many columns, with `…` where something is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width(&kept) + c.width().unwrap_or(0) + 1 > columns {
            break;
        }
        kept.push(c);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The last `columns` of a name, with `…` before them where something is missing.
pub fn end_of(name: &str, columns: usize) -> String {
    let name = one_line(name);
    if width(&name) <= columns {
        return name;
    }
    let mut kept: String = name.chars().rev().take(columns.saturating_sub(1)).collect();
    kept = kept.chars().rev().collect();
    format!("…{kept}")
}

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_and_cut() {
        let mut grid = Grid::default();
        grid.settle(&[5]);
        grid.row(vec![Cell::left("name"), Cell::right("n"), Cell::left("x")]);
        grid.row(vec![Cell::left("a long one"), Cell::right("1234"), Cell::left("")]);
        grid.row(vec![Cell::left("温度"), Cell::right(""), Cell::left("y")]);
        assert_eq!(grid.lines(false), ["name      n  x", "a lo…  1234", "温度         y"]);
        let painted = Cell::left("b").style(Style::Bold);
        let mut grid = Grid::default();
        grid.row(vec![painted]);
        assert_eq!(grid.lines(true), ["\x1b[1mb\x1b[0m"]);
    }
}
