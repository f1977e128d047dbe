//! File formats by name and by extension.

use clap::ValueEnum;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A file format that the tool knows by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// NumPy array.
    Npy,
    /// Bare little-endian numbers.
    Raw,
    /// Comma-separated values with a header line.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One column, standalone Pco.
    Pco,
    /// Several columns or an n-dimensional array: a ZIP of Pco members.
    #[value(name = "pco.zip")]
    PcoZip,
    /// Safetensors checkpoint.
    Safetensors,
    /// GGUF checkpoint.
    Gguf,
    /// Bare Parquet DELTA_BINARY_PACKED stream.
    Dbp,
    /// Compressed checkpoint.
    Wcodec,
}

impl Format {
    /// The name as it stands after `--from` and `--to`, and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Raw => "raw",
            Format::Csv => "csv",
            Format::Parquet => "parquet",
            Format::Pco => "pco",
            Format::PcoZip => "pco.zip",
            Format::Safetensors => "safetensors",
            Format::Gguf => "gguf",
            Format::Dbp => "dbp",
            Format::Wcodec => "wcodec",
        }
    }

    /// By the end of the file's name, in any case; `None` where that says nothing.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        const ENDS: [(&str, Format); 13] = [
            (".npy", Format::Npy),
            (".raw", Format::Raw),
            (".bin", Format::Raw),
            (".csv", Format::Csv),
            (".parquet", Format::Parquet),
            (".pq", Format::Parquet),
            (".pco", Format::Pco),
            (".pco.zip", Format::PcoZip),
            (".safetensors", Format::Safetensors),
            (".safetensors.index.json", Format::Safetensors),
            (".gguf", Format::Gguf),
            (".dbp", Format::Dbp),
            (".wcodec", Format::Wcodec),
        ];
        ENDS.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| format)
    }

    /// Whether it is, by its name, the index of a checkpoint in several files.
    pub fn is_index(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        name.ends_with(".safetensors.index.json")
    }

    /// The name of `path` without the extension of its format, as text.
    pub fn stem(path: &Path) -> String {
        Self::stem_as_is(path).to_string_lossy().into_owned()
    }

    /// The same, byte for byte.
    fn stem_as_is(path: &Path) -> &OsStr {
        let name = path.file_name().unwrap_or_default();
        let lower = name.to_string_lossy().to_ascii_lowercase();
        let double = [".pco.zip", ".safetensors.index.json"].iter().any(|end| lower.ends_with(end));
        let without = |name| Path::new(name).file_stem().unwrap_or(name);
        let stem = if double { without(name) } else { name };
        match lower.ends_with(".safetensors.index.json") {
            true => without(without(stem)),
            false => without(stem),
        }
    }

    /// `path` with this extension in place of that of its format; every other byte stays.
    pub fn beside(path: &Path, extension: &str) -> PathBuf {
        let mut name = Self::stem_as_is(path).to_os_string();
        name.push(".");
        name.push(extension);
        path.with_file_name(name)
    }

    /// Whether the format holds a table or an n-dimensional array rather than one bare column.
    pub fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Parquet | Format::PcoZip)
    }

    /// Whether its bytes are text that may go to a terminal.
    pub fn is_text(self) -> bool {
        self == Format::Csv
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_extension() {
        let of = |name: &str| Format::of_path(Path::new(name));
        assert_eq!(of("a/b.NPY"), Some(Format::Npy));
        assert_eq!(of("x.pco.zip"), Some(Format::PcoZip));
        assert_eq!(of("x.pco"), Some(Format::Pco));
        assert_eq!(of("x.zip"), None);
        assert_eq!(of("model.safetensors.index.json"), Some(Format::Safetensors));
        assert_eq!(of("-"), None);
    }

    #[test]
    fn stems() {
        assert_eq!(Format::stem(Path::new("d/flights.pco.zip")), "flights");
        assert_eq!(Format::stem(Path::new("a.b.npy")), "a.b");
        assert_eq!(Format::stem(Path::new("m.safetensors.index.json")), "m");
        assert_eq!(Format::stem(Path::new("noext")), "noext");
        assert_eq!(Format::stem(Path::new(".hidden")), ".hidden");
    }
}
