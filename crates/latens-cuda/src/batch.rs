//! Tensors that are decoded in one launch, as flat records and buffers.
//!
//! Five buffers hold what groups are decoded from and to; all places are offsets into them.
//!
//! | buffer | holds |
//! |---|---|
//! | input | stored groups, each on four bytes |
//! | side | tables, levels, means, references, and the tables of the checksum |
//! | planes | decoded parts that are still to be joined |
//! | outputs | tensors, each on 256 bytes |
//! | scratch | what groups with transforms or bitplanes need on the way |

mod host;
mod symbols;

use crate::crc;
use crate::join::{Join, Place};
use crate::record::{self, JOIN_BLOCK_BYTES, word};
use host::on_the_host;
use latens::wcodec::device::{PartPlan, TensorPlan};
use latens::wcodec::view::{Layout, Sign};
use latens::{Error, Result};
use std::ops::Range;

/// What of a tensor is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Its bytes, as they were in the source; of whole units alone.
    Stored,
    /// Its logical weights, one a byte where they are small integers, else words of its own type.
    Values,
}

/// Bytes of the file that belong into the input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Where they begin in the file.
    pub from: u64,
    /// Where they go.
    pub to: usize,
    /// How many there are.
    pub bytes: usize,
}

/// Bytes that were decoded on the host.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Into the outputs, else into the planes.
    pub to_output: bool,
    /// Where they go.
    pub to: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A tensor of a batch.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The number that [`Batch::add`] was given.
    pub number: usize,
    /// Its bytes in the outputs.
    pub out: Range<usize>,
    /// Its groups, whose status tells whether they count.
    pub groups: Range<usize>,
}

/// A batch of tensors.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Bytes of the input.
    pub input: usize,
    /// The side buffer.
    pub side: Vec<u8>,
    /// Bytes of the planes.
    pub planes: usize,
    /// Bytes of the outputs.
    pub outputs: usize,
    /// Bytes of the scratch memory.
    pub scratch: usize,
    /// Bytes of the tables of the part that has most.
    pub tables: usize,
    /// Records of parts, [`crate::PART_FIELDS`] numbers each.
    pub parts: Vec<u64>,
    /// Records of groups, [`crate::GROUP_FIELDS`] numbers each.
    pub groups: Vec<u64>,
    /// Records of tensors that are joined, [`crate::JOIN_FIELDS`] numbers each.
    pub joins: Vec<u64>,
    /// Blocks of the decoding kernel.
    pub blocks: Vec<u64>,
    /// Blocks of the joining kernel.
    pub join_blocks: Vec<u64>,
    /// What of the file goes into the input, in its order.
    pub fetches: Vec<Fetch>,
    /// What was decoded on the host.
    pub uploads: Vec<Upload>,
    /// The tensors.
    pub tensors: Vec<Decoded>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            input: 0,
            side: crc::tables(),
            planes: 0,
            outputs: 0,
            scratch: 0,
            tables: 0,
            parts: Vec::new(),
            groups: Vec::new(),
            joins: Vec::new(),
            blocks: Vec::new(),
            join_blocks: Vec::new(),
            fetches: Vec::new(),
            uploads: Vec::new(),
            tensors: Vec::new(),
        }
    }
}

/// Takes `len` bytes behind the `end` of a buffer, on a multiple of `align`.
fn take(end: &mut usize, len: usize, align: usize) -> Result<usize> {
    let at = end.checked_next_multiple_of(align);
    let next = at.and_then(|at| at.checked_add(len)).filter(|end| isize::try_from(*end).is_ok());
    let (Some(at), Some(next)) = (at, next) else {
        return Err(Error::invalid("a batch larger than memory; decode fewer tensors at a time"));
    };
    *end = next;
    Ok(at)
}

impl Batch {
    /// How many groups it has.
    pub fn group_count(&self) -> usize {
        self.groups.len() / record::GROUP_FIELDS
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// Invalid argument where the batch would be larger than memory, or rows do not come out even.
    pub fn add(&mut self, number: usize, plan: TensorPlan, output: Output) -> Result<()> {
        let TensorPlan { layout, rows, parts } = plan;
        let first = self.group_count();
        let meaning = layout.meaning().filter(|_| output == Output::Values);
        let join = match meaning {
            Some(m) if m.bits == 8 && m.sign != Sign::Offset => Some(Join::COPY),
            Some(m) => Some(Join::values(m.bits, m.sign)),
            None => Join::of(layout.view, layout.cols),
        };
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let count = size(rows.end - rows.start);
        let out_len = match meaning {
            Some(_) => count.checked_mul(size(layout.cols)),
            None => (count / size(layout.unit_rows).max(1)).checked_mul(size(layout.unit_bytes)),
        };
        let uneven = meaning.is_none() && !count.is_multiple_of(size(layout.unit_rows).max(1));
        let (Some(out_len), false) = (out_len, uneven) else {
            return Err(Error::invalid(format!("{count} rows are no whole units of this tensor")));
        };
        let out = take(&mut self.outputs, out_len, 256)?;
        // Values are those of the weights alone, which are the last part.
        let parts = match meaning {
            Some(_) => parts.into_iter().next_back().into_iter().collect(),
            None => parts,
        };
        let on_host = parts.iter().all(|p| matches!(p, PartPlan::Decoded(_)));
        match (join, on_host, parts.len()) {
            (None, ..) | (_, true, _) => {
                let host = parts.into_iter().map(|p| match p {
                    PartPlan::Decoded(bytes) => Ok(bytes),
                    PartPlan::Symbols(_) => Err(Error::invalid("symbols of a view of words")),
                });
                let bytes = on_the_host(&layout, host.collect::<Result<_>>()?, meaning.is_some())?;
                if bytes.len() != out_len {
                    return Err(Error::corrupt(0, "parts that are not those of the tensor"));
                }
                self.uploads.push(Upload { to_output: true, to: out, bytes });
            }
            (Some(join), false, _) => {
                let mut places = Vec::new();
                let one = parts.len() == 1;
                for part in parts {
                    match part {
                        PartPlan::Decoded(bytes) => {
                            let at = take(&mut self.planes, bytes.len(), 16)?;
                            places.push((at, bytes.len()));
                            self.uploads.push(Upload { to_output: false, to: at, bytes });
                        }
                        PartPlan::Symbols(plan) => {
                            let whole = plan.groups.iter().map(|g| g.count).sum::<usize>();
                            let direct = one && join == Join::COPY && plan.wanted == (0..whole);
                            let at = if direct { out } else { take(&mut self.planes, whole, 16)? };
                            places.push((at + plan.wanted.start, plan.wanted.len()));
                            self.symbols(*plan, at, direct)?;
                            if direct {
                                places.clear();
                            }
                        }
                    }
                }
                if !places.is_empty() {
                    self.join(join, out, out_len, &places);
                }
            }
        }
        let groups = first..self.group_count();
        self.tensors.push(Decoded { number, out: out..out + out_len, groups });
        Ok(())
    }

    /// Adds a tensor whose parts were decoded elsewhere: they are joined on the device.
    ///
    /// # Errors
    /// Invalid argument for views of words, whose parts are the tensor, and where the batch would be
    /// larger than memory.
    pub fn add_parts(&mut self, number: usize, layout: &Layout, parts: Vec<Vec<u8>>) -> Result<()> {
        let Some(join) = Join::of(layout.view, layout.cols) else {
            return Err(Error::invalid("words are not joined from parts"));
        };
        let len = layout.rows / layout.unit_rows.max(1) * layout.unit_bytes;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let out = take(&mut self.outputs, len, 256)?;
        let mut places = Vec::new();
        for bytes in parts {
            let to = take(&mut self.planes, bytes.len(), 16)?;
            places.push((to, bytes.len()));
            self.uploads.push(Upload { to_output: false, to, bytes });
        }
        self.join(join, out, len, &places);
        let groups = self.group_count();
        self.tensors.push(Decoded { number, out: out..out + len, groups: groups..groups });
        Ok(())
    }

    fn join(&mut self, join: Join, out: usize, len: usize, places: &[Place]) {
        let number = word(self.joins.len() / record::JOIN_FIELDS);
        join.write(out, len, places, &mut self.joins);
        let starts = (0..len).step_by(JOIN_BLOCK_BYTES);
        self.join_blocks.extend(starts.flat_map(|at| [number, word(at)]));
    }

    /// Appends bytes to the side buffer, on four bytes.
    fn aside(&mut self, bytes: impl IntoIterator<Item = u8>) -> usize {
        self.side.resize(self.side.len().next_multiple_of(4), 0);
        let at = self.side.len();
        self.side.extend(bytes);
        at
    }
}
