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

use crate::crc;
use crate::join::{Join, Place};
use crate::record::{self, BLOCK_GROUPS, Group, JOIN_BLOCK_BYTES, Part, Source, word};
use latens::wcodec::Coder;
use latens::wcodec::device::{
    BlockPlan, ClassPlan, GroupPlan, PartPlan, PredictionPlan, SymbolPlan, TensorPlan,
};
use latens::wcodec::view::{Form, Layout, Sign, Values};
use latens::wcodec::{Content, Part as Decoding, Plane};
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

    fn symbols(&mut self, plan: SymbolPlan, out: usize, to_output: bool) -> Result<()> {
        let transform = plan.prediction.as_ref().is_some_and(|p| p.transform);
        let bitplane = plan.coder == Coder::Bitplane;
        let eight = plan.pairs || (transform && !bitplane);
        let mut part = Part {
            bitplane,
            bits: plan.bits.into(),
            alphabet: if eight { 8 } else { plan.bits.into() },
            cols: plan.cols,
            table_bits: plan.table_bits.into(),
            tables: plan.tables.len(),
            ..Part::default()
        };
        if to_output {
            part.flags |= record::TO_OUTPUT;
        }
        if plan.pairs {
            part.flags |= record::IS_PAIRS;
        }
        let tables = plan.tables.iter().flat_map(|t| table(t, plan.table_bits, part.alphabet));
        part.tables_at = self.aside(tables.collect::<Vec<u8>>());
        self.tables = self.tables.max(self.side.len() - part.tables_at);
        if let Some(prediction) = plan.prediction {
            self.prediction(prediction, &mut part);
        }
        if let Some(classes) = plan.classes {
            self.classes(classes, &mut part);
        }
        let number = self.parts.len() / record::PART_FIELDS;
        part.write(&mut self.parts);
        let (mut at, first) = (out, self.group_count());
        for group in &plan.groups {
            let GroupPlan { length, crc, row, count, .. } = *group;
            let padded = length.next_multiple_of(4);
            let to = take(&mut self.input, padded, 4)?;
            self.fetches.push(Fetch { from: group.at, to, bytes: padded });
            let scratch = scratch_of(bitplane, transform, count, plan.cols);
            let scratch = take(&mut self.scratch, scratch, 4)?;
            let reference = at - out;
            let group = Group {
                part: number,
                at: to,
                length,
                crc,
                row,
                count,
                out: at,
                scratch,
                reference,
            };
            group.write(&mut self.groups);
            at += count;
        }
        let end = self.group_count();
        for start in (first..end).step_by(BLOCK_GROUPS) {
            self.blocks.extend([start, BLOCK_GROUPS.min(end - start)].map(word));
        }
        Ok(())
    }

    fn prediction(&mut self, plan: PredictionPlan, part: &mut Part) {
        part.flags |= record::IS_PREDICTED;
        part.tile = (plan.tile.rows(), plan.tile.cols());
        part.centre = plan.centre.into();
        match plan.predictor {
            Some(predictor) => part.predictor = predictor.id().into(),
            None => part.flags |= record::IS_BY_TILE,
        }
        if plan.transform {
            part.flags |= record::IS_TRANSFORMED;
        }
        if let Some(means) = plan.means {
            part.flags |= record::HAS_MEANS;
            part.means_at = self.aside(means);
        }
        if let Some(reference) = plan.reference {
            part.flags |= record::HAS_REFERENCE;
            part.reference_at = self.aside(reference);
        }
    }

    fn classes(&mut self, plan: ClassPlan, part: &mut Part) {
        part.flags |= record::HAS_CLASSES;
        part.bias = plan.bias;
        part.rows = (self.aside(plan.rows.iter().copied()), plan.rows.len());
        part.col_levels = (self.aside(plan.cols.iter().copied()), plan.cols.len());
        part.maps = (self.aside(plan.maps.iter().flatten().copied()), plan.maps.len());
        part.levels = plan.levels.len();
        for (to, source) in part.sources.iter_mut().zip(plan.levels) {
            *to = self.source(source);
        }
        if let Some(zero) = plan.zero {
            part.flags |= record::HAS_ZERO;
            part.sources[4] = self.source(zero);
        }
    }

    fn source(&mut self, plan: BlockPlan) -> Source {
        let count = plan.values.len();
        let values = (self.aside(plan.values.iter().flat_map(|v| v.to_le_bytes())), count);
        let map = plan.row_map.map_or((0, 0), |map| {
            // A map of no rows is not the same as none: it has a value for no row.
            let rows = map.len().max(1);
            let nowhere = if map.is_empty() { Some(u32::MAX) } else { None };
            (self.aside(map.into_iter().chain(nowhere).flat_map(u32::to_le_bytes)), rows)
        });
        Source { values, block: (plan.block_rows, plan.block_cols), stride: plan.stride, map }
    }
}

/// A table as kernels take it: see `kernels/rans.cuh`.
fn table(frequencies: &[u16], bits: u32, alphabet: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity((4 << alphabet) + (1 << bits));
    let mut before = 0u32;
    for symbol in 0..1usize << alphabet {
        let f = u32::from(frequencies.get(symbol).copied().unwrap_or(0));
        out.extend((f << 16 | before).to_le_bytes());
        before += f;
    }
    for (symbol, &f) in (0u8..=255).zip(frequencies) {
        out.extend(std::iter::repeat_n(symbol, f.into()));
    }
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// Bytes that a group needs beside its symbols: see `kernels/bitplane.cuh`.
fn scratch_of(bitplane: bool, transform: bool, count: usize, cols: usize) -> usize {
    const CONTEXTS: usize = 4 * 16 * 16 + 16 + 16 * 16 * 32;
    let rows = count.checked_div(cols).unwrap_or(0);
    match (bitplane, transform) {
        (true, _) => {
            let known = rows.saturating_add(1).saturating_mul(cols.saturating_add(1));
            (6 * CONTEXTS).saturating_add(known.saturating_add(count).saturating_mul(2))
        }
        (false, true) => count.saturating_mul(2),
        (false, false) => 0,
    }
}

/// A tensor all of whose parts were decoded on the host.
fn on_the_host(layout: &Layout, parts: Vec<Vec<u8>>, values: bool) -> Result<Vec<u8>> {
    let forms = layout.parts();
    let skipped = forms.len().saturating_sub(parts.len());
    let parts: Vec<Decoding> = forms
        .iter()
        .skip(skipped)
        .zip(parts)
        .map(|(form, data)| {
            let content = match form.form {
                Form::Symbols { bits, cols } => {
                    let cols = usize::try_from(cols).unwrap_or(usize::MAX);
                    let rows = data.len().checked_div(cols).unwrap_or(0);
                    Content::Symbols(Plane { rows, cols, bits, data })
                }
                Form::Words { width, float, .. } => Content::Words { width, float, data },
                Form::Raw { .. } => Content::Raw(data),
            };
            Decoding { role: form.role, content }
        })
        .collect();
    if !values {
        return layout.join(parts);
    }
    let weights = parts.into_iter().next_back().map(|p| p.content);
    let (Some(Content::Symbols(plane)), Some(meaning)) = (weights, layout.meaning()) else {
        return Err(Error::invalid("the weights are not symbols"));
    };
    Ok(match meaning.values(plane.data) {
        Values::Signed(values) => values.into_iter().map(i8::cast_unsigned).collect(),
        Values::Unsigned(bytes) | Values::Words(bytes) => bytes,
    })
}
