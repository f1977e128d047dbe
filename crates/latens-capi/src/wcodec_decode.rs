//! Tensors of `.wcodec` files to the caller's memory.

use crate::error::{guard, lt_error, lt_status};
use crate::failure::Failure;
use crate::options::{lt_type, number_of};
use crate::raw::{self, Checked};
use crate::tensor::Tensor;
use crate::wcodec::lt_wcodec_reader;
use latens::NumberType;
use latens::wcodec::view::Values;
use std::ffi::{c_char, c_void};

/// Bytes of `lt_wcodec_layout.packing`, the NUL at its end included.
pub const LT_PACKING_SIZE: usize = 64;

/// The matrix of logical weights that a tensor holds, after unpacking.
#[repr(C)]
pub struct lt_wcodec_layout {
    /// Rows.
    pub rows: u64,
    /// Weights a row.
    pub columns: u64,
    /// A word for how they are packed, for people.
    pub packing: [c_char; LT_PACKING_SIZE],
    /// 0.
    pub reserved: [u64; 4],
}

/// Decodes tensor `index` to `capacity` bytes at `data`, as they were in the checkpoint; `*written`,
/// unless NULL, is how many it takes: lt_wcodec_tensor_info told before. Groups are
/// decoded to where they belong, by each thread its own. After an error only the first lt_error.values_before
/// bytes of `data` have changed (none, where that is LT_NONE). Of these the first lt_error.values_right are
/// right; the others may be anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_decode(
    reader: *const lt_wcodec_reader,
    index: usize,
    data: *mut c_void,
    capacity: usize,
    written: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(written, 0);
        let held = raw::reference(reader, "reader")?;
        held.apart(data, capacity)?;
        let tensor = held.tensor(index)?;
        let out = room(data, capacity, tensor.bytes, "the tensor")?;
        held.reader.tensor_into(tensor.number, out)?;
        raw::store(written, out.len());
        Ok(())
    })
}

/// `bytes` of the caller's memory, if they are there.
///
/// # Safety
/// As [`raw::output`].
unsafe fn room<'a>(
    data: *mut c_void,
    capacity: usize,
    bytes: usize,
    what: &str,
) -> Checked<&'a mut [u8]> {
    if bytes > capacity {
        return Err(Failure::too_small(&format!("{what} in bytes"), bytes as u64, capacity));
    }
    // SAFETY: promised.
    unsafe { raw::output::<u8>(data.cast(), bytes, "data") }
}

/// Bytes of a row of the first dimension.
fn row_bytes(tensor: &Tensor) -> Checked<u64> {
    let whole = || Failure::invalid("the tensor has no rows of whole bytes");
    match tensor.shape.first() {
        Some(&rows) if rows > 0 => {
            let bytes = tensor.bytes as u64;
            (bytes.is_multiple_of(rows)).then_some(bytes / rows).ok_or_else(whole)
        }
        Some(_) => Ok(0),
        None => Err(whole()),
    }
}

/// Decodes `rows` rows of the first dimension of tensor `index`, from row `first` on, as
/// lt_wcodec_decode does all of them, also after an error. Of a tensor whose rows lie in the checkpoint as they are, only the
/// groups that hold these are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_decode_rows(
    reader: *const lt_wcodec_reader,
    index: usize,
    first: u64,
    rows: u64,
    data: *mut c_void,
    capacity: usize,
    written: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(written, 0);
        let held = raw::reference(reader, "reader")?;
        held.apart(data, capacity)?;
        let tensor = held.tensor(index)?;
        let (row, all) = (row_bytes(tensor)?, tensor.shape.first().copied().unwrap_or(0));
        if first.checked_add(rows).is_none_or(|end| end > all) {
            let what = format!("{rows} rows from row {first} on, of {all}");
            return Err(Failure::invalid(what));
        }
        // Within the tensor, whose bytes memory holds.
        let bytes = usize::try_from(rows * row).unwrap_or(usize::MAX);
        let out = room(data, capacity, bytes, "these rows")?;
        held.reader.byte_range_into(tensor.number, first * row, out)?;
        raw::store(written, bytes);
        Ok(())
    })
}

/// Rows and columns of the logical weights of tensor `index`: of what is packed, after unpacking.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_tensor_layout(
    reader: *const lt_wcodec_reader,
    index: usize,
    layout: *mut lt_wcodec_layout,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(layout, "layout")?;
        let held = raw::reference(reader, "reader")?;
        let number = held.tensor(index)?.number;
        let found = held.reader.layout(number)?;
        let mut packing = [0; LT_PACKING_SIZE];
        let entry = held.reader.entry(number);
        let name = found.view.packing(entry.as_ref().map_or("", |entry| entry.dtype));
        for (to, byte) in packing[..LT_PACKING_SIZE - 1].iter_mut().zip(name.bytes()) {
            *to = byte.cast_signed() as c_char;
        }
        let told =
            lt_wcodec_layout { rows: found.rows, columns: found.cols, packing, reserved: [0; 4] };
        raw::store(layout, told);
        Ok(())
    })
}

/// Decodes the weights of `rows` rows from `first_row` on and `columns` columns from `first_column` on
/// of tensor `index`, row by row, to `capacity` bytes at `data`. `*type`, unless NULL, is
/// LT_TYPE_I8 or LT_TYPE_U8 for packed integers, one a byte, and LT_TYPE_ANY for numbers of the
/// tensor's own type; `*written`, unless NULL, is how many bytes there are. Only the groups that hold
/// these rows are read; the weights pass through memory of their own size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_decode_weights(
    reader: *const lt_wcodec_reader,
    index: usize,
    first_row: u64,
    rows: u64,
    first_column: u64,
    columns: u64,
    data: *mut c_void,
    capacity: usize,
    r#type: *mut u32,
    written: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::store(r#type, lt_type::Any as u32);
        raw::store(written, 0);
        let held = raw::reference(reader, "reader")?;
        held.apart(data, capacity)?;
        let number = held.tensor(index)?.number;
        let layout = held.reader.layout(number)?;
        let within =
            |first: u64, n: u64, all: u64| first.checked_add(n).is_some_and(|end| end <= all);
        if within(first_row, rows, layout.rows) && within(first_column, columns, layout.cols) {
            // Before anything is decoded.
            let needed = usize::try_from(layout.bytes_of(rows, columns)).unwrap_or(usize::MAX);
            room(data, capacity, needed, "these weights")?;
        }
        let rows = first_row..first_row.saturating_add(rows);
        let columns = first_column..first_column.saturating_add(columns);
        let (ty, bytes) = match held.reader.slice(number, rows, columns)? {
            Values::Unsigned(bytes) => (number_of(Some(NumberType::U8)), bytes),
            Values::Words(bytes) => (lt_type::Any as u32, bytes),
            Values::Signed(numbers) => {
                let bytes = numbers.into_iter().map(i8::cast_unsigned).collect();
                (number_of(Some(NumberType::I8)), bytes)
            }
        };
        room(data, capacity, bytes.len(), "these weights")?.copy_from_slice(&bytes);
        raw::store(r#type, ty);
        raw::store(written, bytes.len());
        Ok(())
    })
}

/// Decodes everything in the file, and checks every checksum, all padding and the model hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_verify(
    reader: *const lt_wcodec_reader,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe { Ok(raw::reference(reader, "reader")?.reader.verify()?) })
}
