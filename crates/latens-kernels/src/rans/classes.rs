//! Which table a symbol is coded with: its class.

use super::state::LANES;
#[cfg(target_arch = "aarch64")]
use crate::aarch64::neon_lookup;
use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_lookup;

/// Levels of columns are below this.
pub const WINDOW: usize = 64;
/// Which table each symbol is coded with.
#[derive(Clone, Copy, Debug)]
pub enum Classes<'a> {
    /// All with this one.
    One(u8),
    /// Each its own; as many as symbols.
    PerSymbol(&'a [u8]),
    /// Each by its row and column.
    Levels(Levels<'a>),
}

impl Classes<'_> {
    /// Those of the first `count` symbols.
    ///
    /// # Panics
    /// Where there are fewer.
    pub fn first(self, count: usize) -> Self {
        match self {
            Classes::One(class) => Classes::One(class),
            Classes::PerSymbol(classes) => Classes::PerSymbol(&classes[..count]),
            Classes::Levels(levels) => {
                let starts = &levels.starts[..count.div_ceil(LANES)];
                Classes::Levels(Levels { starts, ..levels })
            }
        }
    }

    /// Whether there are `symbols` classes, all below `tables`.
    pub(super) fn fit(self, tables: usize, symbols: usize) -> bool {
        match self {
            Classes::Levels(levels) => levels.fit(tables, symbols),
            Classes::One(class) => usize::from(class) < tables,
            Classes::PerSymbol(classes) => {
                let most = classes.iter().fold(0, |most, &class| most.max(class));
                classes.len() == symbols && usize::from(most) < tables
            }
        }
    }
}

/// The class of symbol `i` is `map[starts[i / 32] + cols[i mod cols.len()]]`: a window of the map
/// for each row of 32 symbols, in which the columns have their places.
#[derive(Clone, Copy, Debug)]
pub struct Levels<'a> {
    pub(crate) map: &'a [u8],
    pub(crate) starts: &'a [u16],
    pub(crate) cols: &'a [u8],
    /// The highest of them.
    pub(crate) highest: u8,
}

impl<'a> Levels<'a> {
    /// `None` where `cols` are not whole rows of 32 symbols or not all below [`WINDOW`], or less
    /// than a window of the map is left from a start on.
    pub fn new(map: &'a [u8], starts: &'a [u16], cols: &'a [u8]) -> Option<Self> {
        let most = starts.iter().fold(0, |most, &start| most.max(start));
        let highest = cols.iter().fold(0, |most, &col| most.max(col));
        let fits = !cols.is_empty()
            && cols.len().is_multiple_of(LANES)
            && usize::from(highest) < WINDOW
            && usize::from(most) + WINDOW <= map.len();
        fits.then_some(Self { map, starts, cols, highest })
    }

    /// Whether there are `symbols` classes, all below `tables`.
    fn fit(self, tables: usize, symbols: usize) -> bool {
        let most = self.map.iter().fold(0, |most, &class| most.max(class));
        self.starts.len() == symbols.div_ceil(LANES) && usize::from(most) < tables
    }

    /// The class of symbol `i`.
    #[inline(always)]
    pub(crate) fn class(self, i: usize) -> u8 {
        self.map[usize::from(self.starts[i / LANES]) + usize::from(self.cols[i % self.cols.len()])]
    }

    /// Writes down the classes of all symbols.
    ///
    /// # Panics
    /// Where `out` does not have as many as there are starts for.
    pub fn write(self, present: Present, out: &mut [u8]) {
        assert!(self.starts.len() == out.len().div_ceil(LANES), "starts that are not one a row");
        self.expand(present, 0, out);
    }

    /// The classes of the symbols from `first` on, a whole row's first one.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_mut, reason = "there is no kernel")
    )]
    pub(super) fn expand(self, present: Present, mut first: usize, mut out: &mut [u8]) {
        if self.highest == 0 {
            let rows = self.starts[first / LANES..].iter().zip(out.chunks_mut(LANES));
            return rows.for_each(|(start, out)| out.fill(self.map[usize::from(*start)]));
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if present.simd() != Simd::Scalar {
            #[cfg(target_arch = "x86_64")]
            use avx2_lookup::in_windows;
            #[cfg(target_arch = "aarch64")]
            use neon_lookup::in_windows;
            let (starts, at) = (&self.starts[first / LANES..], first % self.cols.len());
            let cols = (self.cols, self.highest);
            // SAFETY: the set is present, and AVX2 is there where AVX-512 is; `new` has seen to
            // places and starts.
            let done = unsafe { in_windows(self.map, starts, cols, at, out) };
            first += done;
            out = &mut out[done..];
        }
        let _ = present;
        let mut col = first % self.cols.len();
        for (start, out) in self.starts[first / LANES..].iter().zip(out.chunks_mut(LANES)) {
            let window = &self.map[usize::from(*start)..];
            for (out, col) in out.iter_mut().zip(&self.cols[col..]) {
                *out = window[usize::from(*col)];
            }
            col = if col + LANES == self.cols.len() { 0 } else { col + LANES };
        }
    }
}
