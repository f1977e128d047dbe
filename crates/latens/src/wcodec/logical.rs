//! The weights of a tensor as they are meant, however they are stored.
//!
//! The encoder stores a tensor in whatever view makes it smallest: small ones and noise as bare
//! bytes. What the bytes mean is told by the stored view only where a convention chose it; else by
//! names, types and shapes, from which the encoder had it too.

mod held;

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::{
    LONGEST_HEADER, ReadAt, TensorInfo, metadata_of, tells_nothing, told_cols, told_view,
};
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::layout::part::Codec;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::plane::{Content, Part};
use crate::wcodec::reader::Reader;
use crate::wcodec::view::{Axis, BitOrder, Layout, Packing, Values, View};
use std::ops::Range;

use held::{Held, info};

impl<S: ReadAt> Reader<S> {
    /// The layout of tensor `number`: rows and columns of its logical weights, and what they mean.
    /// It does not depend on how the tensor is stored.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`].
    pub fn layout(&self, number: usize) -> Result<Layout> {
        OpenTensor::open(self, number)?.logical_layout(number)
    }

    /// Whether some of tensor `number` is coded in bitplanes, of which a reader [without
    /// planes](Reader::without_planes) leaves some out; all else it gives as ever.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`].
    pub fn has_bitplanes(&self, number: usize) -> Result<bool> {
        let open = OpenTensor::open(self, number)?;
        let planes = open.descriptor.parts.iter().any(|p| matches!(p.codec, Codec::Bitplane(_)));
        // What is stored otherwise than it is meant is decoded as it was, and so are words.
        Ok(planes
            && open.layout.meaning().is_some()
            && open.logical_layout(number)?.filled() == open.layout)
    }

    /// The numbers of rows `rows` of the logical weights of tensor `number`: small integers as the
    /// packing means them, or words of its own type. Only the groups that hold them are decoded, of a reader
    /// [without planes](Reader::without_planes) their highest bitplanes.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; invalid argument where there are no such rows.
    pub fn rows(&self, number: usize, rows: Range<u64>) -> Result<Values> {
        let open = OpenTensor::open(self, number)?.coarse();
        let layout = open.logical_layout(number)?;
        self.check_weights(&layout, &rows, layout.cols)
            .and_then(|()| open.logical(number, &layout, rows))
            .map_err(|e| e.within(self.place(number)))
    }

    /// Columns `cols` of rows `rows`, as [`Reader::rows`].
    ///
    /// # Errors
    /// Those of [`Reader::rows`]; invalid argument where there are no such columns.
    pub fn slice(&self, number: usize, rows: Range<u64>, cols: Range<u64>) -> Result<Values> {
        let open = OpenTensor::open(self, number)?.coarse();
        let layout = open.logical_layout(number)?;
        if cols.start > cols.end || cols.end > layout.cols {
            return Err(Error::invalid(format!(
                "columns {} to {} of {}",
                cols.start, cols.end, layout.cols
            )));
        }
        let count = rows.end.saturating_sub(rows.start);
        let values = self
            .check_weights(&layout, &rows, cols.end - cols.start)
            .and_then(|()| open.logical(number, &layout, rows));
        let values = values.map_err(|e| e.within(self.place(number)))?;
        let cut = |bytes: Vec<u8>| -> Vec<u8> {
            let all = size(count).saturating_mul(size(layout.cols)).max(1);
            let width = (bytes.len() / all).max(1);
            let row = size(layout.cols) * width;
            let rows = bytes.chunks(row.max(1));
            rows.flat_map(|r| {
                r.get(size(cols.start) * width..size(cols.end) * width).unwrap_or_default()
            })
            .copied()
            .collect()
        };
        Ok(map(values, cut))
    }

    /// Whether so many columns of rows `rows`, if there are such, are within the limits.
    pub(crate) fn check_weights(
        &self,
        layout: &Layout,
        rows: &Range<u64>,
        cols: u64,
    ) -> Result<()> {
        let rows = rows.end.min(layout.rows).saturating_sub(rows.start);
        self.open.limits.check_output(layout.bytes_of(rows, cols))
    }

    /// The `__metadata__` of source file `number`; `None` where it is no safetensors file, or its
    /// header cannot be decoded. Members that are not text are left out.
    pub fn metadata(&self, number: usize) -> Option<Vec<(String, String)>> {
        let (header, length) = self.header(number)?;
        metadata_of(&self.telling_header(header, length).ok()?)
    }

    /// With what source file `number` begins and its length, where that may be a safetensors header.
    fn header(&self, number: usize) -> Option<(SegmentRecord, u64)> {
        let header = self.open.index.file(number)?.segments().next()?;
        let length = match header {
            SegmentRecord::Zeros(_) => None,
            SegmentRecord::Woven(woven) => Some(woven.length),
            SegmentRecord::Entry(entry) => {
                let entry = self.open.index.entry(entry)?.record;
                entry.dtype().is_none().then_some(entry.length as u64)
            }
        };
        Some((header, length.filter(|&length| length <= 8 + LONGEST_HEADER)?))
    }

    /// The bytes of a header, which tell how tensors are packed: they are no output.
    fn telling_header(&self, header: SegmentRecord, length: u64) -> Result<Vec<u8>> {
        match header {
            SegmentRecord::Entry(entry) => self.telling(entry),
            SegmentRecord::Woven(woven) => {
                self.open.limits.check_aside(length, "what tells how it is packed")?;
                let mut out = Vec::new();
                self.weave(woven, u64::MAX, &mut out)?;
                Ok(out)
            }
            SegmentRecord::Zeros(_) => Ok(Vec::new()),
        }
    }
}

impl<S: ReadAt> OpenTensor<'_, S> {
    /// The layout of the logical weights of this tensor, which is entry `number`.
    pub(crate) fn logical_layout(&self, number: usize) -> Result<Layout> {
        let Some(t) = info(self.reader, number) else { return Ok(self.layout) };
        let held = Held::by(self.reader);
        let layout = self.told_layout(&held, &t);
        let layout = match told_cols(&held, &t) {
            Some(cols) => layout.with_weights(cols),
            None => layout,
        };
        held.finish(layout)
    }

    /// The layout of tensor `t`, this one, by its names where the view that it is stored in says nothing.
    fn told_layout(&self, held: &Held<'_, S>, t: &TensorInfo) -> Layout {
        let stored = self.layout;
        // The view of a copy is that of another tensor.
        if self.entry.stored().1.is_none() && !tells_nothing(t.dtype, stored.view) {
            return stored;
        }
        let told = told_view(held, t).layout(t.dtype, &t.shape, t.len);
        told.filter(|told| !same_numbers(told, &stored)).unwrap_or(stored)
    }

    /// The numbers of rows of `layout`, which is that of the logical weights.
    fn logical(&self, number: usize, layout: &Layout, rows: Range<u64>) -> Result<Values> {
        if layout.filled() == self.layout {
            return self.values(layout, rows);
        }
        let (parts, spare) = self.logical_units(number, layout, rows.clone())?;
        let cut = |mut bytes: Vec<u8>| {
            // Words pack no rows, so that nothing is spare where there are any.
            let row = if layout.meaning().is_some() { size(layout.cols) } else { 0 };
            let count = size(rows.end - rows.start).saturating_mul(row);
            bytes.drain(..size(spare).saturating_mul(row).min(bytes.len()));
            if row > 0 {
                bytes.truncate(count);
            }
            bytes
        };
        Ok(map(layout.logical(parts)?, cut))
    }

    /// The parts that hold rows of `layout`, which is not how the tensor is stored, in whole units,
    /// and how many rows of these come before the first one that was asked for.
    fn logical_units(
        &self,
        number: usize,
        layout: &Layout,
        rows: Range<u64>,
    ) -> Result<(Vec<Part>, u64)> {
        if rows.start > rows.end || rows.end > layout.rows {
            let what = format!("rows {} to {} of {}", rows.start, rows.end, layout.rows);
            return Err(Error::invalid(what));
        }
        let a_unit = layout.unit_rows.max(1);
        let units = rows.start / a_unit..rows.end.div_ceil(a_unit);
        let bytes = units.start * layout.unit_bytes..units.end * layout.unit_bytes;
        let bytes = self.reader.checked_range(number, bytes)?;
        let parts = layout.split(&bytes);
        let parts = parts.ok_or_else(|| self.wrong("bytes of another layout"))?;
        Ok((parts, rows.start - units.start * a_unit))
    }

    /// Elements of each part of `layout`, which is not how the tensor is stored, for some rows.
    pub(crate) fn logical_parts(
        &self,
        number: usize,
        layout: &Layout,
        rows: Range<u64>,
    ) -> Result<Vec<Vec<u8>>> {
        let count = size(rows.end.saturating_sub(rows.start));
        let (parts, spare) = self.logical_units(number, layout, rows)?;
        let bytes = |part: Part| match part.content {
            Content::Symbols(plane) => {
                let spare = size(spare).saturating_mul(plane.cols);
                let wanted = spare..spare.saturating_add(count.saturating_mul(plane.cols));
                let mut symbols = plane.data.get(wanted).unwrap_or(&plane.data).to_vec();
                layout.keep_weights(&mut symbols);
                symbols
            }
            Content::Words { data, .. } | Content::Raw(data) => data,
        };
        Ok(parts.into_iter().map(bytes).collect())
    }
}

/// Whether two layouts of a tensor give the same numbers.
fn same_numbers(a: &Layout, b: &Layout) -> bool {
    let shape = |l: &Layout| (l.rows, l.cols, l.unit_rows, l.meaning());
    let order = match (a.view, b.view) {
        (View::Packed(a), View::Packed(b)) => same_order(a, b),
        (a, b) => !matches!(a, View::Packed(_)) && !matches!(b, View::Packed(_)),
    };
    order && shape(a) == shape(b)
}

/// Whether symbols lie in the same places: words are little-endian, so that the lowest bits come first in words of any
/// width.
fn same_order(a: Packing, b: Packing) -> bool {
    let lowest = |p: Packing| p.order == BitOrder::LowFirst && p.axis == Axis::Columns;
    let all = |p: Packing| (p.order, p.axis, p.word);
    a.bits == b.bits && (lowest(a) && lowest(b) || all(a) == all(b))
}

fn map(values: Values, with: impl Fn(Vec<u8>) -> Vec<u8>) -> Values {
    match values {
        Values::Unsigned(bytes) => Values::Unsigned(with(bytes)),
        Values::Words(bytes) => Values::Words(with(bytes)),
        Values::Signed(bytes) => {
            let bytes = bytes.into_iter().map(i8::cast_unsigned).collect();
            Values::Signed(with(bytes).into_iter().map(u8::cast_signed).collect())
        }
    }
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
