//! One column of a table as standalone Pco.

use crate::array::compress::compress_from;
use crate::array::source::Source;
use crate::job::CompressJob;
use crate::message::Result;
use crate::output::OutputFile;
use crate::report::CompressReport;
use crate::table::compress::opened;
use crate::table::one::OnlyColumn;

/// Compress the only column of a table to a `.pco`.
///
/// # Errors
/// Bad input, I/O; several columns, nulls, other values than numbers; an output that does not read
/// back.
pub fn compress(job: &CompressJob, out: &mut OutputFile) -> Result<CompressReport> {
    let table = opened(job)?;
    let mut column = OnlyColumn::open(&*table, job.to, &job.input)?;
    let (name, ty) = (column.name().to_string(), column.number_type());
    let next = move |most: usize| {
        let mut bytes = Vec::new();
        let mut left = most;
        while left > 0 {
            let numbers = column.next(left)?;
            if numbers.is_empty() {
                break;
            }
            left -= numbers.len();
            bytes.extend(numbers.to_le_bytes());
        }
        Ok(bytes)
    };
    let source = Source::column(ty, table.rows(), Box::new(next));
    let mut report = compress_from(job, source, name, out)?;
    report.left_out = table.left_out().to_vec();
    Ok(report)
}
