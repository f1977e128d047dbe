//! Which class a symbol has: from levels of its row, column and block.
//!
//! | field | form |
//! |---|---|
//! | terms | u8; bit 0 rows, 1 columns, 2 zero points, bits 4 to 7 number of level sources |
//! | bias | zigzag |
//! | rows, columns | a short stream each |
//! | level sources, zero source | a source each |
//! | maps | how many, varint; each runs of (length − 1 as varint, class u8) over 256 values |

use crate::bits::{varint, zigzag};
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::source::Source;

/// Most level sources.
pub(crate) const MAX_SOURCES: usize = 4;

/// The class of (r, c) is `maps[z][clamp(rows[r] + cols[c] − levels + bias, 0, 255)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassRule {
    /// A level for each row; empty if rows have none.
    pub(crate) rows: Vec<u8>,
    /// A level for each (coded) column; empty if columns have none.
    pub(crate) cols: Vec<u8>,
    pub(crate) bias: i32,
    pub(crate) levels: Vec<Source>,
    pub(crate) zero: Option<Source>,
    /// By zero point; at least one.
    pub(crate) maps: Vec<Map>,
}

/// Classes of the 256 sums.
pub(crate) type Map = [u8; 256];

impl ClassRule {
    /// Appends the rule, with these levels of columns.
    pub(crate) fn write(&self, cols: &[u8], out: &mut Vec<u8>) {
        let bit = |set: bool, bit: u8| u8::from(set) << bit;
        let sources = self.levels.len().to_le_bytes()[0];
        out.push(
            bit(!self.rows.is_empty(), 0)
                | bit(!cols.is_empty(), 1)
                | bit(self.zero.is_some(), 2)
                | sources << 4,
        );
        varint::write(zigzag::encode(i64::from(self.bias)), out);
        for levels in [&self.rows[..], cols] {
            if !levels.is_empty() {
                short_stream::write(levels, out);
            }
        }
        self.levels.iter().chain(&self.zero).for_each(|source| source.write(out));
        varint::write(self.maps.len() as u64, out);
        for map in &self.maps {
            for run in map.chunk_by(|a, b| a == b) {
                varint::write(run.len() as u64 - 1, out);
                out.push(run[0]);
            }
        }
    }

    /// Reads the rule for a plane of `rows` × `cols` coded symbols with `classes` tables.
    pub(crate) fn read(
        fields: &mut Fields<'_>,
        rows: usize,
        cols: usize,
        classes: usize,
    ) -> Result<Self> {
        let at = fields.at();
        let terms = fields.u8("the terms of classes")?;
        let sources = usize::from(terms >> 4);
        if terms & 8 != 0 || sources > MAX_SOURCES {
            return Err(Error::corrupt(at, format!("{terms:#x} are not terms of classes")));
        }
        let at = fields.at();
        let bias = zigzag::decode(fields.varint("a bias of classes")?);
        let bias = i32::try_from(bias)
            .ok()
            .filter(|b| b.unsigned_abs() < 1 << 24)
            .ok_or_else(|| Error::corrupt(at, format!("a bias of {bias}")))?;
        let mut stream = |bit: u8, count: usize, what| match terms & bit {
            0 => Ok(Vec::new()),
            _ => short_stream::read(fields, count, what),
        };
        let rows = stream(1, rows, "levels of rows")?;
        let cols = stream(2, cols, "levels of columns")?;
        let levels = (0..sources).map(|_| Source::read(fields)).collect::<Result<_>>()?;
        let zero = if terms & 4 == 0 { None } else { Some(Source::read(fields)?) };
        let at = fields.at();
        let count = fields.count(2, "the number of maps")?;
        if count == 0 || count > if zero.is_some() { 256 } else { 1 } {
            return Err(Error::corrupt(at, format!("{count} maps of classes")));
        }
        let maps = (0..count).map(|_| read_map(fields, classes)).collect::<Result<_>>()?;
        Ok(Self { rows, cols, bias, levels, zero, maps })
    }
}

fn read_map(fields: &mut Fields<'_>, classes: usize) -> Result<Map> {
    let mut map = [0u8; 256];
    let mut filled = 0;
    while filled < map.len() {
        let at = fields.at();
        let length = fields.size("a run of classes")?;
        let class = fields.u8("a class")?;
        let Some(run) = map[filled..].get_mut(..=length) else {
            return Err(Error::corrupt(at, "a map of classes has more than 256 places"));
        };
        if usize::from(class) >= classes {
            return Err(Error::corrupt(at, format!("class {class}; there are {classes} tables")));
        }
        run.fill(class);
        filled += run.len();
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::layout::source::{NumberForm, PartOf};

    #[test]
    fn rules_come_back() {
        let mut map = [0u8; 256];
        map[100..].fill(1);
        map[200..].fill(2);
        let source = Source {
            of: PartOf::Own(0),
            form: NumberForm::F16,
            block_rows: 1,
            block_cols: 32,
            fraction: 3,
            added: false,
            row_map: None,
        };
        let rule = ClassRule {
            rows: vec![3, 4, 5],
            cols: vec![200; 7],
            bias: -77,
            levels: vec![source.clone(); 2],
            zero: Some(source),
            maps: vec![map, [2; 256]],
        };
        let mut out = Vec::new();
        rule.write(&rule.cols, &mut out);
        let read = |classes| ClassRule::read(&mut Fields::new(&out), 3, 7, classes);
        assert_eq!(read(3).unwrap(), rule);
        assert!(read(2).is_err());
    }
}
