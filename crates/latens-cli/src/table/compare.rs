//! Whether two tables hold the same: the check before an output gets its name.

use crate::message::{Failure, Result};
use crate::parallel;
use crate::table::source::{PIECE_ROWS, Table};

/// Compare schema, validity and values, bit by bit, columns in parallel.
///
/// # Errors
/// The first difference, or whatever reading either meets.
pub fn compare(source: &dyn Table, copy: &dyn Table) -> Result<()> {
    if source.rows() != copy.rows() {
        return Err(differs(format!("{} rows became {}", source.rows(), copy.rows())));
    }
    if source.schema() != copy.schema() {
        return Err(differs("the schema".into()));
    }
    parallel::map(source.schema().fields.len(), &|index| {
        let name = source.schema().fields.get(index).map_or("", |field| field.name.as_str());
        compare_column(source, copy, index).map_err(|e| e.within(format!("column {name}")))
    })?;
    Ok(())
}

fn compare_column(source: &dyn Table, copy: &dyn Table, index: usize) -> Result<()> {
    let mut a = source.column(index)?;
    let mut b = copy.column(index)?;
    let (mut x, mut y) = (a.next(PIECE_ROWS)?, b.next(PIECE_ROWS)?);
    let mut row = 0u64;
    // The two may come in pieces of different sizes.
    while x.rows > 0 && y.rows > 0 {
        let n = x.rows.min(y.rows);
        let (left, right) = (x.split_front(n), y.split_front(n));
        if let Some(difference) = left.first_difference(&right) {
            return Err(differs(format!("row {}", row + difference as u64)));
        }
        row += n as u64;
        if x.rows == 0 {
            x = a.next(PIECE_ROWS)?;
        }
        if y.rows == 0 {
            y = b.next(PIECE_ROWS)?;
        }
    }
    match x.rows == y.rows {
        true => Ok(()),
        false => Err(differs(format!("row {row}"))),
    }
}

#[cold]
fn differs(what: String) -> Failure {
    Failure::new(format!("what was written does not read back the same: {what}"))
        .hint("nothing was kept; please report this")
}
