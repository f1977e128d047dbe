//! Running the tool, and looking into Parquet files with the `parquet` crate alone.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder of a test's own, and the tool run in it.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_by(&mut Command::new(env!("CARGO_BIN_EXE_latens")), args)
    }

    /// Run it by another command that is given its arguments.
    pub(crate) fn run_by(&self, command: &mut Command, args: &[&str]) -> Output {
        let output = command.args(args).current_dir(self.folder.path()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(!words.contains("panicked"), "{args:?}: {words}");
        output
    }

    /// Run it; it must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> Output {
        let output = self.run(args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {words}");
        output
    }

    /// Run it; it must fail with that code. Returns what it says.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
        assert!((1..=3).contains(&words.lines().count()), "{args:?}: {words}");
        words
    }
}

/// A Parquet column: name, and for each row its bytes or null.
pub(crate) type Dump = (String, Vec<Option<Vec<u8>>>);

/// All columns of a flat Parquet file, through the `parquet` crate.
pub(crate) fn dump(path: &Path) -> Vec<Dump> {
    let file = open(path);
    let descr = file.metadata().file_metadata().schema_descr_ptr();
    let mut columns: Vec<Dump> = Vec::new();
    for (index, column) in descr.columns().iter().enumerate() {
        let mut rows = Vec::new();
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).unwrap();
            let n = group.metadata().num_rows() as usize;
            rows.extend(match group.get_column_reader(index).unwrap() {
                ColumnReader::BoolColumnReader(r) => values(r, n),
                ColumnReader::Int32ColumnReader(r) => values(r, n),
                ColumnReader::Int64ColumnReader(r) => values(r, n),
                ColumnReader::Int96ColumnReader(r) => values(r, n),
                ColumnReader::FloatColumnReader(r) => values(r, n),
                ColumnReader::DoubleColumnReader(r) => values(r, n),
                ColumnReader::ByteArrayColumnReader(r) => values(r, n),
                ColumnReader::FixedLenByteArrayColumnReader(r) => values(r, n),
            });
        }
        columns.push((column.name().to_string(), rows));
    }
    columns
}

fn values<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Vec<Option<Vec<u8>>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (n, _, _) = reader.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
    assert_eq!(n, rows);
    let mut values = values.iter().map(|value| value.as_bytes().to_vec());
    if levels.is_empty() {
        return values.map(Some).collect();
    }
    levels.iter().map(|&level| (level > 0).then(|| values.next().unwrap())).collect()
}

pub(crate) fn open(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

/// The same schema, key-value metadata and values.
pub(crate) fn assert_same(a: &Path, b: &Path) {
    let (x, y) = (open(a), open(b));
    let (x, y) = (x.metadata().file_metadata(), y.metadata().file_metadata());
    assert_eq!(x.schema().get_fields(), y.schema().get_fields());
    assert_eq!(x.key_value_metadata(), y.key_value_metadata());
    assert_eq!(x.num_rows(), y.num_rows());
    for (x, y) in dump(a).into_iter().zip(dump(b)) {
        assert_eq!(x.0, y.0);
        let differ = x.1.iter().zip(&y.1).position(|(x, y)| x != y);
        assert_eq!(differ, None, "column {}", x.0);
        assert_eq!(x.1.len(), y.1.len());
    }
}
