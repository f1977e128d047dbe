//! What other means make of the same table, for the line of the total.

use crate::io::parquet::{Options, write};
use crate::message::Result;
use crate::parallel;
use crate::table::own_type;
use crate::table::piece::Values;
use crate::table::source::{PIECE_ROWS, Table};
use crate::zstd_peer::{Count, ZstdSize};

/// Larger tables are not measured: it would take longer than compressing them.
const MOST: u64 = 256 << 20;

/// Names and sizes; none of a table that is too large.
///
/// # Errors
/// Those of the source.
pub fn measure(table: &dyn Table) -> Result<Vec<(String, u64)>> {
    let columns = table.schema().fields.len();
    let bytes = (0..columns).map(|index| table.column_bytes(index));
    if columns == 0 || bytes.fold(0, u64::saturating_add) > MOST {
        return Ok(Vec::new());
    }
    let (mut zstd, mut parquet) = (Vec::new(), 0);
    parallel::both(
        &mut || {
            zstd = parallel::map(columns, &|index| zstd_column(table, index))?;
            Ok(())
        },
        &mut || {
            let mut out = Count::default();
            write(table, &Options::default(), &mut out)?;
            parquet = out.bytes();
            Ok(())
        },
    )?;
    Ok(vec![("zstd -3".into(), zstd.iter().sum()), ("Parquet+zstd".into(), parquet)])
}

/// A column's values as their own type lies in memory, a byte a row for its nulls where there are any.
fn zstd_column(table: &dyn Table, index: usize) -> Result<u64> {
    let mut column = table.column(index)?;
    let mut size = ZstdSize::new()?;
    loop {
        let piece = column.next(PIECE_ROWS)?;
        if piece.rows == 0 {
            return size.finish();
        }
        let bytes = match (&piece.values, table.schema().fields.get(index)) {
            (Values::Numbers(numbers), Some(field)) => {
                let own = own_type::narrow(field, numbers.clone());
                own.map_or_else(|_| numbers.to_le_bytes(), |own| own.to_le_bytes())
            }
            (values, _) => values.to_le_bytes(),
        };
        size.add(&bytes)?;
        if let Some(valid) = &piece.valid {
            size.add(&valid.iter().map(|&valid| u8::from(valid)).collect::<Vec<u8>>())?;
        }
    }
}
