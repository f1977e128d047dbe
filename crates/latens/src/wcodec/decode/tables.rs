//! The tables of a part, made ready for decoding.

use crate::error::{Error, Result};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::layout::table::Table;
use latens_kernels::rans::{self, Tables, WideTables};

/// Slots of the tables of all classes, for the kernels.
pub(crate) enum Slots {
    /// Up to 12 bits.
    Narrow(Vec<u32>),
    /// More.
    Wide(Vec<u64>),
}

/// The tables as the kernels take them.
#[derive(Clone, Copy)]
pub(crate) enum Ready<'a> {
    Narrow(Tables<'a>),
    Wide(WideTables<'a>),
}

impl Slots {
    /// The tables that `symbols` names, which must have its size and alphabets of `bits`.
    pub(crate) fn new(symbols: &Symbols, bits: u32, bank: &[Table]) -> Result<Self> {
        let bits = if symbols.pairs || symbols.has_transform() { 8 } else { bits };
        let size = symbols.table_bits;
        let find = |&number: &usize| {
            let table = bank.get(number).filter(|t| t.bits == bits && t.table_bits == size);
            table.ok_or_else(|| {
                Error::corrupt(0, format!("table {number} does not exist or is of another size"))
            })
        };
        let tables = symbols.tables.iter().map(find).collect::<Result<Vec<_>>>()?;
        if tables.is_empty() && symbols.count > 0 {
            return Err(Error::corrupt(0, "symbols without a table"));
        }
        Ok(if size <= rans::MAX_BITS {
            Slots::Narrow(fill(&tables, size, rans::entry))
        } else {
            Slots::Wide(fill(&tables, size, rans::wide_entry))
        })
    }

    /// As the kernels take them; `None` where there are none.
    pub(crate) fn ready(&self, size: u32) -> Option<Ready<'_>> {
        match self {
            Slots::Narrow(slots) => Tables::new(slots, size).map(Ready::Narrow),
            Slots::Wide(slots) => WideTables::new(slots, size).map(Ready::Wide),
        }
    }
}

fn fill<T: Copy>(tables: &[&Table], size: u32, entry: impl Fn(u8, u32, u32, u32) -> T) -> Vec<T> {
    let mut slots = Vec::with_capacity(tables.len() << size);
    for table in tables {
        let mut before = 0;
        for (symbol, &f) in (0u8..=255).zip(&table.frequencies) {
            let f = u32::from(f);
            if f > 0 {
                let slot = entry(symbol, f, before, size);
                slots.resize(slots.len() + f as usize, slot);
                before += f;
            }
        }
    }
    slots
}
