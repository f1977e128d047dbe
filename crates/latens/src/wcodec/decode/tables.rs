//! The tables of a part, made ready for decoding.

use crate::error::{Error, Result};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::layout::table::Table;
use latens_kernels::dispatch::simd;
use latens_kernels::rans::{self, Kernel, Tables, WideTables};

/// Slots of the tables of all classes, for the kernels.
#[derive(Debug)]
pub(crate) enum Slots {
    /// No symbol has more slots than these can say, and the kernel is faster with them.
    Narrow(Vec<u32>),
    /// Any.
    Wide(WideTables),
}

/// The tables as the kernels take them.
#[derive(Clone, Copy)]
pub(crate) enum Ready<'a> {
    Narrow(Tables<'a>),
    Wide(&'a WideTables),
}

impl Slots {
    /// The tables that `symbols` names, which must have its size and alphabets of `bits`; in the memory of `spare`,
    /// where they fit in there.
    pub(crate) fn new(
        symbols: &Symbols,
        bits: u32,
        bank: &[Table],
        spare: Vec<u32>,
    ) -> Result<Self> {
        let bits = symbols.coded_bits(bits);
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
        let most = tables.iter().flat_map(|t| &t.frequencies).fold(0, |most, &f| most.max(f));
        let frequencies = tables.iter().map(|t| t.frequencies.as_slice());
        let narrow = size <= Kernel::new(simd()).most_bits();
        Ok(if narrow && u32::from(most) <= rans::MAX_FREQUENCY || tables.is_empty() {
            Slots::Narrow(rans::slots_of(size, frequencies, spare))
        } else {
            let wide = WideTables::new(size, frequencies);
            Slots::Wide(wide.ok_or_else(|| Error::corrupt(0, "tables that do not sum"))?)
        })
    }

    /// As the kernels take them; `None` where there are none.
    pub(crate) fn ready(&self, size: u32) -> Option<Ready<'_>> {
        match self {
            Slots::Narrow(slots) => Tables::new(slots, size).map(Ready::Narrow),
            Slots::Wide(tables) => Some(Ready::Wide(tables)),
        }
    }
}
