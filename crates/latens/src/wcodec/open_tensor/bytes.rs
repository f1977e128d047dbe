//! All bytes of a tensor, or the numbers of some of its rows.

use super::OpenTensor;
use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::{DecodedAs, TRUSTED};
use crate::wcodec::decode::pool::Filled;
use crate::wcodec::kept::Sources;
use crate::wcodec::layout::part::PartRecord;
use crate::wcodec::plane::Part;
use crate::wcodec::view::{Layout, Values, View};
use std::ops::Range;

impl<S: ReadAt> OpenTensor<'_, S> {
    /// Whether all of the tensor is within the limits.
    pub(crate) fn check_whole(&self) -> Result<()> {
        let (limits, length) = (self.reader.open.limits, self.entry.length as u64);
        match self.outermost {
            true => limits.check_output(length),
            false => limits.check_aside(length, "what explains a tensor"),
        }
    }

    /// All bytes of the tensor, in place of what `out` holds.
    pub(crate) fn bytes(&self, out: &mut Vec<u8>) -> Result<()> {
        self.check_whole()?;
        self.checked_bytes(out)
    }

    /// The same of a tensor that is known to be within the limits.
    pub(crate) fn checked_bytes(&self, out: &mut Vec<u8>) -> Result<()> {
        if self.is_trusted() {
            out.resize(self.entry.length, 0);
            return self.checked_bytes_into(out).map_err(Error::after_none);
        }
        *out = self.joined()?;
        self.end()
    }

    /// All bytes of the tensor, to the end of `out`.
    pub(crate) fn append(&self, out: &mut Filled) -> Result<()> {
        self.check_whole()?;
        let length = self.entry.length;
        if self.is_trusted() {
            return self.checked_bytes_into(out.more(length)).map_err(Error::after_none);
        }
        // What is decoded earns memory for as much.
        let joined = self.joined()?;
        out.more(length).copy_from_slice(&joined);
        self.end()
    }

    /// Whether its stored bytes are enough to earn memory for all of it before it is decoded.
    pub(super) fn is_trusted(&self) -> bool {
        let all = || {
            let parts = &self.descriptor.parts[..];
            (parts.len() > 1)
                .then(|| parts.iter().map(PartRecord::stored).fold(0, usize::saturating_add))
        };
        let alone = self.form().and_then(|_| self.descriptor.parts.first());
        let stored = alone.map(PartRecord::stored).or_else(all);
        stored.is_some_and(|stored| self.entry.length <= stored.saturating_mul(TRUSTED))
    }

    /// Tells that all bytes of the tensor are decoded.
    pub(crate) fn end(&self) -> Result<()> {
        self.telling.end()
    }

    /// All parts, decoded.
    fn all_parts(&self) -> Result<Vec<Part>> {
        let parts = self.descriptor.parts.iter().enumerate();
        parts.map(|(i, p)| self.part(i, 0..p.shape.count())).collect()
    }

    /// All bytes of the tensor, joined from its parts.
    pub(super) fn joined(&self) -> Result<Vec<u8>> {
        let parts = self.all_parts()?;
        let bytes = self.layout.join(parts).map_err(|e| self.wrong(e.what().to_owned()))?;
        if bytes.len() != self.entry.length {
            let (is, stated) = (bytes.len(), self.entry.length);
            return Err(self.wrong(format!("{is} bytes where the index states {stated}")));
        }
        Ok(bytes)
    }

    /// The form in which groups of the only part are bytes of the tensor.
    pub(crate) fn form(&self) -> Option<DecodedAs> {
        let cols = || usize::try_from(self.layout.cols).unwrap_or(usize::MAX);
        match self.descriptor.view {
            _ if self.descriptor.parts.len() != 1 => None,
            View::Raw | View::Bytes(_) => Some(DecodedAs::Plain),
            View::Packed(packing) => Some(DecodedAs::Packed(packing, cols())),
            View::Words { width, order } => Some(DecodedAs::Words(order, width)),
            View::FloatBytes { .. } | View::Blocks(_) => None,
        }
    }

    /// All bytes of the tensor into `out`, which is as long as they are. After an error only so many bytes
    /// of it have changed, and so many are right, as that says.
    pub(crate) fn bytes_into(&self, out: &mut [u8]) -> Result<()> {
        self.check_whole()?;
        self.checked_bytes_into(out)
    }

    fn checked_bytes_into(&self, out: &mut [u8]) -> Result<()> {
        self.put_bytes(out)?;
        let all = self.entry.length as u64;
        self.end().map_err(|e| e.after_some(all, all))
    }

    /// The same, telling nobody of the end.
    fn put_bytes(&self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.entry.length {
            return Err(Error::invalid(format!(
                "a buffer of {} bytes for a tensor of {}",
                out.len(),
                self.entry.length
            )));
        }
        let (sources, holder) = (&self.reader.last.sources, self.descriptor.holder);
        let kept = if self.outermost { sources.take(holder, out.len()) } else { None };
        if let Some(kept) = kept {
            out.copy_from_slice(&kept);
            return Ok(());
        }
        self.decode_bytes(out)?;
        if self.outermost && self.may_explain() {
            sources.decoded(holder, out);
        }
        Ok(())
    }

    /// Whether it may be what explains others, such as their scales.
    pub(crate) fn may_explain(&self) -> bool {
        self.entry.length <= Sources::MOST_DECODED
            && matches!(self.descriptor.view, View::Words { .. })
    }

    /// The same of what was not decoded before.
    fn decode_bytes(&self, out: &mut [u8]) -> Result<()> {
        if let Some(form) = self.form()
            && self.with_part(0, |decoder, fetch| decoder.decode_into(form, fetch, out))?
        {
            return Ok(());
        }
        if let Some(stretches) = self.stretches().map_err(Error::after_none)? {
            return self.join_into(&stretches, out);
        }
        out.copy_from_slice(&self.joined().map_err(Error::after_none)?);
        Ok(())
    }

    /// The numbers of rows of the weights of `layout`, which is as it is stored, or leaves out what fills words.
    pub(crate) fn values(&self, layout: &Layout, rows: Range<u64>) -> Result<Values> {
        if rows.start > rows.end || rows.end > layout.rows {
            let what = format!("rows {} to {} of {}", rows.start, rows.end, layout.rows);
            return Err(Error::invalid(what));
        }
        layout.logical(self.parts_of(rows)?).map_err(self.claim())
    }

    /// The bytes of some units of the layout, which it has.
    pub(crate) fn units(&self, units: Range<u64>) -> Result<Vec<u8>> {
        let Layout { unit_rows, unit_bytes, .. } = self.layout;
        let parts = self.parts_of(units.start * unit_rows..units.end * unit_rows)?;
        let bytes = self.layout.join(parts).map_err(self.claim())?;
        match bytes.len() as u64 == (units.end - units.start) * unit_bytes {
            true => Ok(bytes),
            false => Err(self.wrong("rows are not of the length that the index states")),
        }
    }

    /// What the parts have of some rows.
    fn parts_of(&self, rows: Range<u64>) -> Result<Vec<Part>> {
        let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let all = of(self.layout.rows).max(1);
        let part = |(i, part): (usize, &PartRecord)| {
            let a_row = part.shape.count() / all;
            self.part(i, of(rows.start) * a_row..of(rows.end) * a_row)
        };
        self.descriptor.parts.iter().enumerate().map(part).collect()
    }
}
