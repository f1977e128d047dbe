//! The bitplane coder: signs and magnitudes of a band, plane by plane from the top.
//!
//! | bytes | |
//! |---|---|
//! | 1 | number of planes P, 0 to 16: bits of the greatest magnitude, or more |
//! | 4 · P | length in bytes of each plane, the highest first |
//! | | the planes |
//!
//! A plane is one run of the binary coder (`range`) over all values in order; contexts live on
//! from plane to plane. A value without a bit so far gets a significance bit, and where that is 1
//! its sign; another one gets a refinement bit. So the first planes alone give every value to
//! within what the missing ones can hold.

mod coarse;
mod order;
mod range;

pub use coarse::Ends;
pub use order::{Order, kinds_of, order_of};

use crate::error::{Error, Result};
use crate::wcodec::context::{Bit, Contexts, PLANES};
use range::{Decoder, Encoder};

/// The band that is coded.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The kind of each value in raster order, 0 to 15 (higher bits are ignored); or one for all.
    pub kinds: &'a [u8],
    /// In which order values are coded.
    pub order: &'a Order,
}

impl Values<'_> {
    /// The same, if it has so many places; without rows and columns where it has none.
    fn checked(self, len: usize) -> Result<Self> {
        let fits = self.rows.checked_mul(self.cols) == Some(len)
            && (self.kinds.len() == len || self.kinds.len() == 1)
            && self.order.fits(len);
        if !fits {
            return Err(Error::invalid("bitplanes: lengths that do not fit"));
        }
        Ok(if len > 0 { self } else { Self { rows: 0, cols: 0, ..self } })
    }

    #[inline(always)]
    fn kind(&self, i: usize) -> u8 {
        if let [one] = self.kinds { *one } else { self.kinds[i] }
    }
}

/// A binary coder: writes the bit, or ignores it and reads one.
trait Coder {
    fn code(&mut self, context: &mut Bit, bit: bool) -> bool;
}

/// What is known of a band's magnitudes. A row and a column of zeros lie before the others.
struct Known {
    magnitudes: Vec<u16>,
    stride: usize,
}

impl Known {
    fn new(values: &Values<'_>) -> Result<Self> {
        let size = values.cols.checked_add(1).zip(values.rows.checked_add(1));
        let size = size.and_then(|(stride, rows)| Some((stride, stride.checked_mul(rows)?)));
        let Some((stride, size)) = size else {
            return Err(Error::invalid("bitplanes: a band larger than memory"));
        };
        Ok(Self { magnitudes: vec![0; size], stride })
    }

    /// The place of a value of a row and column.
    #[inline(always)]
    fn place(&self, row: usize, col: usize) -> usize {
        (row + 1) * self.stride + col + 1
    }

    /// How many of the neighbours left, above, and above the left are known not to be 0.
    #[inline(always)]
    fn neighbours(&self, place: usize) -> usize {
        let seen = |at: usize| usize::from(self.magnitudes[at] != 0);
        seen(place - 1) + seen(place - self.stride) + seen(place - self.stride - 1)
    }
}

/// Codes one plane. `actual` gives the magnitude and sign of value `i` where they are known, and
/// `negative` takes note of the sign of a value that gets its first bit.
fn plane(
    values: &Values<'_>,
    known: &mut Known,
    contexts: &mut Contexts,
    plane: usize,
    coder: &mut impl Coder,
    actual: impl Fn(usize) -> (u16, bool),
    mut negative: impl FnMut(usize, bool),
) {
    let mut value = |i: usize, place: usize| {
        let kind = values.kind(i);
        let (magnitude, minus) = actual(i);
        let bit = magnitude >> plane & 1 == 1;
        let prefix = known.magnitudes[place] >> plane >> 1;
        let bit = if prefix == 0 {
            let neighbours = known.neighbours(place);
            let bit = coder.code(contexts.significance(kind, neighbours, plane), bit);
            if bit {
                negative(i, coder.code(contexts.sign(kind), minus));
            }
            bit
        } else {
            coder.code(contexts.refinement(kind, plane, prefix), bit)
        };
        known.magnitudes[place] |= u16::from(bit) << plane;
    };
    match values.order {
        Order::Raster => {
            for row in 0..values.rows {
                let first = (row + 1) * (values.cols + 1) + 1;
                for col in 0..values.cols {
                    value(row * values.cols + col, first + col);
                }
            }
        }
        Order::Listed(list) => {
            for &i in list {
                let i = i as usize;
                value(i, i + i / values.cols + values.cols + 2);
            }
        }
    }
}

/// Codes `data`, which has as many numbers as the band has places.
///
/// # Errors
/// Invalid argument, where lengths do not fit.
pub fn encode(values: &Values<'_>, data: &[i16]) -> Result<Vec<u8>> {
    let values = &values.checked(data.len())?;
    let most = data.iter().fold(0, |most, x| x.unsigned_abs().max(most));
    let planes = most.checked_ilog2().map_or(0, |log| log + 1);
    let mut known = Known::new(values)?;
    let mut contexts = Contexts::new();
    let (mut lengths, mut body) = (Vec::new(), Vec::new());
    for p in (0..planes as usize).rev() {
        let mut coder = Encoder::new();
        let actual = |i: usize| (data[i].unsigned_abs(), data[i] < 0);
        plane(values, &mut known, &mut contexts, p, &mut coder, actual, |_, _| ());
        let bytes = coder.finish();
        let length = u32::try_from(bytes.len());
        let length = length.map_err(|_| Error::invalid("bitplanes: a plane of 4 GiB"))?;
        lengths.extend_from_slice(&length.to_le_bytes());
        body.extend_from_slice(&bytes);
    }
    let mut out = vec![planes.to_le_bytes()[0]];
    out.append(&mut lengths);
    out.append(&mut body);
    Ok(out)
}

/// How many bytes of a stream hold its first planes: `ends[0]` none of them (the head alone),
/// `ends[k]` the first `k`.
///
/// # Errors
/// Corrupt, where there are more planes than numbers have; truncated, where the head ends early.
pub fn plane_ends(bytes: &[u8]) -> Result<Vec<usize>> {
    let Some((&planes, rest)) = bytes.split_first() else {
        return Err(Error::truncated(0, "bitplanes: the number of planes"));
    };
    let planes = usize::from(planes);
    if planes > PLANES {
        return Err(Error::corrupt(0, format!("{planes} bitplanes, at most 16 are possible")));
    }
    let Some(lengths) = rest.get(..4 * planes) else {
        return Err(Error::truncated(bytes.len() as u64, "bitplanes: lengths of the planes"));
    };
    let mut end = 1 + lengths.len();
    let mut ends = vec![end];
    for length in lengths.as_chunks::<4>().0 {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        end = end.saturating_add(length);
        ends.push(end);
    }
    Ok(ends)
}

/// Decodes the first `most` planes, all where there are no more, into `out`, and returns how many
/// are missing. Bits of missing planes are taken as 1 and then zeros, the middle of what they can
/// be; values without a bit so far are 0.
///
/// # Errors
/// Truncated, where `bytes` end before these planes do. Corrupt, where there are bytes behind the
/// last plane (`bytes` may end behind the planes that are asked for), or a plane is not as long as
/// what it holds. Invalid argument, where lengths do not fit. `out` may be written in all cases.
pub fn decode(values: &Values<'_>, bytes: &[u8], most: usize, out: &mut [i16]) -> Result<usize> {
    let values = &values.checked(out.len())?;
    let ends = plane_ends(bytes)?;
    let planes = ends.len() - 1;
    let wanted = planes.min(most);
    if bytes.len() > ends[planes] {
        return Err(Error::corrupt(ends[planes] as u64, "bytes behind the last bitplane"));
    }
    if bytes.len() < ends[wanted] {
        return Err(Error::truncated(bytes.len() as u64, "inside of a bitplane"));
    }
    let mut known = Known::new(values)?;
    let mut contexts = Contexts::new();
    out.fill(1);
    for (index, range) in ends.windows(2).take(wanted).enumerate() {
        let p = planes - 1 - index;
        let mut coder = Decoder::new(&bytes[range[0]..range[1]]);
        let negative = |i: usize, minus| out[i] = if minus { -1 } else { 1 };
        plane(values, &mut known, &mut contexts, p, &mut coder, |_| (0, false), negative);
        if !coder.is_at_end() {
            let what = format!("bitplane {p} is not as long as what it holds");
            return Err(Error::corrupt(range[0] as u64, what));
        }
    }
    let missing = planes - wanted;
    let middle = if missing > 0 { 1u16 << (missing - 1) } else { 0 };
    let mut i = 0;
    for row in 0..values.rows {
        let first = known.place(row, 0);
        for &m in &known.magnitudes[first..first + values.cols] {
            let magnitude = if m == 0 { 0 } else { m | middle };
            let value = i32::from(out[i]) * i32::from(magnitude);
            // Only −32768 has a magnitude of 16 bits.
            let end = if value < 0 { i16::MIN } else { i16::MAX };
            out[i] = i16::try_from(value).unwrap_or(end);
            i += 1;
        }
    }
    Ok(missing)
}

#[cfg(test)]
mod tests;
