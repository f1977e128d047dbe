//! Going through a stream in steps.

mod block;

use latens_kernels::delta::{Bodies, Kernel, MAX_WIDTH, MINIBLOCK_STEP, decode_from};
use latens_kernels::dispatch::{Simd, simd};
use latens_kernels::lane::Lane;

use super::Element;
use super::layout::{Header, header, places};
use super::options::Options;
use crate::bits::{varint, zigzag};
use crate::error::{Error, Result};
use block::{Block, fits};

/// Goes through one stream: reads or skips as many values as asked for, call after call.
///
/// ```
/// use latens::delta_binary_packed::{Decoder, Layout, Options, encode};
/// let numbers: Vec<i32> = (0..1000).map(|i| i * i).collect();
/// let mut page = encode(&numbers, Layout::default_for::<i32>());
/// let size = page.len();
/// page.extend(b"what comes next");
///
/// let mut decoder = Decoder::<i32>::new(&page, Options::default())?;
/// let mut some = [0; 100];
/// assert_eq!(decoder.skip(500)?, 500);
/// assert_eq!(decoder.read(&mut some)?, 100);
/// assert_eq!(some, numbers[500..600]);
/// assert_eq!(decoder.remaining(), 400);
/// decoder.skip(400)?;
/// assert_eq!(decoder.consumed(), size);
/// # Ok::<(), latens::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a, T: Element> {
    bytes: &'a [u8],
    options: Options,
    kernel: Kernel,
    header: Header,
    /// Values not handed out yet.
    remaining: u64,
    /// The value handed out last, or the first one as long as none was.
    last: T::Lane,
    /// Where the next block begins.
    at: usize,
    block: Block<'a, T::Lane>,
}

impl<'a, T: Element> Decoder<'a, T> {
    /// Reads the header of the stream at the start of `bytes`; more may follow the stream.
    ///
    /// # Errors
    /// As [`header`]; corrupt where the stream announces another count than
    /// [`Options::expect_count`] (at the count), and in strict reading where the first value is beyond
    /// `T` (at the first value). These two are judged when the header was read.
    pub fn new(bytes: &'a [u8], options: Options) -> Result<Self> {
        let header = header(bytes)?;
        if let Some(count) = options.expect_count
            && count != header.total_count
        {
            let announced = header.total_count;
            return Err(Error::corrupt(
                places(bytes).0,
                format!("the stream announces {announced} values where {count} are expected"),
            ));
        }
        if options.strict && !fits::<T::Lane>(header.first_value) {
            let value = header.first_value;
            let what = format!("a first value of {value} in 32-bit numbers");
            return Err(Error::corrupt(places(bytes).1, what));
        }
        Ok(Self {
            bytes,
            options,
            kernel: Kernel::new(simd()),
            header,
            remaining: header.total_count,
            last: T::Lane::truncate(header.first_value.cast_unsigned()),
            at: header.size,
            block: Block::none(),
        })
    }

    /// The same decoder on another instruction set, where the processor has it: for tests and
    /// comparisons.
    #[doc(hidden)]
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.kernel = Kernel::new(simd);
        self
    }

    /// The header of the stream.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Values that the header announced and that were neither read nor skipped yet.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Bytes of the stream up to the end of the block that is being read, computed from the
    /// widths. Once [`Decoder::remaining`] is 0 this is the size of the stream: what follows it
    /// begins there.
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// Decodes the next values into `out` and returns how many: all of `out`, or as many as
    /// remain, or fewer where the next one cannot be had. In that last case the next call reports
    /// the error, and so does every call after it. `out` beyond the returned count is untouched,
    /// and all of it where an error is returned.
    ///
    /// # Errors
    /// Truncated where the input ends within a block (at its end), corrupt where a miniblock is
    /// wider than allowed (at its width byte) or a minimum is no varint of 64 bits (at its first
    /// byte).
    pub fn read(&mut self, out: &mut [T]) -> Result<usize> {
        let want = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(out.len());
        let out = &mut T::as_lanes_mut(out)[..want];
        let mut done = 0;
        if let Some(first) = out.first_mut()
            && self.at_first()
        {
            *first = self.last;
            self.remaining -= 1;
            done = 1;
        }
        while done < want {
            if self.block.left == 0 {
                done += self.read_whole_blocks(&mut out[done..]);
                if done == want {
                    break;
                }
            }
            if let Err(error) = self.enter_block() {
                return if done == 0 { Err(error) } else { Ok(done) };
            }
            let now = self.block.left.min(want - done);
            self.decode(&mut out[done..done + now]);
            done += now;
        }
        Ok(done)
    }

    /// Decodes blocks that are whole and sound straight into `out`, as many as come first, and
    /// returns how many values that were. What is not so is left to [`Block::read`].
    fn read_whole_blocks(&mut self, out: &mut [T::Lane]) -> usize {
        let layout = self.header.layout;
        let (miniblocks, step) = (layout.miniblocks(), layout.values_per_miniblock());
        let mut done = 0;
        if self.options.strict || self.block.defect.is_some() {
            return done;
        }
        let (mut at, mut last) = (self.at, self.last);
        for block in out.chunks_exact_mut(layout.block_size()) {
            let mut next = at;
            let Ok(min_delta) = varint::read(self.bytes, &mut next, "a minimum delta") else {
                break;
            };
            let rest = self.bytes.get(next..).unwrap_or_default();
            let Some((widths, bodies)) = rest.split_at_checked(miniblocks) else { break };
            let (mut bits, mut sound) = (0usize, true);
            for &width in widths {
                bits += usize::from(width);
                sound &= width <= MAX_WIDTH;
            }
            let size = bits.checked_mul(step / 8).filter(|&size| size <= bodies.len());
            let (true, Some(size)) = (sound, size) else { break };
            let min_delta = T::Lane::truncate(zigzag::decode(min_delta).cast_unsigned());
            let bodies = Bodies { bytes: bodies, widths, values_per_miniblock: step };
            last = self.kernel.decode_block(bodies, min_delta, last, block);
            at = next + miniblocks + size;
            done += block.len();
        }
        (self.at, self.last) = (at, last);
        self.remaining -= done as u64;
        done
    }

    /// Passes over the next `count` values and returns how many: all, or as many as remain, or
    /// fewer, exactly as [`Decoder::read`] does.
    ///
    /// A value is the sum of all differences before it, so the blocks in between are still added
    /// up, in cache; but where no value is wanted after them, i.e. `count` reaches the end, only
    /// their minima and widths are looked at.
    ///
    /// # Errors
    /// As [`Decoder::read`].
    pub fn skip(&mut self, count: u64) -> Result<u64> {
        if count >= self.remaining {
            return self.skip_rest();
        }
        let mut scratch = [T::default(); 1024];
        let mut done = 0;
        while done < count {
            let now = usize::try_from(count - done).unwrap_or(usize::MAX).min(scratch.len());
            match self.read(&mut scratch[..now]) {
                Ok(n) if n == now => done += n as u64,
                Ok(n) => return Ok(done + n as u64),
                Err(error) => return if done == 0 { Err(error) } else { Ok(done) },
            }
        }
        Ok(done)
    }

    /// Passes over all that remains by minima and widths alone.
    fn skip_rest(&mut self) -> Result<u64> {
        self.skip_blocks(self.remaining)
    }

    /// Passes over the next `least` values, and over what their last block has beyond, by minima and
    /// widths alone: values that are read behind it lack the sum of all before. Returns how many those
    /// were; fewer than `least` as [`Decoder::read`] does.
    pub(super) fn skip_blocks(&mut self, least: u64) -> Result<u64> {
        let all = self.remaining;
        let end = all.saturating_sub(least);
        if self.at_first() && self.remaining > 0 {
            self.remaining -= 1;
        }
        self.last = T::Lane::default();
        while self.remaining > end {
            if let Err(error) = self.enter_block() {
                let done = all - self.remaining;
                return if done == 0 { Err(error) } else { Ok(done) };
            }
            self.remaining -= self.block.left as u64;
            self.block.left = 0;
        }
        Ok(all - self.remaining)
    }

    fn at_first(&self) -> bool {
        self.remaining == self.header.total_count
    }

    /// Makes sure that the current block has values to give.
    #[inline]
    fn enter_block(&mut self) -> Result<()> {
        while self.block.left == 0 {
            if let Some(defect) = self.block.defect {
                return Err(defect.error());
            }
            let (layout, strict) = (self.header.layout, self.options.strict);
            (self.block, self.at) =
                Block::read(self.bytes, self.at, layout, self.remaining, strict)?;
        }
        Ok(())
    }

    /// Decodes values of the current block, no more than it has left.
    fn decode(&mut self, out: &mut [T::Lane]) {
        let step = self.header.layout.values_per_miniblock();
        let block = &mut self.block;
        let min_delta = block.min_delta;
        self.remaining -= out.len() as u64;
        block.left -= out.len();
        let mut out = out;
        if block.inside > 0
            && let Some(&width) = block.widths.first()
        {
            let (here, rest) = out.split_at_mut(out.len().min(step - block.inside));
            // Up to the next multiple of 32 values field by field, from there as ever.
            let odd = block.inside.next_multiple_of(MINIBLOCK_STEP) - block.inside;
            let (odd, even) = here.split_at_mut(odd.min(here.len()));
            self.last = decode_from(block.bytes, width, block.inside, min_delta, self.last, odd);
            block.inside += odd.len();
            if !even.is_empty() {
                let skipped = (block.inside / 8).saturating_mul(width.into());
                let bodies = Bodies {
                    bytes: block.bytes.get(skipped..).unwrap_or_default(),
                    widths: &block.widths[..1],
                    values_per_miniblock: step - block.inside,
                };
                self.last = self.kernel.decode_block(bodies, min_delta, self.last, even);
                block.inside += even.len();
            }
            if block.inside == step {
                block.pass_miniblocks(1, step);
            }
            out = rest;
        }
        if out.is_empty() {
            return;
        }
        let bodies =
            Bodies { bytes: block.bytes, widths: block.widths, values_per_miniblock: step };
        self.last = self.kernel.decode_block(bodies, min_delta, self.last, out);
        if block.left > 0 {
            block.pass_miniblocks(out.len() / step, step);
            block.inside = out.len() % step;
        }
    }
}
