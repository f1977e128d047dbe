//! A tensor's bytes to where they go, some megabytes at a time.

use crate::error::Result;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::part::{Codec, PartRecord};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::plane::Part;
use crate::wcodec::reader::Reader;
use crate::wcodec::view::{Layout, View};
use std::io::Write;
use std::ops::Range;

/// Bytes of a tensor that are decoded at a time, about.
const STRETCH: usize = if cfg!(test) { 500 } else { 1 << 23 };

impl<S: ReadAt> Reader<S> {
    /// Writes all bytes of an entry, those of large ones a stretch at a time.
    pub(crate) fn write_entry(&self, number: usize, out: &mut dyn Write) -> Result<()> {
        let length = self.byte_length(number)?;
        let open = OpenTensor::open(self, number)?;
        let mut write = || -> Result<()> {
            self.open.limits.check_output(length as u64)?;
            if open.write_groups(out)? || length > STRETCH && open.write_rows(out)? {
                return open.end();
            }
            let mut bytes = Vec::new();
            open.bytes(&mut bytes)?;
            Ok(out.write_all(&bytes)?)
        };
        write().map_err(|e| e.within(self.place(number)))
    }
}

impl<S: ReadAt> OpenTensor<'_, S> {
    /// Writes all bytes, if they are what the groups of the only part decode to.
    fn write_groups(&self, out: &mut dyn Write) -> Result<bool> {
        if self.alone().is_none() {
            return Ok(false);
        }
        let Layout { view, cols, .. } = self.layout()?;
        let cols = usize::try_from(cols).unwrap_or(usize::MAX);
        let packing = match view {
            View::Packed(packing) => Some((packing, cols)),
            _ => None,
        };
        let mut written = 0;
        let done = self.with_part(0, |decoder, fetch| {
            decoder.each(packing, fetch, |bytes| {
                written += bytes.len();
                Ok(out.write_all(bytes)?)
            })
        })?;
        if done && written != self.entry.length {
            let what = format!("{written} bytes where the index states {}", self.entry.length);
            return Err(self.wrong(what));
        }
        Ok(done)
    }

    /// Writes all bytes, rows by rows.
    fn write_rows(&self, out: &mut dyn Write) -> Result<bool> {
        let layout = self.layout()?;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (rows, unit_rows) = (size(layout.rows), size(layout.unit_rows).max(1));
        let records = &self.descriptor.parts;
        let whole = |part: &PartRecord| part.shape.count().is_multiple_of(rows.max(1));
        if rows == 0 || layout.unit_bytes == 0 || !records.iter().all(whole) {
            return Ok(false);
        }
        let a_row: Vec<usize> = records.iter().map(|part| part.shape.count() / rows).collect();
        // Whole groups, where they are of whole rows: none is decoded twice.
        let groups = records.iter().zip(&a_row).map(|(part, &a_row)| rows_of_group(part, a_row));
        let group = groups.max().unwrap_or(1).max(1);
        let units = (STRETCH / size(layout.unit_bytes)).max(1);
        let step = (units * unit_rows).next_multiple_of(group).next_multiple_of(unit_rows);
        self.with_parts(0, &[], &mut |parts| {
            for first in (0..rows).step_by(step) {
                let end = rows.min(first.saturating_add(step));
                let decoded = parts.iter().zip(&a_row).map(|(part, a)| part(first * a..end * a));
                let decoded = decoded.collect::<Result<Vec<_>>>()?;
                let bytes = layout.join(decoded);
                let bytes = bytes.map_err(|e| self.wrong(e.what().to_owned()))?;
                out.write_all(&bytes)?;
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Hands over what decodes elements of each part, those from `number` on besides `before`.
    fn with_parts(&self, number: usize, before: &[Elements<'_>], then: Then<'_>) -> Result<()> {
        if number == self.descriptor.parts.len() {
            return then(before);
        }
        self.with_part(number, |decoder, fetch| {
            let decode = |range: Range<usize>| Ok(decoder.content(decoder.decode(range, fetch)?));
            let mut parts = before.to_vec();
            parts.push(&decode);
            self.with_parts(number + 1, &parts, then)
        })
    }
}

/// Decodes some elements of a part.
type Elements<'e> = &'e dyn Fn(Range<usize>) -> Result<Part>;

/// What is done with the parts of a tensor.
type Then<'t> = &'t mut dyn FnMut(&[Elements<'_>]) -> Result<()>;

/// Rows that a group of a part holds.
fn rows_of_group(part: &PartRecord, a_row: usize) -> usize {
    match &part.codec {
        Codec::Raw { per_group } | Codec::Pco { per_group } => per_group / a_row.max(1),
        Codec::Direct(symbols) | Codec::Bitplane(symbols) => symbols.group_rows,
    }
}
