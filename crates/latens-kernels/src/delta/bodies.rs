//! The packed bodies of miniblocks, and runs of those of one width.

/// Most bits that a field may have, whatever the lane.
pub const MAX_WIDTH: u8 = 64;

/// Miniblock sizes are multiples of this many values.
pub const MINIBLOCK_STEP: usize = 32;

/// The packed bodies of consecutive miniblocks.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// From the first body on, to the end of all that may be read: kernels load more than the
    /// bodies where there is more.
    pub bytes: &'a [u8],
    /// One width in bits per miniblock, each at most [`MAX_WIDTH`].
    pub widths: &'a [u8],
    /// Values in each full miniblock, a multiple of [`MINIBLOCK_STEP`].
    pub values_per_miniblock: usize,
}

/// Neighbouring miniblocks of one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// From the first body of the run to the end of all that may be read.
    pub(crate) bytes: &'a [u8],
    pub(crate) width: u32,
    pub(crate) values: usize,
}

impl<'a> Run<'a> {
    /// The bytes from value `index` on, a multiple of eight.
    #[inline(always)]
    pub(crate) fn bytes_from(&self, index: usize) -> &'a [u8] {
        let skipped = (index / 8).saturating_mul(self.width as usize);
        self.bytes.get(skipped..).unwrap_or_default()
    }
}

/// Cuts [`Bodies`] into [`Run`]s until `left` values are covered.
pub(crate) struct Runs<'a> {
    bodies: Bodies<'a>,
    left: usize,
}

impl<'a> Runs<'a> {
    #[inline(always)]
    pub(crate) fn new(bodies: Bodies<'a>, values: usize) -> Self {
        Self { bodies, left: values }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<'a>> {
        let Bodies { bytes, widths, values_per_miniblock } = self.bodies;
        if self.left == 0 {
            return None;
        }
        let (&width, _) = widths.split_first()?;
        let mut values = values_per_miniblock;
        let mut miniblocks = 1;
        while values < self.left && widths.get(miniblocks) == Some(&width) {
            values += values_per_miniblock;
            miniblocks += 1;
        }
        let size = (values / 8).saturating_mul(usize::from(width));
        self.bodies.widths = &widths[miniblocks..];
        self.bodies.bytes = bytes.get(size..).unwrap_or_default();
        let values = values.min(self.left);
        self.left -= values;
        Some(Run { bytes, width: width.into(), values })
    }
}
