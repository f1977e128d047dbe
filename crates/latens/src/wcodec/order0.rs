//! Order-0 entropy: what symbols take that are coded one by one, by nothing but how often each occurs.

use crate::wcodec::encode::cost;
use crate::wcodec::plane::Content;
use crate::wcodec::view::{Layout, View, WordOrder, float_plane};
use std::io;

/// Counts the symbols of a tensor, each part by itself: weights as they are packed, and words by their bytes, floats from
/// the exponent down with the sign lowest. It is a landmark, and takes no tables into account: with contexts
/// weights take less, and numbers in an order far less.
#[derive(Clone, Debug)]
pub struct Order0 {
    /// In pieces, the least that have parts of their own.
    layout: Layout,
    /// Of each symbol, part by part, those of words byte by byte.
    counts: Vec<[u64; 256]>,
    /// The beginning of a piece.
    rest: Vec<u8>,
}

impl Order0 {
    /// Of a tensor of this layout.
    pub fn new(layout: &Layout) -> Self {
        let view = match layout.view {
            View::Words { width: width @ 2.., order: WordOrder::SignMagnitude } => {
                View::FloatBytes { width }
            }
            view => view,
        };
        let layout = Layout { view, ..*layout }.pieces();
        Self { layout, counts: Vec::new(), rest: Vec::new() }
    }

    /// Takes in more of the tensor's bytes.
    pub fn add(&mut self, mut bytes: &[u8]) {
        let piece = usize::try_from(self.layout.unit_bytes).unwrap_or(usize::MAX).max(1);
        if !self.rest.is_empty() {
            let (more, behind) = bytes.split_at((piece - self.rest.len()).min(bytes.len()));
            self.rest.extend_from_slice(more);
            bytes = behind;
            if self.rest.len() == piece {
                let rest = std::mem::take(&mut self.rest);
                self.add_pieces(&rest);
            }
        }
        let (whole, rest) = bytes.split_at(bytes.len() / piece * piece);
        self.add_pieces(whole);
        self.rest.extend_from_slice(rest);
    }

    fn add_pieces(&mut self, bytes: &[u8]) {
        let mut next = 0;
        let mut count = |symbols: &[u8]| {
            if self.counts.len() <= next {
                self.counts.push([0; 256]);
            }
            let all = self.counts[next].iter_mut();
            all.zip(cost::count(symbols)).for_each(|(all, n)| *all += u64::from(n));
            next += 1;
        };
        for part in self.layout.split(bytes).unwrap_or_default() {
            match &part.content {
                Content::Symbols(plane) => count(&plane.data),
                Content::Raw(bytes) => count(bytes),
                Content::Words { width, float, data } => {
                    let mut plane = vec![0; data.len() / usize::from(*width).max(1)];
                    for index in 0..usize::from(*width) {
                        if *float {
                            float_plane(data, *width, index, &mut plane);
                        } else {
                            let words = data.chunks_exact(usize::from(*width));
                            plane.iter_mut().zip(words).for_each(|(out, word)| *out = word[index]);
                        }
                        count(&plane);
                    }
                }
            }
        }
    }

    /// Bits of all that was taken in.
    pub fn bits(&self) -> f64 {
        let of = |counts: &[u64; 256]| {
            let n = counts.iter().sum::<u64>() as f64;
            let term = |&c: &u64| if c == 0 { 0.0 } else { c as f64 * (n / c as f64).log2() };
            counts.iter().map(term).sum::<f64>()
        };
        self.counts.iter().map(of).sum::<f64>() + 8.0 * self.rest.len() as f64
    }
}

impl io::Write for Order0 {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::wcodec::dtype::Dtype;
    use crate::wcodec::view::Sign;

    fn bits(view: View, dtype: Dtype, shape: &[u64], bytes: &[u8]) -> f64 {
        let layout = view.layout(dtype, shape, bytes.len() as u64).unwrap();
        let mut whole = Order0::new(&layout);
        whole.add(bytes);
        // However they come.
        let mut some = Order0::new(&layout);
        bytes.chunks(7).for_each(|bytes| some.add(bytes));
        assert_eq!(whole.bits(), some.bits());
        whole.bits()
    }

    #[test]
    fn words_count_by_their_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        let int8 = View::Bytes(Sign::Signed);
        assert_eq!(bits(int8, Dtype::I8, &[16, 16], &bytes), 2048.0);
        let ramp: Vec<u8> = (0..4096u32).flat_map(u32::to_le_bytes).collect();
        let words = View::Words { width: 4, order: WordOrder::Signed };
        assert_eq!(bits(words, Dtype::I32, &[64, 64], &ramp), 4096.0 * 12.0);
        // Signs and exponents that are four each, seven bits that are all the same.
        let floats: Vec<u8> = (0..4096u32)
            .flat_map(|i| {
                ((0.5 * f32::from_bits(((127 + i % 4) << 23) | (i / 4 % 2) << 31)).to_bits() >> 16)
                    .to_le_bytes()[..2]
                    .to_vec()
            })
            .collect();
        for view in [
            View::Words { width: 2, order: WordOrder::SignMagnitude },
            View::FloatBytes { width: 2 },
        ] {
            assert_eq!(bits(view, Dtype::BF16, &[64, 64], &floats), 4096.0 * 3.0);
        }
        let words = View::Words { width: 2, order: WordOrder::Float };
        assert_eq!(bits(words, Dtype::F16, &[64, 64], &floats), 4096.0 * 3.0);
    }
}
