//! The records that kernels read: numbers of 64 bits, in the order of `kernels/batch.cuh`, where each
//! field has its name.

/// Numbers of a part's record.
pub const PART_FIELDS: usize = 67;
/// Numbers of a group's record.
pub const GROUP_FIELDS: usize = 10;
/// Numbers of a tensor's record.
pub const JOIN_FIELDS: usize = 24;
/// Numbers of a block of the decoding kernel: its first group, how many.
pub const BLOCK_FIELDS: usize = 2;
/// Numbers of a block of the joining kernel: its tensor, its first byte.
pub const JOIN_BLOCK_FIELDS: usize = 2;
/// Numbers of a launch.
pub(crate) const LAUNCH_FIELDS: usize = 21;
/// Bytes of a tensor that a block joins.
pub(crate) const JOIN_BLOCK_BYTES: usize = 4096;
/// Groups of a block: warps.
pub(crate) const BLOCK_GROUPS: usize = 16;

pub(crate) const IS_PAIRS: u64 = 1;
pub(crate) const IS_PREDICTED: u64 = 2;
pub(crate) const IS_BY_TILE: u64 = 4;
pub(crate) const IS_TRANSFORMED: u64 = 8;
pub(crate) const HAS_CLASSES: u64 = 16;
pub(crate) const HAS_MEANS: u64 = 32;
pub(crate) const HAS_REFERENCE: u64 = 64;
pub(crate) const TO_OUTPUT: u64 = 128;
pub(crate) const HAS_ZERO: u64 = 256;
pub(crate) const HAS_ORDER: u64 = 512;
pub(crate) const IS_STACKED: u64 = 1024;
pub(crate) const IS_COMPACT: u64 = 2048;
pub(crate) const HAS_ESCAPES: u64 = 4096;

/// A number of this machine as a number of a record.
pub(crate) fn word(n: usize) -> u64 {
    n as u64
}

/// What all groups of a part have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) bitplane: bool,
    pub(crate) flags: u64,
    pub(crate) bits: u64,
    pub(crate) alphabet: u64,
    pub(crate) cols: usize,
    pub(crate) table_bits: u64,
    pub(crate) tables: usize,
    pub(crate) tables_at: usize,
    pub(crate) tile: (usize, usize),
    pub(crate) predictor: u64,
    pub(crate) centre: u64,
    pub(crate) means_at: usize,
    pub(crate) reference_at: usize,
    pub(crate) escape: u64,
    pub(crate) order_at: usize,
    pub(crate) lines_at: usize,
    pub(crate) two_rows_at: usize,
    pub(crate) sums_at: usize,
    pub(crate) bias: i32,
    /// Place and number.
    pub(crate) rows: (usize, usize),
    pub(crate) col_levels: (usize, usize),
    pub(crate) maps: (usize, usize),
    pub(crate) levels: usize,
    /// Four levels, the zero point.
    pub(crate) sources: [Source; 5],
}

/// Numbers of blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    pub(crate) values: (usize, usize),
    pub(crate) block: (usize, usize),
    pub(crate) stride: usize,
    pub(crate) map: (usize, usize),
}

impl Source {
    fn words(self) -> [u64; 8] {
        let (rows, cols) = self.block;
        let shift = if cols.is_power_of_two() { 1 + u64::from(cols.trailing_zeros()) } else { 0 };
        let ((values, count), (map, map_rows)) = (self.values, self.map);
        let [values, count, map, map_rows] = [values, count, map, map_rows].map(word);
        [values, count, word(rows), word(cols), shift, word(self.stride), map, map_rows]
    }
}

impl Part {
    pub(crate) fn write(&self, out: &mut Vec<u64>) {
        let start = out.len();
        out.extend([u64::from(self.bitplane), self.flags, self.bits, self.alphabet]);
        out.extend([word(self.cols), self.table_bits, word(self.tables), word(self.tables_at)]);
        out.extend([word(self.tile.0), word(self.tile.1), self.predictor, self.centre]);
        out.extend([word(self.means_at), word(self.reference_at), self.escape]);
        out.extend([self.order_at, self.lines_at, self.two_rows_at, self.sums_at].map(word));
        out.push(i64::from(self.bias).cast_unsigned());
        for (at, count) in [self.rows, self.col_levels, self.maps] {
            out.extend([word(at), word(count)]);
        }
        out.push(word(self.levels));
        self.sources.iter().for_each(|source| out.extend(source.words()));
        debug_assert_eq!(out.len() - start, PART_FIELDS);
    }
}

/// A group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    pub(crate) part: usize,
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) crc: u32,
    pub(crate) row: usize,
    pub(crate) count: usize,
    pub(crate) out: usize,
    pub(crate) scratch: usize,
    pub(crate) reference: usize,
    /// Its first pair of two rows among those of the part.
    pub(crate) pairs: usize,
}

impl Group {
    pub(crate) fn write(&self, out: &mut Vec<u64>) {
        out.extend([word(self.part), word(self.at), word(self.length), u64::from(self.crc)]);
        out.extend([self.row, self.count, self.out, self.scratch].map(word));
        out.extend([self.reference, self.pairs].map(word));
    }
}
