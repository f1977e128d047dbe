//! The tables of a part, made ready for decoding.

use crate::ans::rans::DecodeTables;
use crate::error::{Error, Result};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::layout::table::Table;

/// The tables that `symbols` names, which must have its size and alphabets of `bits`.
pub(crate) fn tables(symbols: &Symbols, bits: u32, bank: &[Table]) -> Result<DecodeTables> {
    let bits = if symbols.pairs { 8 } else { bits };
    let find = |&number: &usize| {
        let fits = |t: &&Table| t.bits == bits && t.table_bits == symbols.table_bits;
        let table = bank.get(number).filter(fits);
        table.map(|t| t.frequencies.as_slice()).ok_or_else(|| {
            Error::corrupt(0, format!("table {number} does not exist or is of another size"))
        })
    };
    let tables = symbols.tables.iter().map(find).collect::<Result<Vec<_>>>()?;
    if tables.is_empty() && symbols.count > 0 {
        return Err(Error::corrupt(0, "symbols without a table"));
    }
    Ok(DecodeTables::new(symbols.table_bits, tables.into_iter()))
}
