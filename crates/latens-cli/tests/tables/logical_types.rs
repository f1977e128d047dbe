//! Every type that Parquet has for flat columns: to `.pco.zip` and back, with and without nulls.

use crate::support::{Bench, assert_same, open};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Columns of all types, each once required and once optional.
fn schema() -> String {
    let types = [
        "boolean {}",
        "int32 {}",
        "int32 {} (INTEGER(8,true))",
        "int32 {} (INTEGER(16,true))",
        "int32 {} (INTEGER(32,true))",
        "int32 {} (INTEGER(8,false))",
        "int32 {} (INTEGER(16,false))",
        "int32 {} (INTEGER(32,false))",
        "int32 {} (DATE)",
        "int32 {} (TIME(MILLIS,true))",
        "int32 {} (TIME(MILLIS,false))",
        "int32 {} (DECIMAL(9,2))",
        "int64 {}",
        "int64 {} (INTEGER(64,true))",
        "int64 {} (INTEGER(64,false))",
        "int64 {} (TIME(MICROS,true))",
        "int64 {} (TIME(NANOS,false))",
        "int64 {} (TIMESTAMP(MILLIS,true))",
        "int64 {} (TIMESTAMP(MILLIS,false))",
        "int64 {} (TIMESTAMP(MICROS,true))",
        "int64 {} (TIMESTAMP(MICROS,false))",
        "int64 {} (TIMESTAMP(NANOS,true))",
        "int64 {} (TIMESTAMP(NANOS,false))",
        "int64 {} (DECIMAL(18,4))",
        "int96 {}",
        "float {}",
        "double {}",
        "binary {}",
        "binary {} (STRING)",
        "binary {} (ENUM)",
        "binary {} (JSON)",
        "binary {} (BSON)",
        "binary {} (DECIMAL(20,3))",
        "fixed_len_byte_array(2) {} (FLOAT16)",
        "fixed_len_byte_array(3) {} (DECIMAL(6,1))",
        "fixed_len_byte_array(16) {} (DECIMAL(38,10))",
        "fixed_len_byte_array(16) {} (UUID)",
        "fixed_len_byte_array(12) {} (INTERVAL)",
        "fixed_len_byte_array(5) {}",
        "fixed_len_byte_array(20) {} (DECIMAL(40,2))",
    ];
    let mut text = "message schema {\n".to_string();
    for (i, ty) in types.iter().enumerate() {
        text += &format!("required {};\n", ty.replace("{}", &format!("r{i}")));
        text += &format!("optional {};\n", ty.replace("{}", &format!("o{i}")));
    }
    text + "}\n"
}

/// A number of any size from a row and a column.
fn mix(row: usize, column: usize) -> u64 {
    let x = (row as u64 * 1_000_003 + column as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match row {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << 63,
        3 => i64::MAX as u64,
        4 => 0x7ff8_0000_dead_beef,
        5 => 0xfff0_0000_7fc0_1234,
        // Half of the rows repeat few values, as tables do.
        _ if row.is_multiple_of(2) => x % 7,
        _ => x ^ x >> 29,
    }
}

fn bytes(row: usize, column: usize, length: usize) -> Vec<u8> {
    mix(row, column).to_le_bytes().into_iter().cycle().take(length).collect()
}

/// Write `groups` row groups of `rows` rows; a third of the optional values is null.
pub(crate) fn write_all_types(path: &Path, groups: usize, rows: usize) {
    let root = Arc::new(parse_message_type(&schema()).unwrap());
    let props = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![
            KeyValue::new("made by".into(), "a test".to_string()),
            KeyValue { key: "no value".into(), value: None },
        ]))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, root, props.into()).unwrap();
    for group in 0..groups {
        let mut out = writer.next_row_group().unwrap();
        let mut column = 0;
        while let Some(mut to) = out.next_column().unwrap() {
            let all = group * rows..(group + 1) * rows;
            let optional = column % 2 == 1;
            let valid = |row: &usize| !optional || !(row / 5 + column).is_multiple_of(3);
            let levels: Vec<i16> = all.clone().map(|row| i16::from(valid(&row))).collect();
            let levels = optional.then_some(&levels[..]);
            let rows: Vec<usize> = all.filter(valid).collect();
            let mixed = rows.iter().map(|&row| mix(row, column));
            macro_rules! put {
                ($writer:expr, $values:expr) => {
                    $writer.write_batch(&$values.collect::<Vec<_>>(), levels, None).map(|_| ())
                };
            }
            match to.untyped() {
                ColumnWriter::BoolColumnWriter(w) => put!(w, mixed.map(|x| x % 3 == 0)),
                ColumnWriter::Int32ColumnWriter(w) => put!(w, mixed.map(|x| x as i32)),
                ColumnWriter::Int64ColumnWriter(w) => put!(w, mixed.map(|x| x as i64)),
                ColumnWriter::Int96ColumnWriter(w) => put!(
                    w,
                    mixed.map(|x| Int96::from(vec![x as u32, (x >> 32) as u32, (x >> 16) as u32]))
                ),
                ColumnWriter::FloatColumnWriter(w) => {
                    put!(w, mixed.map(|x| f32::from_bits(x as u32)))
                }
                ColumnWriter::DoubleColumnWriter(w) => put!(w, mixed.map(f64::from_bits)),
                ColumnWriter::ByteArrayColumnWriter(w) => put!(
                    w,
                    rows.iter().map(|&row| match column % 4 {
                        1 => ByteArray::from(bytes(row, column, row % 19)),
                        _ => ByteArray::from(format!("v{}", mix(row, column) % 97).into_bytes()),
                    })
                ),
                ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
                    let length = w.get_descriptor().type_length() as usize;
                    put!(
                        w,
                        rows.iter().map(|&row| FixedLenByteArray::from(bytes(row, column, length)))
                    )
                }
            }
            .unwrap();
            to.close().unwrap();
            column += 1;
        }
        out.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn every_type_comes_back() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 3, 400);
    bench.ok(&["compress", "all.parquet"]);
    bench.ok(&["verify", "all.pco.zip"]);
    bench.ok(&["decompress", "all.pco.zip", "-o", "back.parquet"]);
    assert_same(&bench.path("all.parquet"), &bench.path("back.parquet"));
}

#[test]
fn every_type_is_rewritten_as_parquet() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 2, 300);
    for encoding in ["auto", "delta", "plain"] {
        for compression in ["none", "snappy", "zstd"] {
            let options = ["--encoding", encoding, "--compression", compression, "-f"];
            let args = ["compress", "all.parquet", "-o", "out.parquet"];
            bench.ok(&[&args[..], &options].concat());
            assert_same(&bench.path("all.parquet"), &bench.path("out.parquet"));
        }
    }
}

#[test]
fn every_type_becomes_text() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 1, 100);
    bench.ok(&["compress", "all.parquet", "-o", "all.csv"]);
    bench.ok(&["compress", "all.parquet"]);
    let direct = bench.read("all.csv");
    let output = bench.ok(&["decompress", "all.pco.zip", "-o", "-"]);
    assert_eq!(direct, output.stdout);
    let mut reader = csv::ReaderBuilder::new().from_reader(&direct[..]);
    assert_eq!(reader.byte_records().map(Result::unwrap).count(), 100);
}

#[test]
fn the_output_does_not_depend_on_the_threads() {
    let bench = Bench::new();
    write_all_types(&bench.path("all.parquet"), 2, 5000);
    for threads in ["1", "2", "5"] {
        let (zip, parquet) = (format!("t{threads}.pco.zip"), format!("t{threads}.parquet"));
        let chunks = ["--chunk-n", "700", "-l", "1"];
        let args = ["compress", "all.parquet", "-T", threads, "-o", &zip];
        bench.ok(&[&args[..], &chunks].concat());
        bench.ok(&["decompress", &zip, "-T", threads, "-o", &parquet]);
        assert_eq!(bench.read(&zip), bench.read("t1.pco.zip"));
        assert_eq!(bench.read(&parquet), bench.read("t1.parquet"));
    }
}

#[test]
fn the_shapes_of_nothing() {
    let bench = Bench::new();
    for (groups, rows) in [(0, 0), (1, 1), (3, 1), (1, 2)] {
        write_all_types(&bench.path("small.parquet"), groups, rows);
        bench.ok(&["compress", "small.parquet", "-f"]);
        bench.ok(&["verify", "small.pco.zip"]);
        bench.ok(&["decompress", "small.pco.zip", "-f", "-o", "back.parquet"]);
        assert_same(&bench.path("small.parquet"), &bench.path("back.parquet"));
    }
    let root = Arc::new(parse_message_type("message schema { }").unwrap());
    let file = File::create(bench.path("none.parquet")).unwrap();
    SerializedFileWriter::new(file, root, Default::default()).unwrap().close().unwrap();
    bench.ok(&["compress", "none.parquet"]);
    bench.ok(&["decompress", "none.pco.zip", "-o", "back0.parquet"]);
    assert_eq!(open(&bench.path("back0.parquet")).metadata().file_metadata().num_rows(), 0);
}
