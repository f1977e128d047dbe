//! A tensor's bytes to where they go, some megabytes at a time.

use crate::error::Result;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::DecodedAs;
use crate::wcodec::decode::pool::Scratch;
use crate::wcodec::open_tensor::{OpenTensor, Stretches};
use crate::wcodec::plane::Part;
use std::io::Write;
use std::ops::Range;

/// Bytes of a tensor that are decoded at a time, about.
const STRETCH: usize = if cfg!(test) { 500 } else { 1 << 23 };

/// How a tensor is decoded in pieces.
pub(crate) enum Pieces {
    /// The groups of each, and the form in which these are bytes of the tensor.
    OfGroups {
        groups: Vec<Range<usize>>,
        form: DecodedAs,
    },
    Joined(Stretches),
}

impl Pieces {
    pub(crate) fn len(&self) -> usize {
        match self {
            Pieces::OfGroups { groups, .. } => groups.len(),
            Pieces::Joined(stretches) => stretches.len(),
        }
    }
}

impl<S: ReadAt> OpenTensor<'_, S> {
    /// Writes all bytes, those of large ones a stretch at a time.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        self.check_whole()?;
        if self.entry.length > STRETCH && self.write_rows(out)? {
            return self.end();
        }
        let mut bytes = self.reader.open.pool.spare.take();
        self.bytes(&mut bytes)?;
        out.write_all(&bytes)?;
        self.reader.open.pool.spare.give(bytes);
        Ok(())
    }

    /// How a tensor is cut, if it can be.
    pub(crate) fn pieces(&self) -> Result<Option<Pieces>> {
        if self.reader.threads == 1 && self.may_explain() {
            // Those are kept when they are decoded as a whole.
            return Ok(None);
        }
        let Some(form) = self.form() else { return Ok(self.stretches()?.map(Pieces::Joined)) };
        self.with_part(0, |decoder, _| {
            Ok(decoder.cut(form).map(|groups| Pieces::OfGroups { groups, form }))
        })
    }

    /// Decodes a piece to where `out` has so many bytes for it.
    pub(crate) fn piece<'o>(
        &self,
        pieces: &Pieces,
        i: usize,
        scratch: &mut Scratch,
        out: impl FnOnce(usize) -> &'o mut [u8],
    ) -> Result<()> {
        let (groups, form) = match pieces {
            Pieces::OfGroups { groups, form } => (groups, form),
            Pieces::Joined(stretches) => return self.stretch(stretches, i, scratch, out),
        };
        let groups = groups.get(i).cloned().unwrap_or_default();
        // What rows have in common is another tensor's.
        scratch.buffers.forget();
        self.with_part(0, |decoder, fetch| decoder.decode_piece(groups, *form, fetch, scratch, out))
    }

    /// Writes all bytes, rows by rows.
    fn write_rows(&self, out: &mut dyn Write) -> Result<bool> {
        let layout = self.layout;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (rows, unit_rows) = (size(layout.rows), size(layout.unit_rows).max(1));
        let records = &self.descriptor.parts;
        if rows == 0 || layout.unit_bytes == 0 {
            return Ok(false);
        }
        let a_row: Vec<usize> = records.iter().map(|part| part.shape.count() / rows).collect();
        // Whole groups, where they are of whole rows: none is decoded twice.
        let groups = records.iter().zip(&a_row);
        let group = groups.map(|(part, &a_row)| part.group_range(0).len() / a_row.max(1));
        let group = group.max().unwrap_or(1).max(1);
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
