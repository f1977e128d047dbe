//! `verify` on tables.

use crate::format::Format;
use crate::job::Input;
use crate::message::Result;
use crate::parallel;
use crate::progress::Progress;
use crate::render::units::noun;
use crate::report::{Checksums, Verified};
use crate::table::decompress::what;
use crate::table::open::open;
use crate::table::reading::Reading;
use crate::table::source::PIECE_ROWS;

/// Decode everything, nested columns too, and check every checksum.
///
/// # Errors
/// What is wrong with the file.
pub fn verify(input: &Input, format: Format, progress: &Progress) -> Result<(Verified, Checksums)> {
    // All widths are legal for numbers of 64 bits: any stream is one of these.
    let number_type = (format == Format::Dbp).then_some(latens::NumberType::I64);
    let table = open(&Reading { input, format, number_type, skip_nested: true, progress })?;
    let fields = &table.schema().fields;
    let read = |index: usize| -> Result<()> {
        let mut column = table.column(index)?;
        loop {
            let piece = column.next(PIECE_ROWS)?;
            if piece.rows == 0 {
                return Ok(());
            }
            progress.add(piece.values.bytes());
        }
    };
    parallel::map(fields.len(), &read)?;
    table.verify_left_out(&|bytes| progress.add(bytes))?;
    let checksums = table.checksums()?;
    let verified = Verified {
        what: match table.rows() {
            // A stream does not say of which type they are.
            n if format == Format::Dbp => format!("{n} {}", noun(n, "number")),
            _ => what(&*table, format),
        },
        n: table.rows(),
        number_type: match (&table.schema().array, fields.as_slice()) {
            (Some(_), [field]) => Some(field.type_name()),
            _ => None,
        },
        checksum: checksums == Checksums::All,
        trailing_bytes: 0,
    };
    Ok((verified, checksums))
}
