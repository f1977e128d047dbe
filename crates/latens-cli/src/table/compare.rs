//! Whether two tables hold the same: the check before an output gets its name.

use crate::message::{Failure, Result};
use crate::table::source::{PIECE_ROWS, Table};
use rayon::prelude::*;

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
    (0..source.schema().fields.len()).into_par_iter().try_for_each(|index| {
        let name = source.schema().fields.get(index).map_or("", |field| field.name.as_str());
        compare_column(source, copy, index).map_err(|e| e.within(format!("column {name}")))
    })
}

fn compare_column(source: &dyn Table, copy: &dyn Table, index: usize) -> Result<()> {
    let mut a = source.column(index)?;
    let mut b = copy.column(index)?;
    let mut row = 0u64;
    loop {
        let (x, y) = (a.next(PIECE_ROWS)?, b.next(PIECE_ROWS)?);
        if let Some(difference) = x.first_difference(&y) {
            return Err(differs(format!("row {}", row + difference as u64)));
        }
        if x.rows == 0 {
            return Ok(());
        }
        row += x.rows as u64;
    }
}

#[cold]
fn differs(what: String) -> Failure {
    Failure::new(format!("what was written does not read back the same: {what}"))
        .hint("nothing was kept; please report this")
}
