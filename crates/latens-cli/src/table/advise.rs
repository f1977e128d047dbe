//! What each encoding would cost for each column of a table, and which to use.

use latens::NumberType;
use latens::pco::Config;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::io::{parquet, pco_zip};
use crate::message::Result;
use crate::parallel;
use crate::table::model::{Field, Storage};
use crate::table::sample::Sample;
use crate::table::source::Table;

/// What Parquet does not have, among the sizes.
const PCO: &str = "pco";

/// What `latens advise` found.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// In the table's order.
    pub columns: Vec<ColumnAdvice>,
    /// Nested columns, which are not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Python that writes the table so with pyarrow.
    pub pyarrow: String,
    /// The rows that were measured, where those are not all: sizes are estimates then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_from: Option<u64>,
}

/// Of a table of more than four times as many rows these are measured: stretches as long as the row
/// groups that the tool writes. That takes seconds a column.
const STRETCHES: u64 = 16;
/// Rows of a stretch.
const STRETCH: u64 = 1 << 20;

/// One column of an [`Advice`].
#[derive(Clone, Debug, Serialize)]
pub struct ColumnAdvice {
    /// Name in the table.
    pub name: String,
    /// `i32`, `timestamp[us, UTC]`, `text`, …
    #[serde(rename = "type")]
    pub logical_type: String,
    /// Rows, nulls among them.
    pub n: u64,
    /// Bytes by encoding: `pco`, `plain`, `dictionary`, `delta_binary_packed`, and the last three
    /// with `_zstd`; `byte_stream_split_zstd`; what does not suit the column is absent.
    pub sizes: BTreeMap<String, u64>,
    /// The smallest of them all.
    pub recommended: String,
    /// The smallest of those that Parquet has; columns of one name have it together, as PyArrow sets
    /// it by name.
    pub parquet: String,
}

/// Measure every column, columns in parallel; a sample of the rows of a very long table. `progress`
/// is told of the column at hand.
///
/// # Errors
/// Those of the source.
pub fn advise(table: &dyn Table, progress: &(dyn Fn(&str) + Sync)) -> Result<Advice> {
    let (fields, rows) = (&table.schema().fields, table.rows());
    let sample = Sample::of(table, STRETCHES, STRETCH);
    let table = sample.as_ref().map_or(table, |sample| sample as &dyn Table);
    let measured = table.rows();
    let of_all = |bytes: u64| match u128::from(bytes) * u128::from(rows) {
        _ if measured == rows => bytes,
        product => u64::try_from(product / u128::from(measured.max(1))).unwrap_or(u64::MAX),
    };
    let mut columns = parallel::map(fields.len(), &|index| {
        let field = &fields[index];
        progress(&field.name);
        let measured = parquet::measure(table, index)?;
        let named = measured.into_iter().map(|size| {
            let suffix = if size.zstd { "_zstd" } else { "" };
            (format!("{}{suffix}", size.encoding), of_all(size.bytes))
        });
        let mut all: Vec<(String, u64)> = named.collect();
        let parquet = smallest(&all);
        all.push((PCO.into(), of_all(pco_zip::size(table, index, &Config::default())?)));
        Ok(ColumnAdvice {
            name: field.name.clone(),
            logical_type: field.type_name(),
            n: rows,
            recommended: smallest(&all),
            parquet,
            sizes: all.into_iter().collect(),
        })
    })?;
    share_by_name(&mut columns);
    Ok(Advice {
        pyarrow: snippet(fields, &columns),
        columns,
        left_out: Vec::new(),
        estimated_from: (measured < rows).then_some(measured),
    })
}

/// The first of the smallest: simpler ones come first.
fn smallest(sizes: &[(String, u64)]) -> String {
    sizes.iter().min_by_key(|(_, bytes)| *bytes).map(|(name, _)| name.clone()).unwrap_or_default()
}

/// Columns of one name take what is smallest for them together, of what all of them can have.
fn share_by_name(columns: &mut [ColumnAdvice]) {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, column) in columns.iter().enumerate() {
        by_name.entry(&column.name).or_default().push(index);
    }
    let alike: Vec<Vec<usize>> = by_name.into_values().filter(|all| all.len() > 1).collect();
    for all in alike {
        let sum = |key: &str| -> Option<u64> {
            all.iter().map(|&index| columns[index].sizes.get(key).copied()).sum()
        };
        let together: Vec<(String, u64)> = columns[all[0]]
            .sizes
            .keys()
            .filter(|key| *key != PCO)
            .filter_map(|key| Some((key.clone(), sum(key)?)))
            .collect();
        let best = smallest(&together);
        for index in all {
            columns[index].parquet.clone_from(&best);
        }
    }
}

/// A string literal of Python: that of JSON is one.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What stands above a snippet that splits other numbers than f32 and f64. By pyarrow 11 to 26,
/// DuckDB 0.9 to 2.0, polars 0.20 to 2.1.
const FEW_READERS: &str = "\
# BYTE_STREAM_SPLIT of anything but float32 and float64 takes pyarrow 16, and readers as new:
# DuckDB 1 has none of it.
";

/// Whether the column, written as it is best, is one that few readers know.
fn is_rare(field: &Field, column: &ColumnAdvice) -> bool {
    let float = matches!(field.storage, Storage::Number(NumberType::F32 | NumberType::F64));
    column.parquet.starts_with(parquet::SPLIT) && !float
}

/// `pq.write_table` with the encodings and codecs of all columns.
fn snippet(fields: &[Field], columns: &[ColumnAdvice]) -> String {
    let mut dictionary = Vec::new();
    let (mut encodings, mut codecs) = (Vec::new(), Vec::new());
    let mut told = BTreeSet::new();
    for column in columns.iter().filter(|column| told.insert(&column.name)) {
        let name = literal(&column.name);
        let encoding = column.parquet.trim_end_matches("_zstd");
        match encoding {
            "dictionary" => dictionary.push(name.clone()),
            // PLAIN needs no word where there is no dictionary.
            "plain" => {}
            _ => encodings.push(format!("{name}: \"{}\"", encoding.to_uppercase())),
        }
        let codec = if column.parquet.ends_with("_zstd") { "zstd" } else { "none" };
        codecs.push((name, codec));
    }
    let rare = fields.iter().zip(columns).any(|(field, column)| is_rare(field, column));
    let mut text = String::from(if rare { FEW_READERS } else { "" });
    text.push_str("pq.write_table(\n    table,\n    \"out.parquet\",\n");
    let dictionary = match dictionary.is_empty() {
        true => "False".to_string(),
        false => format!("[{}]", dictionary.join(", ")),
    };
    let _ = writeln!(text, "    use_dictionary={dictionary},");
    if !encodings.is_empty() {
        let _ = writeln!(text, "    column_encoding={{{}}},", encodings.join(", "));
    }
    let alike = codecs.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let compression = match codecs.first() {
        Some((_, first)) if alike => literal(first),
        _ => members(codecs.iter().map(|(name, codec)| (name, literal(codec)))),
    };
    let _ = writeln!(text, "    compression={compression},");
    // Without one PyArrow takes another than was measured.
    let mut packed = codecs.iter().filter(|(_, codec)| *codec == "zstd").peekable();
    if packed.peek().is_some() {
        let level = parquet::ZSTD_LEVEL.to_string();
        let level = match alike {
            true => level,
            false => members(packed.map(|(name, _)| (name, level.clone()))),
        };
        let _ = writeln!(text, "    compression_level={level},");
    }
    text.push_str(")\n");
    text
}

/// A dictionary of Python.
fn members<'a>(all: impl Iterator<Item = (&'a String, String)>) -> String {
    let all: Vec<String> = all.map(|(name, value)| format!("{name}: {value}")).collect();
    format!("{{{}}}", all.join(", "))
}
